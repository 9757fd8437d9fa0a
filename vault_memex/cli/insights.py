"""`vault-memex insights`: what the vault points out, and deciding on it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from vault_memex.cli.opening import opened
from vault_memex.cli.output import Line, print_block, print_json, waiting
from vault_memex.errors import InvalidArgument
from vault_memex.services.insights import (
    InferenceView,
    InsightsAnswer,
    InsightsRequest,
    NoteName,
    SignalView,
    SourceView,
    find_insights,
    view_inference,
    view_signal,
)
from vault_memex.vault import Vault


def run(options: argparse.Namespace) -> int:
    """List signals or inferences, or decide on one; status 1 when there is nothing to list."""
    action = next((name for name in ("dismiss", "reopen", "archive") if getattr(options, name)), None)
    action = "snooze" if options.snooze is not None else action
    with opened(options) as vault:
        if action is None and vault.signals.read()[1] is None:
            print("Reading the vault and looking for signals: the first time takes some seconds.", file=sys.stderr)
        vault.refresh()
        if action is not None:
            return _decide(vault, options, action)
        with waiting("Looking"):
            answer = find_insights(
                vault.signals,
                vault.inferences,
                InsightsRequest(
                    "inferences" if options.inferences else "signals",
                    options.type,
                    options.status,
                    options.number,
                    limit=options.limit,
                    offset=options.offset,
                ),
            )
    if options.json:
        print_json(answer)
    else:
        _print(answer)
    return 0 if answer.total else 1


def _decide(vault: Vault, options: argparse.Namespace, action: str) -> int:
    if options.number is None:
        what = "inference" if action == "archive" else "signal"
        raise InvalidArgument("number", f"Name the {what}: vault-memex insights NUMBER --{action}")
    if options.inferences != (action == "archive"):
        raise InvalidArgument(
            action, "--archive goes with --inferences; signals are dismissed, snoozed or reopened."
        )
    if action == "archive":
        print_block(list(_describe_inference(view_inference(vault.inferences.archive(options.number)))))
        return 0
    row = vault.signals.decide(options.number, action, until=options.snooze or "", whole_note=options.every_link)
    if row is not None:
        print_block(list(_describe_signal(view_signal(row))))
    else:
        print("Links of that note are looked for again.")
    return 0


def _print(answer: InsightsAnswer) -> None:
    for signal in answer.signals:
        print_block(list(_describe_signal(signal)))
    for inference in answer.inferences:
        print_block(list(_describe_inference(inference)))
    print_block([("dim", f"{answer.returned} of {answer.total} {answer.kind}.")])
    if answer.unavailable:
        print_block([("dim", f"Threads and overtaken plans are not looked for: {answer.unavailable}")])
    for note in answer.notes:
        print_block([("dim", note)])


def _describe_signal(signal: SignalView) -> Iterator[Line]:
    until = f" until {signal.until}" if signal.until else ""
    kind = signal.type.replace("_", " ") + (f" ({signal.detail})" if signal.detail else "")
    yield "bold", f"{signal.id}. {kind} · {signal.status}{until} · {signal.found}"
    yield "", signal.reason
    for note in signal.notes:
        yield "cyan", _name(note)
    if signal.notes_total > len(signal.notes):
        yield "dim", f"… {signal.notes_total} notes in all"


def _describe_inference(inference: InferenceView) -> Iterator[Line]:
    yield "bold", f"{inference.id}. {inference.title} · {inference.status} · {inference.created[:10]}"
    yield "", " ".join(inference.summary.split())
    yield "dim", inference.citation
    for source in inference.sources:
        yield "cyan", f"{source.state}: {_name(source)}"
        if source.state != "unchanged":
            yield "dim", f"then: {source.excerpt}"
        if source.current_excerpt:
            yield "", f"now: {source.current_excerpt}"


def _name(note: NoteName | SourceView) -> str:
    return note.path if note.note_id is None else f"#{note.note_id} {note.path}"
