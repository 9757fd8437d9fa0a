"""The review in the terminal: each thing that waits is shown, and a letter decides."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.text import Text

from vault_memex.cli.review import render_decided
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.text import LINE_END
from vault_memex.errors import MemexError
from vault_memex.memory.hunks import Hunk, plan_hunks
from vault_memex.memory.proposals import Proposal
from vault_memex.services.review import Decided, ProposalView, Verdict
from vault_memex.vault import Vault

_KEYS = "[a]pprove  [r]eject  [e]dit the text  [c]omment  [p]recedent  [s]kip  [u]ndo the last  [q]uit"
_RELINKED = 10  # notes named
_SHOWN = 2_000  # code points of a note that waits

Ask = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class _Item:
    """Something that waits: a proposal by its number, or a note by its path."""

    number: int | None = None
    path: str = ""


def talk(vault: Vault, ask: Ask, console: Console | None = None) -> int:
    """Go through what waits until it is decided or the person stops; return the command's status."""
    items = [_Item(one.number) for one in vault.review.find().proposals]
    items += [_Item(path=note.path) for note in vault.review.find_notes()]
    talking = _Talk(vault, ask, console or Console(highlight=False), items)
    talking.run()
    return 0


class _Talk:
    """One sitting: where it is, and what was decided in it."""

    def __init__(self, vault: Vault, ask: Ask, console: Console, items: Sequence[_Item]) -> None:
        self._vault = vault
        self._ask = ask
        self._console = console
        self._items = items
        self._at = 0
        self._verdict = Verdict()
        self._decided: list[tuple[int, Decided]] = []

    def run(self) -> None:
        """Show and ask until all is decided or skipped, or the person quits."""
        if not self._items:
            self._console.print("Nothing waits.")
        while self._at < len(self._items):
            try:
                seen = _show(
                    self._vault, self._items[self._at], self._console, f"{self._at + 1} of {len(self._items)}"
                )
            except MemexError as error:  # decided elsewhere, or the file cannot be read
                self._console.print(Text(error.message, "yellow"))
                self._go(1)
                continue
            self._verdict = replace(self._verdict, seen=seen)
            try:
                answer = self._ask(f"{_KEYS}\n> ").strip().lower()[:1]
                if answer == "q":
                    break
                self._act(answer)
            except EOFError:
                break
            except (MemexError, OSError, subprocess.SubprocessError) as error:
                self._console.print(Text(str(error), "red"))
        self._console.print(Text(f"{len(self._decided)} decided.", "dim"))

    def _go(self, steps: int) -> None:
        self._at += steps
        self._verdict = Verdict()

    def _act(self, answer: str) -> None:
        item, verdict = self._items[self._at], self._verdict
        if answer in ("a", "r"):
            done = _decide(self._vault, item, verdict, approve=answer == "a")
            self._console.print(Text(render_decided(done), "yellow" if done.not_applied else "green"))
            self._decided.append((self._at, done))
            self._go(1)
        elif answer == "s":
            self._go(1)
        elif answer == "e":
            _edit(self._vault, item)
        elif answer == "c":
            self._verdict = replace(verdict, comment=self._ask("comment: ").strip())
        elif answer == "p":
            self._verdict = replace(verdict, precedent=not verdict.precedent)
            said = "For this case only." if verdict.precedent else "The comment will hold for like cases."
            self._console.print(said)
        elif answer == "u" and self._decided:
            at, done = self._decided[-1]
            self._vault.review.undo(done)
            self._decided.pop()
            self._go(at - self._at)
        else:
            self._console.print("Nothing to undo." if answer == "u" else "Type one of the letters.")


def _decide(vault: Vault, item: _Item, verdict: Verdict, *, approve: bool) -> Decided:
    if item.number is None:
        return vault.review.decide_note(item.path, approve=approve, comment=verdict.comment)
    return vault.review.approve(item.number, verdict) if approve else vault.review.reject(item.number, verdict)


def _edit(vault: Vault, item: _Item) -> None:
    """Open the proposal's file, or the note, in the person's editor; what is saved is what is decided on."""
    path = vault.review.inbox.get(item.number)[1].path if item.number is not None else item.path
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if os.name == "nt" else "vi")
    subprocess.run([*shlex.split(editor), str(vault.root / path)], check=True)
    vault.refresh()


def _show(vault: Vault, item: _Item, console: Console, place: str) -> str:
    """Print what waits; return the revision of a proposal's file."""
    console.rule(place)
    if item.number is None:
        note = vault.snapshot().notes.get(item.path)
        console.print(_render_note(note, vault.files.read(item.path).text))
        return ""
    view = vault.review.view(item.number)
    for line in _render_view(view):
        console.print(line)
    return view.revision


def _render_note(note: NoteRecord | None, text: str) -> Text:
    by = note.properties.get("added_by", "somebody") if note is not None else "somebody"
    title = note.title if note is not None else ""
    cut = f"\n… {len(text) - _SHOWN} more characters" if len(text) > _SHOWN else ""
    return Text.assemble((f"New note: {title}\n", "bold"), (f"by {by}\n", "dim"), text[:_SHOWN], (cut, "dim"))


def _render_view(view: ProposalView) -> Iterator[Text]:
    one = view.proposal
    into = f" into {one.into.title} ({one.into.path})" if one.into else ""
    yield Text(f"Proposal {one.number}: {one.kind} of {one.title}{into}", "bold")
    yield Text(f"{one.path} · by {one.by} · {one.created[:10]}", "dim")
    yield from (Text(line) for line in (one.change_title, one.comment) if line)
    if one.amended:
        yield Text("You changed the proposed text.", "cyan")
    if one.kind in ("edit", "merge") and not view.problem:
        yield from _render_edit(one, view)
    if view.relinked:
        yield Text(f"links rewritten in {len(view.relinked)}: {', '.join(view.relinked[:_RELINKED])}", "dim")
    for line in (*view.not_applied, view.problem):
        if line:
            yield Text(f"does not fit any more: {line}", "yellow")


def _render_edit(one: Proposal, view: ProposalView) -> Iterator[Text]:
    change = plan_hunks(view.before, view.after)
    if change.whole is not None:
        yield Text(view.diff)
    yield from (render_hunk(hunk) for hunk in change.hunks)
    for field in one.fields:
        if not field.is_property:
            yield Text.assemble(f"{field.name}: ", (str(field.old), "red strike"), " ", (str(field.new), "green"))


def render_hunk(hunk: Hunk) -> Text:
    """Return the line or lines of a change, old words struck out in red and new ones in green."""
    before, after = LINE_END.split(hunk.before)[-1], LINE_END.split(hunk.after)[0]
    return Text.assemble("  ", before, (hunk.old, "red strike"), (hunk.new, "bold green"), after)
