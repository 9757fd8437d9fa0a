"""How a note was looked after and by whom it changed: what the journal comes to, one step after the other.

A pass is a look by a curator, at a note named in a run summary or worked on. What a curator changes wakes nobody.
"""

from __future__ import annotations

from dataclasses import dataclass

from vault_memex.core.frontmatter import without_frontmatter
from vault_memex.memory.inferences import body_hash

MARK_DIGITS = 16
OUTSIDE = "owner"  # who changes files beside this program


@dataclass(frozen=True, slots=True)
class Change:
    """How a file's content went from one state to another. `None`: there was none, or is none any more."""

    before: str | None
    after: str | None
    body_before: str = ""  # of the text without properties; empty: not known
    body_after: str = ""
    updated: str = ""  # when the file had changed last before this, as far as was known
    mechanical: bool = False  # links followed a rename, a file moved: nobody said anything new

    @property
    def keeps_text(self) -> bool:
        """Whether the text is known to be the same afterwards."""
        return bool(self.body_after) and self.body_before == self.body_after


@dataclass(frozen=True, slots=True)
class Step:
    """Something that happened to one note."""

    at: str  # as the journal writes moments
    actor: str
    what: str = ""
    curator: bool = False
    looked: bool = False  # a pass
    worked: bool = False  # in which the note needed work
    change: Change | None = None
    seen: tuple[str, str, str] = ("", "", "")  # what a look found: revisions of file and text, and when it changed


@dataclass(frozen=True, slots=True)
class NoteLog:
    """What is known of one note from the journal. Moments are empty for what never happened."""

    looked_at: str = ""
    looked_by: str = ""
    looked_what: str = ""
    clean: int = 0  # passes in a row in which it needed nothing
    revision: str = ""  # of the file as last known
    body: str = ""  # of its text
    known_at: str = ""  # since when they are known
    edited_at: str = ""  # last change by anybody but a curator
    text_at: str = ""  # of the text
    text_by: str = ""
    text_what: str = ""


NEVER = NoteLog()
"""The log of a note that the journal says nothing of."""


@dataclass(frozen=True, slots=True)
class TextChange:
    """The last change of a note's text by anybody but a curator."""

    at: str
    by: str
    what: str = ""


def mark_text(text: str) -> str:
    """Return hex digits that name what a note's file says beside its properties, whatever its line endings."""
    return body_hash(without_frontmatter(text))[:MARK_DIGITS]


def fold(log: NoteLog, step: Step) -> NoteLog:
    """Return the log after one more step."""
    change, (seen, body, updated) = step.change, step.seen
    before, body_before = seen, body
    if change is not None:
        before, body_before, updated = change.before or "", change.body_before, change.updated
    looked = (log.looked_at, log.looked_by, log.looked_what, log.clean)
    known = (log.revision, log.body, log.known_at)
    edited, text = log.edited_at, (log.text_at, log.text_by, log.text_what)
    if before and before != log.revision:
        # Somebody changed the file beside this program. When that is not known, it was as late as may be.
        at = max(log.known_at, min(clip(updated), step.at)) if updated or not log.revision else step.at
        edited = at
        text = text if body_before and body_before == log.body else (at, OUTSIDE, "")
    if change is not None:
        known = (change.after or "", change.body_after, step.at)
        if not (step.curator or change.mechanical):
            edited = step.at
            text = text if change.keeps_text else (step.at, step.actor, step.what)
    elif seen:
        known = (seen, body, step.at)
    if step.looked:
        looked = (step.at, step.actor, step.what, 0 if step.worked else log.clean + 1)
    return NoteLog(*looked, *known, edited, *text)


def is_known(log: NoteLog, revision: str) -> bool:
    """Return whether the file is as it was last known to be, or nothing is known of it."""
    return not log.revision or log.revision == revision


def was_edited_since_look(log: NoteLog, revision: str) -> bool:
    """Return whether anybody but a curator changed the note since a curator looked at it."""
    return log.edited_at > log.looked_at or not is_known(log, revision)


def find_text_change(log: NoteLog, revision: str, body: str, updated: str) -> TextChange | None:
    """Return the last change of the note's text by anybody but a curator; None when there was none.

    `revision` and `body` are what the note is now (`body` empty: not looked at), `updated` is when its file last
    changed.
    """
    if not log.revision:
        return TextChange(updated, OUTSIDE) if updated else None
    if not is_known(log, revision) and not (body and body == log.body):
        return TextChange(max(clip(updated), log.known_at), OUTSIDE)
    return TextChange(log.text_at, log.text_by, log.text_what) if log.text_at else None


def clip(moment: str) -> str:
    """Return the moment so that moments with and without fractions of a second, and dates, compare as text."""
    return moment.removesuffix("Z")
