"""`vault-memex review`: what waits, one after the other in the terminal, or by single commands for scripts."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json, print_table
from vault_memex.core.text import parse_number
from vault_memex.errors import InvalidArgument
from vault_memex.services.inbox_view import MOST_CHARS, MOST_SHOWN, InboxAnswer, find_waiting
from vault_memex.services.review import Decided, Verdict
from vault_memex.vault import Vault


@dataclass(frozen=True, slots=True)
class Decisions:
    """What was done, and which files cannot be acted on as they are."""

    decided: tuple[Decided, ...]
    unreadable: tuple[str, ...] = ()


def run(options: argparse.Namespace) -> int:
    """Review, list, or decide; status 1 when something could not be done."""
    if (options.action is None) != (options.ref is None):
        raise InvalidArgument("ref", "Name what to decide on: vault-memex review approve N, or REF of a note.")
    if options.action is None and (options.comment or options.precedent):
        raise InvalidArgument("comment", "--comment and --precedent go with approve or reject.")
    with opened(options) as vault:
        vault.refresh()
        if options.action is not None:
            return _tell([_decide(vault, options)], as_json=options.json)
        if options.apply:
            done = vault.review.apply_files()
            return _tell(done, vault.review.inbox.find().unreadable, as_json=options.json)
        vault.review.apply_files()  # what was decided in the files is not asked again
        if not options.json and sys.stdin.isatty() and sys.stdout.isatty():
            from vault_memex.cli.review_talk import talk

            return talk(vault, input)
        found = find_waiting(vault.review, vault.files, vault.sight, MOST_SHOWN, MOST_CHARS)
    if options.json:
        print_json(found)
    else:
        _print(found)
    return 0


def _decide(vault: Vault, options: argparse.Namespace) -> Decided:
    approve = options.action == "approve"
    number = parse_number(options.ref)
    if number is not None:
        verdict = Verdict(options.comment, options.precedent)
        return vault.review.approve(number, verdict) if approve else vault.review.reject(number, verdict)
    if options.precedent:
        raise InvalidArgument(
            "precedent", "--precedent goes with a proposal; a note that waits has a comment only."
        )
    return vault.review.decide_note(options.ref, approve=approve, comment=options.comment)


def _tell(done: Sequence[Decided], unreadable: Sequence[str] = (), *, as_json: bool) -> int:
    if as_json:
        print_json(Decisions(tuple(done), tuple(unreadable)))
    else:
        for one in done:
            print(render_decided(one))
        for file in unreadable:
            print(f"not acted on: {file}")
        if not done and not unreadable:
            print("Nothing was decided in the files.")
    return 1 if unreadable or any(one.problem for one in done) else 0


def render_decided(one: Decided) -> str:
    """Return what was done, and below it what was not."""
    name = f"proposal {one.number}" if one.number is not None else "note"
    lines = [f"{one.outcome.replace('_', ' ')}: {name}, {one.title} ({one.path})"]
    lines += [f"   not in the note any more: {what}" for what in one.not_applied]
    if one.discarded:
        lines.append(f"   went with the note: proposals {', '.join(map(str, one.discarded))}")
    lines += [f"   {line}" for line in (one.problem, one.commit_error) if line]
    return "\n".join(lines)


def _print(found: InboxAnswer) -> None:
    if not found.rows:
        print("Nothing waits.")
    else:
        rows = [
            (
                r.number if r.number is not None else f"#{r.note_id}" if r.note_id is not None else r.path,
                r.kind,
                f"{r.title} → {r.into}" if r.into else r.title,
                r.by,
                r.since[:10],
                r.reason or r.problem,
            )
            for r in found.rows
        ]
        print_table(("decide by", "what", "note", "by", "since", "reason"), rows)
    for note in found.notes:
        print(f"vault-memex: {note}", file=sys.stderr)
