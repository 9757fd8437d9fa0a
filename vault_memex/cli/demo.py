"""`vault-memex demo`: the whole product on a copy of the sample vault, through the real server over stdio."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

from vault_memex.errors import VaultError
from vault_memex.sample import find_sample_vault

MEANING_DEADLINE = 35.0
SEEN_DEADLINE = 10.0

console = Console(highlight=False)


def run(options: argparse.Namespace) -> int:
    """Copy the sample vault, serve it, use it as a client would, clean up."""
    folder = Path(tempfile.mkdtemp(prefix="vault-memex-demo-"))
    try:
        vault = folder / "vault"
        shutil.copytree(find_sample_vault(), vault)
        _start_git(vault)
        anyio.run(_show, vault, folder / "cache")
    finally:
        if options.keep:
            console.print(f"Kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def _git(vault: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Demo", "-c", "user.email=demo@localhost", "-c", "core.quotepath=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=vault, capture_output=True, text=True, check=False)
    return done.stdout


def _start_git(vault: Path) -> None:
    if shutil.which("git"):
        _git(vault, "init", "-q")
        _git(vault, "add", "-A")
        _git(vault, "commit", "-qm", "The vault before the assistant")


async def _show(vault: Path, cache: Path) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "vault_memex", "serve", "--vault", str(vault), "--cache-dir", str(cache), "--as", "demo"],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    started = time.perf_counter()
    async with Client(server) as client:
        await _call(client, "status", {})
        console.rule(f"[bold]Server up and answering after {time.perf_counter() - started:.1f} s")
        await _show_search(client)
        await _show_edit(client, vault)
        await _show_outside_edit(client, vault)
    console.rule("[bold]Server closed")


async def _call(client: Client, tool: str, arguments: dict[str, Any]) -> CallToolResult:
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    if result.is_error:
        raise VaultError(f"{tool} answered: {_text(result)}")
    return result


def _text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


QUESTIONS = (
    ("English", "how long to soak the white liner at the top temperature"),
    ("한국어", "물레와 흙을 처음 배운 곳"),
    ("Русский", "почему трескается глазурь"),
)


async def _show_search(client: Client) -> None:
    waited = await _wait_for_meaning(client)
    console.print(f"Meaning: {waited}\n")
    for language, question in QUESTIONS:
        started = time.perf_counter()
        result = await _call(client, "search", {"query": question, "limit": 3})
        took = (time.perf_counter() - started) * 1000
        console.print(
            Panel(Text(_text(result)), title=f"search · {language} · {question} · {took:.0f} ms", expand=False)
        )


async def _wait_for_meaning(client: Client) -> str:
    """Wait until the notes are embedded, within a deadline; return what to say about it."""
    started = time.perf_counter()
    with console.status("Embedding the notes (the first run also converts the model, some seconds)"):
        while time.perf_counter() - started < MEANING_DEADLINE:
            status = (await _call(client, "status", {})).structured_content
            meaning = status["meaning"]
            if meaning["state"] in {"off", "unavailable"}:
                return f"not available, words only: {meaning.get('reason', '')}"
            if meaning["state"] == "ready" and meaning["embedded"] == meaning["passages"] > 0:
                return f"{meaning['passages']} passages embedded in {time.perf_counter() - started:.1f} s"
            await anyio.sleep(0.2)
    return "still embedding; words only where it is not done"


async def _show_edit(client: Client, vault: Path) -> None:
    section = await _call(client, "get", {"ref": "Harbour Café tableware", "section": "Where we are"})
    console.print(Panel(Text(_text(section)), title="get · one section", expand=False))
    await _call(
        client,
        "edit",
        {
            "ref": "Harbour Café tableware",
            "patch": [
                {
                    "section": "Where we are",
                    "find": "Dinner plates: 74 of 120 fired, 20 bisqued, 26 to throw",
                    "replace": "Dinner plates: 94 of 120 fired, 26 bisqued, none to throw",
                }
            ],
            "properties": {"priority": 2},
            "change_title": "Plates: the last 26 are thrown",
        },
    )
    shown = await _last_commit(vault)
    console.print(Panel(Syntax(shown, "diff", word_wrap=True), title="edit · what git saw", expand=False))


async def _last_commit(vault: Path) -> str:
    """Return the newest commit that the edit made; commits follow a write within a moment."""
    with anyio.move_on_after(5):
        while True:
            shown = _git(vault, "show", "--patch", "--format=%an: %s%n%n%b", "HEAD", "--", "*.md")
            if "Memex-Op" in shown or not shown:
                return shown or "(git is not installed; the answer of edit holds the same diff)"
            await anyio.sleep(0.05)
    return _git(vault, "diff") or "(nothing was committed)"


async def _show_outside_edit(client: Client, vault: Path) -> None:
    text = "# Anagama in Denmark\n\nTomas wants to fire with wood once: three days, shifts, a lot of soup.\n"
    (vault / "Projects" / "Wood firing.md").write_text(text, encoding="utf-8")
    started = time.perf_counter()
    with anyio.fail_after(SEEN_DEADLINE):
        while True:
            result = await _call(client, "search", {"query": "anagama soup", "limit": 1})
            if "Wood firing" in _text(result):
                break
            await anyio.sleep(0.02)
    took = (time.perf_counter() - started) * 1000
    title = f"a file written by another program · found after {took:.0f} ms"
    console.print(Panel(Text(_text(result)), title=title, expand=False))
