"""The tool by which a curator writes down what it did, saw or missed, and answers the person's flags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from vault_memex.errors import InvalidArgument
from vault_memex.memory.runs import MOST_CLAIMED, MOST_EXAMINED, MOST_WORDS, RunKind
from vault_memex.server.lines import LONGEST_NAME, cut, join_lines
from vault_memex.server.tool import Answer, ToolSpec, WriteArguments
from vault_memex.services.flags import Resolved
from vault_memex.services.pairs import PairedNote
from vault_memex.services.runs import Finding, RunRequest, StillDefective
from vault_memex.vault import Vault

NAMES_A_NOTE = ("flag_resolution", "not_duplicates")


class ExaminedArgument(BaseModel):
    """A note that was looked at; a bare ref is one of which nothing more is said."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ref: str
    checked: str = Field("", description="What it was looked at for.")
    found: str = ""

    @model_validator(mode="before")
    @classmethod
    def _take_bare_ref(cls, value: object) -> object:
        if isinstance(value, str | int) and not isinstance(value, bool):
            return {"ref": str(value)}
        if isinstance(value, Mapping) and isinstance(value.get("ref"), int):
            return {**value, "ref": str(value["ref"])}
        return value


class RecordArguments(WriteArguments):
    """Arguments of `curation_record`."""

    also: ClassVar = {"text": "body", "note_id": "ref", "note": "ref", "explanation": "resolution"}

    kind: Literal["run_summary", "observation", "tooling_gap", "flag_resolution", "not_duplicates"] = Field(
        description="run_summary ends a run. observation: for later runs. tooling_gap: a tool you missed. "
        "flag_resolution: closes the person's flag on `ref`. not_duplicates: `ref` and `other` are two notes."
    )
    body: str = Field("", description=f"What to write down, or why; a run summary in at most {MOST_WORDS} words.")
    ref: str = Field("", description="The flagged note; or the note that an observation or gap is about.")
    other: str = Field(
        "", description="For not_duplicates: the other of the two; each stays until its text changes."
    )
    resolution: str = Field("", description="For flag_resolution: what was done, or why nothing is wrong.")
    examined: list[ExaminedArgument] = Field(
        [],
        description=f"For run_summary: each note looked at, also if it needed nothing; at most {MOST_EXAMINED}.",
    )
    started_at: str = Field(
        "", description="For run_summary: when the run began; numbers are compared from then on."
    )
    claimed: dict[str, int] | None = Field(
        None,
        description="For run_summary, how many: edited (changed at once), held (edits that wait), proposed (reports, "
        f"merges, deletions that wait), each 0-{MOST_CLAIMED}. Leave out what you did not count.",
    )


@dataclass(frozen=True, slots=True)
class RecordAnswer:
    """What was written down."""

    outcome: str  # recorded, closed, remembered
    event: int  # number in the journal
    file: str = ""
    started_at: str = ""  # from when on numbers were compared
    mismatches: tuple[str, ...] = ()
    still_defective: tuple[StillDefective, ...] = ()  # of the notes looked at
    closed: Resolved | None = None
    two_notes: tuple[PairedNote, ...] = ()  # that are no duplicates
    notes: tuple[str, ...] = ()


def _record(vault: Vault, a: RecordArguments) -> Answer:
    _check_parts(a)
    if a.kind == "flag_resolution":
        answer = _close_flag(vault, a)
    elif a.kind == "not_duplicates":
        event, notes = vault.upkeep.pairs.reject((a.ref, a.other), a.body)
        answer = RecordAnswer("remembered", event.id, two_notes=notes)
    else:
        answer = _write_down(vault, a.kind, a)
    return Answer(join_lines(list(render_record(answer))), answer)


def _check_parts(a: RecordArguments) -> None:
    """Refuse what is missing, and what goes with another kind."""
    if a.kind in NAMES_A_NOTE and not a.ref:
        raise InvalidArgument("ref", f"ref is missing: the note that {a.kind} is about.")
    if (a.kind == "not_duplicates") != bool(a.other):
        raise InvalidArgument("other", "other goes with kind: not_duplicates, which needs it: the second note.")
    if a.resolution and a.kind != "flag_resolution":
        raise InvalidArgument("resolution", "resolution goes with kind: flag_resolution.")
    for name in ("examined", "started_at", "claimed"):
        if a.kind in NAMES_A_NOTE and a.sent(name):
            raise InvalidArgument(name, f"{name} goes with kind: run_summary.")


def _close_flag(vault: Vault, a: RecordArguments) -> RecordAnswer:
    closed = vault.upkeep.flags.resolve(a.ref, a.resolution or a.body)
    return RecordAnswer("closed", closed.event, closed=closed)


def _write_down(vault: Vault, kind: RunKind, a: RecordArguments) -> RecordAnswer:
    findings = tuple(Finding(one.ref, one.checked, one.found) for one in a.examined)
    recorded = vault.upkeep.runs.record(RunRequest(kind, a.body, a.ref, findings, a.started_at, a.claimed))
    record = recorded.record
    return RecordAnswer(
        "recorded",
        recorded.event,
        recorded.file,
        record.started_at,
        record.mismatches,
        recorded.still_defective,
        notes=recorded.notes,
    )


def render_record(answer: RecordAnswer) -> Iterator[str]:
    """Yield what was written down, and what the journal says to it."""
    if answer.closed is not None:
        yield f"flag closed: #{answer.closed.note_id} {cut(answer.closed.title, LONGEST_NAME)} ({answer.closed.path})"
        yield f"journal: event {answer.event}"
        return
    if answer.two_notes:
        named = " and ".join(f"{cut(n.title, LONGEST_NAME)} ({n.path})" for n in answer.two_notes)
        yield f"remembered as two notes: {named}; they are offered again when the text of one changes"
        return
    yield f"recorded: {answer.file} (journal: event {answer.event})"
    if answer.started_at:
        said = "the journal agrees" if not answer.mismatches else "the journal says otherwise:"
        yield f"compared from {answer.started_at} on: {said}"
    yield from (f"   {one}" for one in answer.mismatches)
    if answer.still_defective:
        yield "still lacking something:"
        for note in answer.still_defective:
            yield f"   {cut(note.title, LONGEST_NAME)} ({note.path}): {', '.join(note.reasons)}"
    yield from answer.notes


CURATION_RECORD: ToolSpec[Any] = ToolSpec(
    name="curation_record",
    title="Write down a curation run",
    description=(
        "End every run with a run_summary that lists each note you looked at in `examined`, also those that needed "
        "nothing: they rest then. Say what you did in numbers (`claimed`); the journal is compared and what differs "
        "comes back and is kept. Write an observation for what a later run should know, a tooling_gap when a tool is "
        "missing. flag_resolution closes the person's flag on a note, with an explanation; disagreeing is fine. "
        "not_duplicates keeps two notes from being offered as a pair again."
    ),
    arguments=RecordArguments,
    run=_record,
    toolset="curation",
    output=RecordAnswer,
    curators_only=True,
)
