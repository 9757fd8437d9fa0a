"""A stand-in for the model behind Claude Code: it answers from a script, and keeps what it was asked.

Claude Code sends each turn to the Messages API. The stand-in speaks just enough of it on the loopback interface to
have tools called, so a test can read what a model would have seen: instructions, tools, results.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TURNS = "/v1/messages"
USAGE = {"input_tokens": 1, "output_tokens": 1}


@dataclass(frozen=True)
class Use:
    """A tool call that the script makes."""

    tool: str
    arguments: dict[str, Any]


@dataclass
class ScriptedModel:
    """The script, one list of calls a turn (after the last one it says that it is done), and the turns asked for."""

    script: Sequence[Sequence[Use]]
    turns: list[dict[str, Any]] = field(default_factory=list)  # bodies of requests that offered tools
    address: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the next message of the script. Side questions, which offer no tools, get a word."""
        uses: Sequence[Use] = ()
        with self._lock:
            if request.get("tools"):
                uses = self.script[len(self.turns)] if len(self.turns) < len(self.script) else ()
                self.turns.append(request)
            number = len(self.turns)
        content: list[dict[str, Any]] = [
            {"type": "tool_use", "id": f"toolu_{number}_{i}", "name": use.tool, "input": use.arguments}
            for i, use in enumerate(uses)
        ]
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": request["model"],
            "content": content or [{"type": "text", "text": "Done."}],
            "stop_reason": "tool_use" if uses else "end_turn",
            "stop_sequence": None,
            "usage": USAGE,
        }

    def results(self) -> list[tuple[str, bool]]:
        """Return text and error mark of every tool result, in the order of the calls."""
        found: dict[str, tuple[str, bool]] = {}
        for message in self.turns[-1]["messages"]:
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block["type"] == "tool_result":
                    content = block["content"]
                    text = content if isinstance(content, str) else "\n".join(b.get("text", "") for b in content)
                    found[block["tool_use_id"]] = (text, bool(block.get("is_error")))
        order = [f"toolu_{turn}_{i}" for turn, uses in enumerate(self.script, 1) for i in range(len(uses))]
        return [found[name] for name in order]


def render_events(message: dict[str, Any]) -> str:
    """Return the message as the stream of events that the Messages API sends."""
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "content": []}}]
    for index, block in enumerate(message["content"]):
        if block["type"] == "tool_use":
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            start = {**block, "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [{"type": "message_delta", "delta": end, "usage": USAGE}, {"type": "message_stop"}]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


@contextmanager
def serving(script: Sequence[Sequence[Use]]) -> Iterator[ScriptedModel]:
    """Serve the script on a free port of the loopback interface."""
    model = ScriptedModel(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Say nothing: the test's output is for its own words."""

        def do_HEAD(self) -> None:
            self.reply(200, "", "text/plain")

        def do_GET(self) -> None:
            self.reply(404, "{}", "application/json")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            path = self.path.partition("?")[0]
            if path == f"{TURNS}/count_tokens":
                self.reply(200, json.dumps({"input_tokens": len(body) // 4}), "application/json")
            elif path == TURNS:
                request = json.loads(body)
                message = model.answer(request)
                if request.get("stream"):
                    self.reply(200, render_events(message), "text/event-stream")
                else:
                    self.reply(200, json.dumps(message), "application/json")
            else:
                self.reply(404, "{}", "application/json")

        def reply(self, status: int, text: str, kind: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    model.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
