"""What a curator writes down about its own work, and how that compares with what the journal saw it do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from vault_memex.core.link_text import render_named_link
from vault_memex.core.note import PropertyValue
from vault_memex.core.property_edit import render_note
from vault_memex.core.text import render_line
from vault_memex.errors import InvalidArgument

RUNS_FOLDER = "_memex/runs"
RunKind = Literal["run_summary", "observation", "tooling_gap"]
RUN_KINDS: tuple[str, ...] = get_args(RunKind)
ClaimName = Literal["edited", "held", "proposed"]
CLAIMS: tuple[ClaimName, ...] = get_args(ClaimName)
MOST_WORDS = 60
MOST_EXAMINED = 60
MOST_CLAIMED = 1_000
MOST_FINDING = 500  # code points of what was looked for, and of what was found

_TITLES: Mapping[str, str] = {
    "run_summary": "Run summary",
    "observation": "Observation",
    "tooling_gap": "Missing tool",
}
_MEANINGS: Mapping[ClaimName, str] = {
    "edited": "changes made at once",
    "held": "edits that wait",
    "proposed": "reports, merges and deletions that wait",
}
_NOT_IN_NAMES = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class Examined:
    """A note that was looked at, also one that needed nothing."""

    path: str
    title: str
    note_id: int | None = None
    checked: str = ""  # for what
    found: str = ""
    worked_on: bool = False  # by the journal, the connection changed it or proposed something about it in the run
    revision: str = ""  # of the file as it was looked at
    body: str = ""  # of the text in it
    updated: str = ""  # when it had changed last


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One thing that a curator wrote down."""

    kind: RunKind
    by: str  # the connection
    at: str  # as the journal writes moments
    text: str
    started_at: str = ""  # of the run; empty: not said, and then no number is compared
    examined: tuple[Examined, ...] = ()
    claimed: Mapping[ClaimName, int] | None = None
    mismatches: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that the journal says a connection did."""

    kind: ClaimName
    subject: str  # the note, or the proposal; done twice it counts as one or as two
    may_count: bool = False  # a new note or one deleted at once: counted among the changes, or not


def check_text(kind: str, text: str) -> None:
    """Refuse a text that says nothing, and a run summary of more than 60 words."""
    words = len(text.split())
    if not words:
        raise InvalidArgument("body", "body is empty. Say in a sentence what was done or seen.")
    if kind == "run_summary" and words > MOST_WORDS:
        raise InvalidArgument(
            "body",
            f"The summary has {words} words; at most {MOST_WORDS}. What was found in each note belongs in `examined`.",
            words=words,
        )


def check_examined(examined: Sequence[Examined]) -> None:
    """Refuse more notes than a run can hold, a note twice, and findings that are essays."""
    if len(examined) > MOST_EXAMINED:
        raise InvalidArgument(
            "examined", f"examined has {len(examined)} notes; at most {MOST_EXAMINED} a summary."
        )
    seen: set[str] = set()
    for one in examined:
        if one.path in seen:
            raise InvalidArgument(
                "examined", f"examined names {render_line(one.path)} twice. Name each note once."
            )
        seen.add(one.path)
        for name, said in (("checked", one.checked), ("found", one.found)):
            if len(said) > MOST_FINDING:
                raise InvalidArgument(
                    "examined",
                    f"examined, {render_line(one.path)}: {name} has {len(said)} characters; at most {MOST_FINDING}.",
                )


def check_claimed(claimed: Mapping[str, int]) -> Mapping[ClaimName, int]:
    """Return the claimed numbers, each from 0 to 1000. Raises InvalidArgument."""
    for name, number in claimed.items():
        if name not in CLAIMS:
            raise InvalidArgument("claimed", f"claimed has no {name!r}. It takes: {', '.join(CLAIMS)}.")
        if not 0 <= number <= MOST_CLAIMED:
            raise InvalidArgument("claimed", f"claimed.{name} = {number}: write 0 to {MOST_CLAIMED}.")
    return {name: claimed[name] for name in CLAIMS if name in claimed}


def find_mismatches(claimed: Mapping[ClaimName, int], deeds: Iterable[Deed]) -> tuple[str, ...]:
    """Return a sentence for each number that the journal contradicts; what is not claimed is not compared.

    Several changes of one note may be counted as one or each, and new and deleted notes among the changes or not.
    """
    done = list(deeds)
    found = []
    for name, number in claimed.items():
        most = sum(deed.kind == name for deed in done)
        least = len({deed.subject for deed in done if deed.kind == name and not deed.may_count})
        if not least <= number <= most:
            counted = str(most) if most == least else f"{least} to {most}"
            found.append(f"{name}: claimed {number}, the journal has {counted} ({_MEANINGS[name]})")
    return tuple(found)


# -- in the journal


def render_details(record: RunRecord) -> dict[str, Any]:
    """Return what the journal keeps beside kind, actor and moment; without what is empty."""
    details: dict[str, Any] = {
        "text": record.text,
        "started_at": record.started_at,
        "examined": [
            {name: value for name, value in asdict(one).items() if value not in ("", None, False)}
            for one in record.examined
        ],
        "claimed": dict(record.claimed) if record.claimed is not None else None,
        "mismatches": list(record.mismatches),
    }
    return {name: value for name, value in details.items() if value not in ("", None, [])}


def parse_run(kind: str, by: str, at: str, details: Mapping[str, Any]) -> RunRecord | None:
    """Return what an event of the journal records; None when it records no run, or is damaged."""
    try:
        if kind not in RUN_KINDS:
            return None
        claimed = details.get("claimed")
        return RunRecord(
            kind=kind,  # type: ignore[arg-type]  # one of RUN_KINDS, as just checked
            by=by,
            at=at,
            text=str(details["text"]),
            started_at=str(details.get("started_at", "")),
            examined=tuple(_parse_examined(one) for one in details.get("examined", ())),
            claimed=check_claimed({name: int(n) for name, n in claimed.items()}) if claimed is not None else None,
            mismatches=tuple(map(str, details.get("mismatches", ()))),
        )
    except (KeyError, TypeError, ValueError, AttributeError, InvalidArgument):
        return None


def _parse_examined(raw: Mapping[str, Any]) -> Examined:
    number = raw.get("note_id")
    names = ("path", "title", "checked", "found", "revision", "body", "updated")
    path, title, checked, found, revision, body, updated = (str(raw.get(name, "")) for name in names)
    note_id = number if isinstance(number, int) else None
    return Examined(path, title, note_id, checked, found, raw.get("worked_on") is True, revision, body, updated)


# -- as a file


def find_run_path(record: RunRecord, *, copy: int = 1) -> str:
    """Return the path of a record's file, such as `_memex/runs/2026-11-30T0205Z-claude-code.md`; `copy` from 1."""
    name = _NOT_IN_NAMES.sub("-", record.by).strip("-.")[:64] or "connection"
    suffix = f"-{copy}" if copy > 1 else ""
    return f"{RUNS_FOLDER}/{record.at[:16].replace(':', '')}Z-{name}{suffix}.md"


def render_run(record: RunRecord) -> str:
    """Return the file that the person reads. Nothing is read from it: the journal has the same."""
    properties: dict[str, PropertyValue] = {"kind": record.kind, "by": record.by, "at": record.at}
    if record.started_at:
        properties["started_at"] = record.started_at
    if record.claimed is not None:
        properties["claimed"] = dict(record.claimed)
    lines = [f"# {_TITLES[record.kind]} by {render_line(record.by)}", "", record.text.strip()]
    if record.mismatches:
        lines += ["", "## Claimed, but not in the journal", ""]
        lines += [f"- {render_line(one)}" for one in record.mismatches]
    if record.examined:
        lines += ["", "## Looked at", "", *map(_render_examined, record.examined)]
    return render_note(properties, "\n".join([*lines, ""]))


def _render_examined(one: Examined) -> str:
    number = f"#{one.note_id} " if one.note_id is not None else ""
    said = ": ".join(render_line(part) for part in (one.checked, one.found) if part.strip())
    return f"- {number}{render_named_link(one.path, one.title)}{f' · {said}' if said else ''}"
