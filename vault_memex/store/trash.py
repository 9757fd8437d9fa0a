"""The trash: deleted notes whole under `_memex/trash`, and one line each in `tombstones.tsv`, which stays.

The lines are only added. The last line about a trash file holds: a note that was restored or erased gets another
line that says so in its column `purged`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from vault_memex.core.changes import Change, FileEdit, MoveFile, RemoveFile, WriteFile
from vault_memex.core.text import parse_number, render_subject, stem_of
from vault_memex.errors import AlreadyExists, NotFound
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.ids import escape_field, unescape_field
from vault_memex.store.layout import TRASH_FOLDER
from vault_memex.store.names import file_name_for_title, numbered_name, twin_key

TOMBSTONES = f"{TRASH_FOLDER}/tombstones.tsv"
HEADER = "id\ttitle\tpath\twhen\tby\treason\tpurged\tfile\n"
RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What remains of a deleted note. `purged` is empty while its file is in the trash."""

    id: int | None
    title: str
    path: str  # where it was
    when: str  # UTC, as the journal writes it
    by: str
    reason: str
    purged: str  # "", "restored", or the moment it was erased
    file: str  # its name in the trash folder


def parse_tombstones(text: str) -> tuple[Tombstone, ...]:
    """Return the tombstones, oldest first, each as its last line says. Lines that do not parse are skipped."""
    latest: dict[str, Tombstone] = {}
    for line in text.replace("\r\n", "\n").split("\n"):
        fields = [unescape_field(field) for field in line.split("\t")]
        number = parse_number(fields[0])
        if len(fields) != 8 or line + "\n" == HEADER or (fields[0] and number is None):
            continue
        latest[fields[7]] = Tombstone(number, *fields[1:])
    return tuple(latest.values())


def render_tombstone(stone: Tombstone) -> str:
    """Return the tombstone's line with its line feed."""
    number = "" if stone.id is None else str(stone.id)
    rest = (stone.title, stone.path, stone.when, stone.by, stone.reason, stone.purged, stone.file)
    return "\t".join((number, *map(escape_field, rest))) + "\n"


def plan_delete(
    note: FileText,
    stone: Tombstone,
    stones: FileText | None,
    is_taken: Callable[[str], bool],
) -> Change:
    """Return the change that moves a note to the trash and writes its tombstone; `stone.file` is set here.

    `stones` is the tombstones file as it is, None when there is none. `is_taken` tells whether a name in the trash
    is in use.
    """
    buried = _with_free_name(stone, note.path, is_taken)
    move = MoveFile(note.path, f"{TRASH_FOLDER}/{buried.file}", note.revision)
    return Change(
        "deleted",
        note.path,
        render_subject(f"Delete {stone.title}"),
        (move, _with_line(stones, buried)),
        stone.by,
        stone.id,
        stone.reason,
    )


def plan_restore(
    stone: Tombstone, trashed: FileText, stones: FileText, actor: str, to: str | None = None
) -> Change:
    """Return the change that puts a note back where it was, or at `to`, and says so in the tombstones."""
    _check_in_trash(stone)
    target = to or stone.path
    move = MoveFile(trashed.path, target, trashed.revision)
    line = _with_line(stones, replace(stone, purged=RESTORED))
    return Change("restored", target, f"Restore {stone.title}", (move, line), actor, stone.id)


def plan_purge(stone: Tombstone, trashed: FileText, stones: FileText, actor: str, when: str) -> Change:
    """Return the change that erases a note from the trash for good; its tombstone stays."""
    _check_in_trash(stone)
    line = _with_line(stones, replace(stone, purged=when))
    erase = RemoveFile(trashed.path, trashed.revision)
    return Change("erased", trashed.path, f"Erase {stone.title}", (erase, line), actor, stone.id)


def trash_name(stone: Tombstone, path: str) -> str:
    """Return the name in the trash: `0142--<title>.md`, or `<stem>--<title>.md` for a note without number."""
    title = file_name_for_title(stone.title)
    if stone.id is not None:
        return f"{stone.id:04d}--{title}"
    stem = file_name_for_title(stem_of(path), "")
    return f"{stem.encode('utf-8')[:70].decode('utf-8', 'ignore').strip()}--{title}"


class Trash:
    """The trash of a vault: tombstones, and changes that the transactor applies with `internal=True`."""

    def __init__(self, files: VaultFiles) -> None:
        self._files = files

    def find_tombstones(self, waiting_only: bool = False) -> tuple[Tombstone, ...]:
        """Return tombstones, oldest first; with `waiting_only` those whose note can still be restored."""
        stones = self._read_stones()
        found = parse_tombstones(stones.text) if stones else ()
        return tuple(s for s in found if not s.purged) if waiting_only else found

    def get_tombstone(self, ref: int | str) -> Tombstone:
        """Return the note in the trash with this number, file name, former path or title; the latest if several.

        Raises NotFound, naming what is in the trash.
        """
        waiting = self.find_tombstones(waiting_only=True)
        for key in ("id", "file", "path", "title"):
            for stone in reversed(waiting):
                if getattr(stone, key) == ref:
                    return stone
        raise NotFound(
            f"{ref!r} is not in the trash. `vault-memex trash` lists what is.", [s.file for s in waiting[-20:]]
        )

    def plan_delete(
        self, note: FileText, title: str, note_id: int | None, *, when: str, actor: str, reason: str
    ) -> Change:
        """Return the change that moves a note to the trash."""
        stone = Tombstone(note_id, title, note.path, when, actor, reason, "", "")
        return plan_delete(note, stone, self._read_stones(), self._is_taken)

    def plan_delete_all(
        self,
        notes: Sequence[tuple[FileText, str, int | None]],
        *,
        when: str,
        actor: str,
        reason: str,
        also: Sequence[tuple[Tombstone, str]] = (),
    ) -> tuple[FileEdit, ...]:
        """Return the edits that move notes, given with title and number, to the trash together.

        `also`: tombstones of files that other edits move, with what they say in `purged` from then on.
        """
        if not notes and not also:
            return ()
        stones = self._read_stones()
        names: set[str] = set()
        moves: list[FileEdit] = []
        lines = ""
        for note, title, note_id in notes:
            stone = Tombstone(note_id, title, note.path, when, actor, reason, "", "")
            stone = _with_free_name(stone, note.path, lambda name: twin_key(name) in names or self._is_taken(name))
            names.add(twin_key(stone.file))
            moves.append(MoveFile(note.path, f"{TRASH_FOLDER}/{stone.file}", note.revision))
            lines += render_tombstone(stone)
        lines += "".join(render_tombstone(replace(stone, purged=purged)) for stone, purged in also)
        return (*moves, _with_lines(stones, lines))

    def plan_restore(self, stone: Tombstone, actor: str, to: str | None = None) -> Change:
        """Return the change that restores a note. Raises AlreadyExists when its place is taken."""
        target = self._files.find_place(to or stone.path, "note")
        if target.exists:
            raise AlreadyExists(f"{target.path!r} exists. Restore the note to another path.", path=target.path)
        return plan_restore(stone, self._read_trashed(stone), self._stones(), actor, target.path)

    def plan_purge(self, stone: Tombstone, actor: str, when: str) -> Change:
        """Return the change that erases a note from the trash."""
        return plan_purge(stone, self._read_trashed(stone), self._stones(), actor, when)

    def highest_id(self) -> int:
        """Return the highest number in the tombstones, 0 for none: it must not be given again."""
        return max((s.id or 0 for s in self.find_tombstones()), default=0)

    def _read_trashed(self, stone: Tombstone) -> FileText:
        return self._files.read(f"{TRASH_FOLDER}/{stone.file}", "internal")

    def _stones(self) -> FileText:
        return self._files.read(TOMBSTONES, "internal")

    def _read_stones(self) -> FileText | None:
        return self._stones() if self._files.find_place(TOMBSTONES, "internal").exists else None

    def _is_taken(self, name: str) -> bool:
        return self._files.find_place(f"{TRASH_FOLDER}/{name}", "internal").exists


def _with_free_name(stone: Tombstone, path: str, is_taken: Callable[[str], bool]) -> Tombstone:
    name = trash_name(stone, path)
    number = 2
    while is_taken(name):
        name = numbered_name(trash_name(stone, path), number)
        number += 1
    return replace(stone, file=name, purged="")


def _with_line(stones: FileText | None, stone: Tombstone) -> WriteFile:
    return _with_lines(stones, render_tombstone(stone))


def _with_lines(stones: FileText | None, lines: str) -> WriteFile:
    line = lines.encode("utf-8")
    if stones is None:
        return WriteFile(TOMBSTONES, HEADER.encode("utf-8") + line, None)
    gap = b"" if stones.data.endswith(b"\n") or not stones.data else b"\n"
    return WriteFile(stones.path, stones.data + gap + line, stones.revision)


def _check_in_trash(stone: Tombstone) -> None:
    if stone.purged:
        how = "was restored" if stone.purged == RESTORED else f"was erased at {stone.purged}"
        raise NotFound(f"{stone.title!r} is not in the trash any more: it {how}.")
