"""The tree of errors. Each has a code, a message that names the next step, and fields.

MemexError
├── InvalidArgument          INVALID_ARGUMENT        an argument is missing, unknown or of the wrong form
├── ParamNotAllowed          PARAM_NOT_ALLOWED       the profile in force has no such parameter
├── NotFound                 NOT_FOUND               no note, proposal or signal answers to that name
├── AmbiguousTitle           AMBIGUOUS_TITLE         a write named several notes
├── AnchorNotFound           ANCHOR_NOT_FOUND        the text to find does not occur
├── AnchorNotUnique          ANCHOR_NOT_UNIQUE       it occurs another number of times than asked
├── SectionNotFound          SECTION_NOT_FOUND       no such heading; lists those that exist
├── SectionNotUnique         SECTION_NOT_UNIQUE      several; lists their full paths
├── PatchNoop                PATCH_NOOP              nothing would change
├── PatchEmptiesNote         PATCH_EMPTIES_NOTE      nothing would be left
├── BodyAndPatch             BODY_AND_PATCH          both were sent
├── EmptyBody                EMPTY_BODY              a note needs a body
├── FrontmatterInvalid       FRONTMATTER_INVALID     the block does not parse, so properties cannot be edited
├── StaleRevision            STALE_REVISION          the file moved on; carries the new revision
├── RevisionRequired         REVISION_REQUIRED       whole-body replacement without a revision
├── ShrinkRefused            SHRINK_REFUSED          the note would lose more than half its text
├── AlreadyExists            ALREADY_EXISTS          a file of that name is there
├── DuplicateSuspected       DUPLICATE_SUSPECTED     a note much like it is there
├── PathOutsideVault         PATH_OUTSIDE_VAULT      the path leads out of the vault
├── ReservedFolder           RESERVED_FOLDER         hidden folders and _memex are not for notes
├── NotWritable              NOT_WRITABLE            read-only, locked, or not UTF-8
├── FileBusy                 FILE_BUSY               somebody is writing it just now
├── TooLarge                 TOO_LARGE               over a stated limit
├── VaultLocked              VAULT_LOCKED            another process holds the write lock too long
├── PastImmutable            PAST_IMMUTABLE          a record of the past does not change; carries an amendment
├── BlockedByPending         BLOCKED_BY_PENDING      another's waiting change touches the same sentence or field
├── DoesNotFit               DOES_NOT_FIT            nothing of a proposal fits the note any more
├── RuleUserOnly             RULE_USER_ONLY          only the person changes rules
├── ConfirmationRequired     CONFIRMATION_REQUIRED   the person has to agree first
├── UnknownNotes             UNKNOWN_NOTES           refs that name no note, where all must
├── RoleRequired             ROLE_REQUIRED           the connection's role may not do this
├── Forbidden                FORBIDDEN               outside the scope of the connection
├── ModelUnavailable         MODEL_UNAVAILABLE       no embedding model; search goes on by words
├── IndexUnusable            INDEX_UNUSABLE          the index cannot be written or opened; the notes are as they are
└── VaultError               VAULT_UNUSABLE          the vault folder is missing or unreadable
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class MemexError(Exception):
    """Something the caller can mend. `fields` are plain JSON values for the answer."""

    code: ClassVar[str] = "ERROR"

    def __init__(self, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.message = message
        self.fields: dict[str, Any] = fields


class InvalidArgument(MemexError):
    """An argument is missing, unknown or of the wrong form. `argument` names it."""

    code = "INVALID_ARGUMENT"

    def __init__(self, argument: str, message: str, **fields: Any) -> None:
        super().__init__(message, argument=argument, **fields)
        self.argument = argument


class ParamNotAllowed(MemexError):
    """The profile in force has no such parameter. `argument` names it."""

    code = "PARAM_NOT_ALLOWED"

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(message, argument=argument)
        self.argument = argument


class NotFound(MemexError):
    """Nothing answers to the name. `candidates` are the nearest that exist."""

    code = "NOT_FOUND"

    def __init__(self, message: str, candidates: Sequence[str] = (), **fields: Any) -> None:
        super().__init__(message, candidates=list(candidates), **fields)


class AmbiguousTitle(MemexError):
    """A write named several notes. `candidates` are their paths."""

    code = "AMBIGUOUS_TITLE"

    def __init__(self, ref: str, candidates: Sequence[str]) -> None:
        listed = ", ".join(candidates)
        super().__init__(
            f"{ref!r} names {len(candidates)} notes: {listed}. Use one of these paths.",
            candidates=list(candidates),
        )


class AnchorNotFound(MemexError):
    """The text to find does not occur where it was looked for."""

    code = "ANCHOR_NOT_FOUND"


class AnchorNotUnique(MemexError):
    """The text to find occurs another number of times than asked. `found` says how often."""

    code = "ANCHOR_NOT_UNIQUE"


class SectionNotFound(MemexError):
    """No such heading. `headings` lists the full paths that exist."""

    code = "SECTION_NOT_FOUND"


class SectionNotUnique(MemexError):
    """Several headings answer to the name. `headings` lists their full paths."""

    code = "SECTION_NOT_UNIQUE"


class PatchNoop(MemexError):
    """The edit would change nothing."""

    code = "PATCH_NOOP"


class PatchEmptiesNote(MemexError):
    """The edit would leave nothing of the note."""

    code = "PATCH_EMPTIES_NOTE"


class BodyAndPatch(MemexError):
    """A whole body and a patch were sent together."""

    code = "BODY_AND_PATCH"


class EmptyBody(MemexError):
    """A note needs a body with something in it."""

    code = "EMPTY_BODY"


class FrontmatterInvalid(MemexError):
    """The frontmatter block does not parse, or cannot be edited safely. `line` counts from 1 in the file."""

    code = "FRONTMATTER_INVALID"


class StaleRevision(MemexError):
    """The file is not what the caller believed. `revision` is what it is now."""

    code = "STALE_REVISION"


class RevisionRequired(MemexError):
    """Replacing a whole body needs the revision that was read."""

    code = "REVISION_REQUIRED"


class ShrinkRefused(MemexError):
    """The note would lose more than half its text without the caller saying so."""

    code = "SHRINK_REFUSED"


class AlreadyExists(MemexError):
    """A file of that name is there (compared without case and Unicode form). `path` names it."""

    code = "ALREADY_EXISTS"


class DuplicateSuspected(MemexError):
    """A note much like the new one is there. `candidates` names up to three."""

    code = "DUPLICATE_SUSPECTED"


class PathOutsideVault(MemexError):
    """The path leads out of the vault. The message never shows where to."""

    code = "PATH_OUTSIDE_VAULT"


class ReservedFolder(MemexError):
    """Hidden names and `_memex` are not for notes."""

    code = "RESERVED_FOLDER"


class NotWritable(MemexError):
    """The file cannot be written: read-only, locked by its property, or not UTF-8."""

    code = "NOT_WRITABLE"


class FileBusy(MemexError):
    """Somebody is writing the file just now; try again."""

    code = "FILE_BUSY"


class TooLarge(MemexError):
    """Over a stated limit."""

    code = "TOO_LARGE"


class VaultLocked(MemexError):
    """Another process has held the write lock longer than the deadline."""

    code = "VAULT_LOCKED"


class PastImmutable(MemexError):
    """A record of the past does not change. `suggestion` is a ready amendment."""

    code = "PAST_IMMUTABLE"


class BlockedByPending(MemexError):
    """Another connection's waiting change touches the same sentence or field. `proposal` and `by` name it."""

    code = "BLOCKED_BY_PENDING"


class FlagHasPendingRetire(MemexError):
    """A flag stays while a deletion or merge of its note waits. `proposals` names them."""

    code = "FLAG_HAS_PENDING_RETIRE"


class DoesNotFit(MemexError):
    """Nothing of a proposal can be applied to the note as it is now."""

    code = "DOES_NOT_FIT"


class RuleUserOnly(MemexError):
    """Only the person changes rules."""

    code = "RULE_USER_ONLY"


class ConfirmationRequired(MemexError):
    """The person has to agree first; the call carries no `confirmed: true`."""

    code = "CONFIRMATION_REQUIRED"


class UnknownNotes(MemexError):
    """Some refs name no note, and the act needs them all. `unknown` lists them."""

    code = "UNKNOWN_NOTES"


class RoleRequired(MemexError):
    """The connection's role may not do this. `role` is what it would take."""

    code = "ROLE_REQUIRED"


class Forbidden(MemexError):
    """The connection's role or scope does not allow it. What lies outside of a scope is never named."""

    code = "FORBIDDEN"


class ModelUnavailable(MemexError):
    """There is no embedding model to use. The message says why and what would give one."""

    code = "MODEL_UNAVAILABLE"


class IndexUnusable(MemexError):
    """The index cannot be opened or written (disk full, read-only, busy for long). The notes are as they are."""

    code = "INDEX_UNUSABLE"


class VaultError(MemexError):
    """The vault folder is missing, unreadable or not a folder."""

    code = "VAULT_UNUSABLE"


def render_error(error: MemexError) -> Mapping[str, Any]:
    """Return the error as the JSON object that surfaces show: code, message, fields."""
    return {"code": error.code, "message": error.message, **error.fields}
