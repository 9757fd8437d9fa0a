"""Tags as the person puts them in order: taken out of use, merged into another, back in use. No tool does this."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from vault_memex.core.changes import Change, WriteFile
from vault_memex.core.snapshot import NoteRecord
from vault_memex.core.tag_edit import plan_tag
from vault_memex.core.text import name_key
from vault_memex.errors import InvalidArgument, MemexError, NotFound
from vault_memex.memory.policy import check_role
from vault_memex.memory.retired_tags import TAGS_PATH, RetiredTag, parse_retired, plan_restored, plan_retired
from vault_memex.memory.system_tags import SYSTEM_TAGS
from vault_memex.services.actor import find_actor
from vault_memex.services.edit_plan import MAX_CHANGE_TITLE, check_tags
from vault_memex.services.editing import Editing
from vault_memex.services.requests import PlannedWrite
from vault_memex.services.retired_tags import RetiredTags
from vault_memex.services.vocabulary import TagRow, count_tags
from vault_memex.store.files import FileText

_WHO = "Putting tags in order"
_NEAR = 5  # named


@dataclass(frozen=True, slots=True)
class TagsFound:
    """The tags in use, and those that are not any more."""

    tags: tuple[TagRow, ...]
    retired: tuple[RetiredTag, ...]


@dataclass(frozen=True, slots=True)
class Retagged:
    """What became of a tag."""

    tag: str
    into: str = ""
    changed: tuple[str, ...] = ()  # notes that were rewritten
    kept: Mapping[str, str] = field(default_factory=dict)  # notes that still have it, with the reason
    below: tuple[str, ...] = ()  # tags below it, which stay
    commit: str = ""


class Tags:
    """Retires, merges and restores tags, through the one door for writes."""

    def __init__(self, editing: Editing, retired: RetiredTags, clock: Callable[[], datetime]) -> None:
        self._config = editing.config
        self._files = editing.files
        self._editing = editing
        self._retired = retired
        self._clock = clock

    def find(self) -> TagsFound:
        """Return all tags by count, and the retired ones in the order of their file."""
        tags = count_tags(self._editing.snapshot().notes.values())
        return TagsFound(tags, tuple(self._retired.find().values()))

    def retire(self, name: str, reason: str = "") -> Retagged:
        """Take a tag out of use and out of all notes, as one change. In texts its word stays."""
        return self._rewrite(name, "", reason)

    def merge(self, name: str, into: str, reason: str = "") -> Retagged:
        """Put another tag in its place in all notes, as one change, and take it out of use."""
        (other,) = check_tags([into])
        if name_key(other) == name_key(_bare(name)):
            raise InvalidArgument("into", f"{other!r} is that tag. Name another.")
        if name_key(other) in self._retired.find():
            raise InvalidArgument(
                "into", f"{other!r} is retired. Restore it first: vault-memex tags restore {other}"
            )
        return self._rewrite(name, other, reason)

    def restore(self, name: str) -> Retagged:
        """Put a tag back into use. Notes are as they are: undoing the change that retired it puts it back there."""
        check_role(self._config.role, owner_only=_WHO)
        tag = self._retired.find().get(name_key(_bare(name)))
        if tag is None:
            known = [one.name for one in self._retired.find().values()]
            raise NotFound(
                f"The tag {_bare(name)!r} is not retired. Retired: {', '.join(known) or 'none'}.", known
            )

        def plan() -> PlannedWrite | None:
            file = self._retired.read()
            if file is None:
                return None
            edit = _build_edit(file, plan_restored(file.text, tag.name))
            return PlannedWrite(self._build_change("tag_restored", f"Restore tag {tag.name}", (edit,)))

        applied = self._editing.write(plan)
        return Retagged(tag.name, commit=applied.commit if applied else "")

    def _rewrite(self, name: str, into: str, reason: str) -> Retagged:
        check_role(self._config.role, owner_only=_WHO)
        (given,) = check_tags([name])
        if name_key(given) in SYSTEM_TAGS:
            raise InvalidArgument(
                "tag", f"{given!r} means something to the program; it stays. Take it off single notes."
            )
        done = Retagged(given, into)

        def plan() -> PlannedWrite:
            nonlocal done
            notes = self._find_notes(given)
            done = replace(done, tag=_find_spelling(notes, given), below=self._find_below(given))
            edits, kept = self._plan_notes(notes, given, into)
            done = replace(done, changed=tuple(edit.path for edit in edits), kept=kept)
            retired = RetiredTag(done.tag, into, self._clock().date().isoformat(), reason.strip())
            return self._plan_write(retired, edits)

        applied = self._editing.write(plan)
        return replace(done, commit=applied.commit if applied else "")

    def _find_notes(self, name: str) -> list[NoteRecord]:
        """Return the notes with the tag. Raises NotFound with tags like it when there is none."""
        notes = self._editing.snapshot().notes.values()
        found = [note for note in notes if any(name_key(tag) == name_key(name) for tag in note.tags)]
        if not found:
            near = [row.name for row in count_tags(notes) if name_key(name) in name_key(row.name)][:_NEAR]
            hint = f" There are: {', '.join(near)}." if near else " `vault-memex tags` lists them."
            raise NotFound(f"No note has the tag {name!r}.{hint}", near)
        return found

    def _find_below(self, name: str) -> tuple[str, ...]:
        start = f"{name_key(name)}/"
        rows = count_tags(self._editing.snapshot().notes.values())
        return tuple(row.name for row in rows if name_key(row.name).startswith(start))

    def _plan_notes(
        self, notes: list[NoteRecord], name: str, into: str
    ) -> tuple[tuple[WriteFile, ...], dict[str, str]]:
        """Return the writes of the notes, and by path why some are left as they are."""
        kept: dict[str, str] = {}

        def plan() -> Iterator[WriteFile]:
            for note in notes:
                try:
                    file = self._files.read(note.path)
                    text = plan_tag(file.text, name, into)
                except MemexError as error:
                    kept[note.path] = error.message
                    continue
                if file.not_writable:
                    kept[note.path] = file.not_writable
                elif text != file.text:
                    yield WriteFile(note.path, text.encode("utf-8"), file.revision)

        return tuple(plan()), kept

    def _plan_write(self, tag: RetiredTag, edits: tuple[WriteFile, ...]) -> PlannedWrite:
        file = self._retired.read()
        text = file.text if file is not None else ""
        if parse_retired(text).get(name_key(tag.name)) is not None:
            text = plan_restored(text, tag.name)  # said anew below
        book = _build_edit(file, plan_retired(text, tag))
        verb = f"Merge tag {tag.name} into {tag.into}" if tag.into else f"Retire tag {tag.name}"
        count = len(edits)
        change = self._build_change(
            "tag_merged" if tag.into else "tag_removed",
            f"{verb}: {count} note{'s' if count != 1 else ''}",
            (*edits, book),
            tag.reason,
        )
        return PlannedWrite(change, details={"tag": tag.name, **({"into": tag.into} if tag.into else {})})

    def _build_change(self, op: str, title: str, edits: tuple[WriteFile, ...], reason: str = "") -> Change:
        actor = find_actor(self._config)
        return Change(op, TAGS_PATH, title[:MAX_CHANGE_TITLE], edits, actor, reason=reason)


def _bare(name: str) -> str:
    return name.strip().removeprefix("#")


def _find_spelling(notes: list[NoteRecord], name: str) -> str:
    """Return the tag as most notes write it."""
    return next(row.name for row in count_tags(notes) if name_key(row.name) == name_key(name))


def _build_edit(file: FileText | None, text: str) -> WriteFile:
    return WriteFile(TAGS_PATH, text.encode("utf-8"), file.revision if file is not None else None)
