"""Inferences: hypotheses that the person confirmed, with the evidence as it stood.

They are files under `_memex/inferences/`, never searched and never recalled. Each source is held by a hash of its
text: when it changes or goes, the inference is stale; when it is as it was, active again.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Literal

from vault_memex.core.snapshot import NoteRecord
from vault_memex.errors import ConfirmationRequired, InvalidArgument, NotFound

InferenceStatus = Literal["active", "stale", "archived"]
EvidenceRole = Literal["source", "supports"]
EvidenceState = Literal["unchanged", "changed", "deleted"]

INFERENCES_FOLDER = "_memex/inferences"
INFERENCE_STATUSES: tuple[InferenceStatus, ...] = ("active", "stale", "archived")
EVIDENCE_ROLES: tuple[EvidenceRole, ...] = ("source", "supports")
EXCERPT_LENGTH = 280  # characters
TITLE_LENGTH = 500
SUMMARY_LENGTH = 5000
_SLUG_LENGTH = 48
_NOT_SLUG = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Evidence:
    """One source as it was when the inference was made."""

    path: str
    note_id: int | None
    title: str
    role: EvidenceRole
    hash: str  # of the body; see body_hash
    excerpt: str


@dataclass(frozen=True, slots=True)
class Inference:
    """A hypothesis and what it rests on."""

    number: int
    title: str
    summary: str
    status: InferenceStatus
    evidence: tuple[Evidence, ...]
    created: str  # ISO 8601, UTC
    updated: str
    confidence: float | None = None  # 0 to 1
    from_signal: int | None = None
    model_id: str = ""
    prompt_version: str = ""
    minted_by: str = ""  # connection
    superseded_by: int | None = None

    @property
    def path(self) -> str:
        """Where its file is made; a person may rename it, the number in front counts."""
        return f"{INFERENCES_FOLDER}/{self.number:04d}-{render_slug(self.title)}.md"


@dataclass(frozen=True, slots=True)
class EvidenceCheck:
    """One source now."""

    evidence: Evidence
    state: EvidenceState
    current_excerpt: str = ""  # of a changed one


@dataclass(frozen=True, slots=True)
class Draft:
    """What a caller asks to be minted."""

    title: str
    summary: str
    confirmed: bool
    confidence: float | None = None
    model_id: str = ""
    prompt_version: str = ""


FindBody = Callable[[Evidence], str | None]
"""Returns the body, after the frontmatter, of the note that the evidence names now; None when it is gone."""


def body_hash(body: str) -> str:
    """Return SHA-256 of a note's text after the frontmatter, whatever its line endings.

    A tag or any other property may change without making a hypothesis stale.
    """
    plain = body.replace("\r\n", "\n").replace("\r", "\n")
    return sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def find_excerpt(body: str) -> str:
    """Return the beginning of a body on one line, at most 280 characters, cut at a word where there is one."""
    text = " ".join(line.lstrip("#> ").strip() for line in body.splitlines())
    text = " ".join(text.split())
    if len(text) <= EXCERPT_LENGTH:
        return text
    cut = text[: EXCERPT_LENGTH - 1]
    space = cut.rfind(" ", EXCERPT_LENGTH // 2)
    return (cut[:space] if space > 0 else cut).rstrip() + "…"


def render_slug(title: str) -> str:
    """Return the title in letters and digits of any script, joined by hyphens."""
    slug = _NOT_SLUG.sub("-", unicodedata.normalize("NFC", title).casefold()).strip("-")
    return slug[:_SLUG_LENGTH].rstrip("-") or "untitled"


def build_evidence(note: NoteRecord, body: str, role: str = "source") -> Evidence:
    """Return a note as evidence. Raises InvalidArgument for a role that is none, and for a note that waits."""
    known = next((r for r in EVIDENCE_ROLES if r == role), None)
    if known is None:
        raise InvalidArgument("role", f"role = {role!r}: write one of {', '.join(EVIDENCE_ROLES)}.")
    if note.pending:
        raise InvalidArgument(
            "evidence",
            f"{note.title!r} waits for approval and cannot be evidence. Leave it out, or ask the person.",
        )
    return Evidence(note.path, note.note_id, note.title, known, body_hash(body), find_excerpt(body))


def build_inference(
    draft: Draft,
    number: int,
    evidence: Iterable[Evidence],
    now: str,
    *,
    from_signal: int | None = None,
    minted_by: str = "",
) -> Inference:
    """Return a new inference. Raises ConfirmationRequired, or InvalidArgument for what is missing or out of range.

    A note named twice counts once. That all refs are known is for the caller to see to (UnknownNotes).
    """
    check_draft(draft)
    found: dict[str, Evidence] = {}
    for one in evidence:
        found.setdefault(one.path, one)
    if not found:
        raise InvalidArgument("evidence", "An inference needs evidence: name at least one note, or a signal.")
    return Inference(
        number,
        " ".join(draft.title.split()),
        draft.summary.strip(),
        "active",
        tuple(found.values()),
        now,
        now,
        draft.confidence,
        from_signal,
        draft.model_id,
        draft.prompt_version,
        minted_by,
    )


def check_draft(draft: Draft) -> None:
    """Refuse a draft that may not be minted. Raises ConfirmationRequired, then InvalidArgument."""
    if draft.confirmed is not True:
        raise ConfirmationRequired("Ask the person first, then send confirmed: true. Nothing was written.")
    if not draft.title.strip() or len(draft.title) > TITLE_LENGTH:
        raise InvalidArgument("title", f"title: 1 to {TITLE_LENGTH} characters.")
    if not draft.summary.strip() or len(draft.summary) > SUMMARY_LENGTH:
        raise InvalidArgument("summary", f"summary: 1 to {SUMMARY_LENGTH} characters.")
    if draft.confidence is not None and not 0 <= draft.confidence <= 1:
        raise InvalidArgument("confidence", f"confidence = {draft.confidence}: a number from 0 to 1.")


def check_evidence(inference: Inference, find_body: FindBody) -> tuple[EvidenceCheck, ...]:
    """Return each source with what became of it."""
    return tuple(_check(evidence, find_body(evidence)) for evidence in inference.evidence)


def _check(evidence: Evidence, body: str | None) -> EvidenceCheck:
    if body is None:
        return EvidenceCheck(evidence, "deleted")
    if body_hash(body) == evidence.hash:
        return EvidenceCheck(evidence, "unchanged")
    return EvidenceCheck(evidence, "changed", find_excerpt(body))


def find_status(inference: Inference, checks: Iterable[EvidenceCheck]) -> InferenceStatus:
    """Return the status after a check: any changed or missing source makes it stale; an archived one stays so."""
    if inference.status == "archived":
        return "archived"
    return "active" if all(check.state == "unchanged" for check in checks) else "stale"


def archive_inference(inference: Inference, now: str, superseded_by: int | None = None) -> Inference:
    """Return the inference put away, for good."""
    return replace(inference, status="archived", updated=now, superseded_by=superseded_by)


def find_superseded(inferences: Iterable[Inference], from_signal: int | None) -> tuple[Inference, ...]:
    """Return those that a new inference from the same signal replaces."""
    if from_signal is None:
        return ()
    return tuple(i for i in inferences if i.from_signal == from_signal and i.status != "archived")


def find_inferences(inferences: Iterable[Inference], status: str | None = None) -> tuple[Inference, ...]:
    """Return the inferences of a status (None: all), newest first. Raises InvalidArgument for another status."""
    if status is not None and status not in INFERENCE_STATUSES:
        raise InvalidArgument("status", f"status = {status!r}: write one of {', '.join(INFERENCE_STATUSES)}.")
    chosen = [i for i in inferences if status in (None, i.status)]
    return tuple(sorted(chosen, key=lambda i: (i.created, i.number), reverse=True))


def get_inference(inferences: Iterable[Inference], number: int) -> Inference:
    """Return an inference by its number; raises NotFound."""
    for inference in inferences:
        if inference.number == number:
            return inference
    raise NotFound(
        f"There is no inference {number}. List them with `insights`, kind: inferences.", inference=number
    )


def render_citation(inference: Inference, checks: Sequence[EvidenceCheck] = ()) -> str:
    """Return how to cite it: `[Inference #42, conf 0.78, from notes #1, #2]`; a stale one says so."""
    confidence = f", conf {inference.confidence:.2f}" if inference.confidence is not None else ""
    names = [f"#{e.note_id}" if e.note_id is not None else f"[[{e.title}]]" for e in inference.evidence]
    status = find_status(inference, checks) if checks else inference.status
    mark = "" if status == "active" else f", {status.upper()}"
    return f"[Inference #{inference.number}{confidence}{mark}, from notes {', '.join(names)}]"
