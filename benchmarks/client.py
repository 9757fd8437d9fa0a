"""A client that speaks JSON lines to a server process: nothing between the stop-watch and the server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import psutil

PROTOCOL = "2025-11-25"
# An installed package has its bytecode; without it, every start would compile ours and not the SDK's.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Memory(NamedTuple):
    """Resident memory in MB."""

    server: float
    children: float

    @property
    def together(self) -> float:
        return self.server + self.children


class RawClient:
    """One server process, started when made; a context manager that ends it."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**_ENVIRONMENT, **(environment or {})},
        )
        self._watched = psutil.Process(self.process.pid)
        self._number = 0

    def start(self) -> dict[str, Any]:
        """Shake hands; return what the server says of itself."""
        who = {"name": "benchmark", "version": "1"}
        told = self.ask("initialize", {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": who})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return told

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the result of a request; an error of the protocol is a RuntimeError."""
        assert self.process.stdout is not None
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while line := self.process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
        raise RuntimeError("the server closed its output")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the result of a tool; what the tool refuses is a RuntimeError."""
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result

    def find_paths(self, query: str, **arguments: Any) -> list[str]:
        """Return the paths that a search finds, best first."""
        found = self.call("search", query=query, **arguments)["structuredContent"]
        return [row["path"] for row in found.get("rows", ())]

    def seconds_since_start(self) -> float:
        """Return the seconds since the process was started."""
        return time.perf_counter() - self.started

    def memory(self) -> Memory:
        """Return what server and its child processes occupy now."""
        children = self._watched.children(recursive=True)
        return Memory(_resident(self._watched), sum(map(_resident, children)))

    def processor_seconds(self) -> float:
        """Return the processor time that the server and its children have used."""
        return sum(map(_used, [self._watched, *self._watched.children(recursive=True)]))

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def memex_command(command: str, vault: Path, cache: Path, *more: str) -> list[str]:
    """Return the command line of a vault-memex command."""
    return [sys.executable, "-m", "vault_memex", command, "--vault", str(vault), "--cache-dir", str(cache), *more]


def _resident(process: psutil.Process) -> float:
    try:
        return process.memory_info().rss / 2**20
    except psutil.NoSuchProcess:
        return 0.0


def _used(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0
    return times.user + times.system
