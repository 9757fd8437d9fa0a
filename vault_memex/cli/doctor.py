"""`vault-memex doctor`: checks vault, index, model, git and watcher, and makes one real MCP round trip."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from vault_memex.cli import calibration
from vault_memex.cli.finding import find_vault
from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json, print_table
from vault_memex.errors import MemexError
from vault_memex.services.status import describe_git
from vault_memex.vault import Vault

Verdict = Literal["ok", "note", "fault"]

MODEL_SECONDS = 120.0  # the first load may convert or download the model
ROUND_TRIP_SECONDS = 60.0
MOST_RULES = 5  # named
INOTIFY = Path("/proc/sys/fs/inotify/max_user_watches")


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at. A fault comes with what to do."""

    name: str
    verdict: Verdict
    found: str


@dataclass(frozen=True, slots=True)
class Report:
    """All checks."""

    healthy: bool
    checks: tuple[Check, ...]


def run(options: argparse.Namespace) -> int:
    """Print what was checked; status 1 when something is at fault."""
    if options.calibration:
        return calibration.run(options)
    looks = (
        _check_vault,
        _check_index,
        _check_links,
        _check_rules,
        _check_model,
        _check_git,
        _check_watching,
        _check_cache,
    )
    with opened(options) as vault:
        checks = [_guarded(look, vault) for look in looks]
        root = vault.root
    checks.append(_check_round_trip(find_vault(options.vault), options.cache_dir))
    report = Report(all(check.verdict != "fault" for check in checks), tuple(checks))
    if options.json:
        print_json(report)
    else:
        print_table(["", "what", "found"], [[c.verdict, c.name, c.found] for c in checks])
        print(f"{root.name}: {'all well' if report.healthy else 'something needs mending'}")
    return 0 if report.healthy else 1


def _guarded(look: Callable[[Vault], Check], vault: Vault) -> Check:
    """Return what the look found; what it raises is a finding too, and must not hide the other checks."""
    try:
        return look(vault)
    except MemexError as error:
        return Check(look.__name__.removeprefix("_check_"), "fault", error.message)
    except OSError as error:
        return Check(look.__name__.removeprefix("_check_"), "fault", str(error))


def _check_vault(vault: Vault) -> Check:
    vault.files.check_root()
    writable = os.access(vault.root, os.W_OK)
    found = f"{vault.root}, {'writable' if writable else 'READ-ONLY: notes can be read, not changed'}"
    return Check("vault", "ok" if writable else "note", found)


def _check_index(vault: Vault) -> Check:
    report = vault.refresh()
    changed = len(report.added) + len(report.changed) + len(report.removed) + len(report.moved)
    found = f"{report.notes} notes, {changed} brought up to date, {report.seconds * 1000:.0f} ms"
    if report.unreadable or report.skipped:
        bad = ", ".join([*report.unreadable, *report.skipped][:5])
        return Check("index", "note", f"{found}; cannot be read: {bad}")
    return Check("index", "ok", found)


def _check_links(vault: Vault) -> Check:
    unresolved = vault.catalogue.find_unresolved()
    broken = [note.path for note in vault.snapshot().notes.values() if note.notices]
    found = f"{len(unresolved)} link targets have no note"
    if broken:
        return Check("notes", "note", f"{found}; notices on {len(broken)} notes, first: {broken[0]}")
    return Check("notes", "ok", found)


def _check_rules(vault: Vault) -> Check:
    found = vault.rules.find()
    silent = [f"{rule.path}: {rule.why}" for rule in found.rules if rule.why]
    count = (
        f"{len(found.rules) - len(silent)} of {len(found.rules)} given to assistants, {len(found.text)} characters"
    )
    if silent or found.warnings:
        said = "; ".join([*silent[:MOST_RULES], *found.warnings])
        more = f"; {len(silent) - MOST_RULES} more" if len(silent) > MOST_RULES else ""
        return Check("rules", "note", f"{count}; {said}{more}. To approve one: vault-memex rules approve REF")
    return Check("rules", "ok", count)


def _check_model(vault: Vault) -> Check:
    if not vault.meaning.enabled:
        return Check("model", "note", "switched off (model = none): search by words only")
    started = time.perf_counter()
    vault.meaning.wake()
    state = vault.meaning.state()
    while state.state == "starting" and time.perf_counter() - started < MODEL_SECONDS:
        time.sleep(0.1)
        state = vault.meaning.state()
    done, total = vault.meaning.count_embedded(vault.catalogue)
    took = time.perf_counter() - started
    if state.state in {"unavailable", "starting", "idle"}:
        why = state.reason or f"not loaded after {took:.0f} s"
        return Check("model", "fault", f"{vault.meaning.model}: {why} Search works by words only.")
    return Check(
        "model", "ok", f"{vault.meaning.model} loaded in {took:.1f} s, {done} of {total} passages embedded"
    )


def _check_git(vault: Vault) -> Check:
    if shutil.which("git") is None:
        return Check("git", "note", "git is not installed: the journal keeps the history, without commits")
    return Check("git", "ok", describe_git(vault.status.git, vault.config))


def _check_watching(vault: Vault) -> Check:
    folders = sum(1 for _ in vault.root.rglob("*/"))
    if not INOTIFY.exists():
        return Check("watching", "ok", f"{folders} folders")
    limit = int(INOTIFY.read_text(encoding="ascii"))
    if folders * 2 > limit:
        what = f"sudo sysctl fs.inotify.max_user_watches={max(524_288, folders * 4)}"
        return Check(
            "watching", "note", f"{folders} folders, {limit} watches allowed; changes may show late. {what}"
        )
    return Check("watching", "ok", f"{folders} folders, {limit} watches allowed")


def _check_cache(vault: Vault) -> Check:
    size = sum(file.stat().st_size for file in vault.cache.rglob("*") if file.is_file())
    return Check("cache", "ok", f"{vault.cache}, {size / 1e6:.1f} MB; may be deleted at any time")


def _check_round_trip(root: Path, cache_dir: str | None) -> Check:
    started = time.perf_counter()
    try:
        said = anyio.run(_ask_status, root, cache_dir)
    except Exception as error:  # noqa: BLE001 - whatever stops a client is the finding
        return Check("server", "fault", f"a client cannot use the server: {type(error).__name__}: {error}")
    return Check(
        "server", "ok", f"answered over MCP in {time.perf_counter() - started:.1f} s: {said.splitlines()[0]}"
    )


async def _ask_status(root: Path, cache_dir: str | None) -> str:
    arguments = ["-m", "vault_memex", "serve", "--vault", str(root)]
    if cache_dir:
        arguments += ["--cache-dir", cache_dir]
    server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    with anyio.fail_after(ROUND_TRIP_SECONDS):
        async with Client(server) as client:
            result = await client.call_tool("status", {})
    assert isinstance(result, CallToolResult)
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))
