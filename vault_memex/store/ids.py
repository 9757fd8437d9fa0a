"""Note numbers and slugs: `.memex/ids.tsv`. Lines are only added.

One line for each time a number was given to a path, and one for each time a slug was given to the note of a number.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import BinaryIO, Concatenate, ParamSpec, TypeVar

from vault_memex.core.text import base_of, name_key, parse_number, without_md
from vault_memex.errors import NotFound
from vault_memex.store.appending import append_lines
from vault_memex.store.disk import os_error_as_memex

_TAIL = 256  # bytes
_SKILL = "skill"
_SKILL_START = f"{_SKILL}\t".encode()


@dataclass(frozen=True, slots=True)
class IdLine:
    """A number given to a path. A note that moves keeps number and `created`, so these two are its identity."""

    id: int
    path: str
    hash: str  # revision when the line was written
    created: str  # when the number was first given: UTC, as the journal writes it


@dataclass(frozen=True, slots=True)
class SkillLine:
    """The slug under which a note is served as a skill. Number and `created` say which note, as in its own line."""

    slug: str
    id: int
    created: str


@dataclass(frozen=True, slots=True)
class IdConflict:
    """Two machines gave one number to two notes; `keeper` was first."""

    id: int
    keeper: IdLine
    loser: IdLine


@dataclass(frozen=True, slots=True)
class Renumbered:
    """A note that got another number, because its own belongs to an older note."""

    path: str
    former: int
    id: int


P = ParamSpec("P")
T = TypeVar("T")


def _one_at_a_time(method: Callable[Concatenate[Ids, P], T]) -> Callable[Concatenate[Ids, P], T]:
    """Let one thread at a time use what is loaded; the watcher's and every tool's thread ask for numbers."""

    @wraps(method)
    def locked(self: Ids, /, *arguments: P.args, **named: P.kwargs) -> T:
        with self._lock:
            return method(self, *arguments, **named)

    return locked


class Ids:
    """The numbers of a vault. Giving numbers needs the vault lock."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.RLock()
        self.notices: tuple[str, ...] = ()
        self._stamp: tuple[int, int, int] | None = None  # inode, size, mtime of what is loaded
        self._tail = b""  # the last bytes of what is loaded
        self._latest: dict[tuple[int, str], IdLine] = {}  # by identity: where the note is now
        self._by_path: dict[str, IdLine] = {}
        self._given: set[int] = set()
        self._shared: set[int] = set()  # numbers that more than one identity has
        self._highest = 0
        self._numbers: Mapping[str, int] = {}  # of the live paths; another object when the file has changed
        self._conflicts: tuple[IdConflict, ...] | None = None  # made when first asked for
        self._without_skills = ""  # the stamp of the file when it was seen to hold none
        self._slugs: dict[tuple[int, str], str] = {}  # by identity, in the order in which they were fixed
        self._skills: Mapping[int, str] = {}  # the same by number; another object when one of them has changed

    def find_stamp(self) -> str:
        """Return what is another when the file has changed, without reading it; "" while there is none."""
        try:
            status = self.file.stat()
        except FileNotFoundError:
            return ""
        return f"{status.st_ino} {status.st_size} {status.st_mtime_ns}"

    @_one_at_a_time
    def number_of(self, path: str) -> int | None:
        """Return the number of the note at this path, None when it has none (yet)."""
        line = self._line_at(path)
        return line.id if line else None

    @_one_at_a_time
    def lines(self) -> Iterable[IdLine]:
        """Return the line of every path that has a number."""
        return [line for path in self.numbers() if (line := self._live(path)) is not None]

    @_one_at_a_time
    def numbers(self) -> Mapping[str, int]:
        """Return every path that has a number, with it."""
        self._refresh()
        return self._numbers

    @_one_at_a_time
    def highest(self) -> int:
        """Return the highest number ever given."""
        self._refresh()
        return self._highest

    @_one_at_a_time
    def find_all_paths(self) -> dict[str, int]:
        """Return every path that has or had a number, with the last one."""
        self._refresh()
        return {path: line.id for path, line in self._by_path.items()}

    @_one_at_a_time
    def find_former(self, name: str) -> tuple[int, ...]:
        """Return the numbers of all notes that ever had this path or file name, lowest first."""
        self._refresh()
        key = name_key(without_md(name))
        known = ((line.id, without_md(path)) for path, line in self._by_path.items())
        return tuple(
            sorted({number for number, path in known if key in (name_key(path), name_key(base_of(path)))})
        )

    @_one_at_a_time
    def assign(self, notes: Sequence[tuple[str, str]], created: str, above: int = 0) -> tuple[int, ...]:
        """Give a number to each (path, hash) that has none; return all numbers, in order.

        Numbers are higher than every one in the file and than `above`, the highest known from notes and trash.
        """
        self._refresh()
        following = max(self._highest, above) + 1
        numbers: list[int] = []
        added: dict[str, IdLine] = {}
        for path, content in notes:
            known = added.get(path) or self._live(path)
            if known is None:
                known = added[path] = IdLine(following, path, content, created)
                following += 1
            numbers.append(known.id)
        self._append(list(added.values()))
        return tuple(numbers)

    @_one_at_a_time
    def adopt(self, notes: Sequence[tuple[str, int, str]], created: str) -> None:
        """Record the numbers that notes, as (path, number, hash), say they have in their own frontmatter."""
        self._append([IdLine(n, path, h, created) for path, n, h in notes if self.number_of(path) != n])

    @_one_at_a_time
    def moved(self, moves: Sequence[tuple[str, str, str]]) -> None:
        """Record that notes moved, as (path, new path, hash). Raises NotFound when a path has no number."""
        lines: list[IdLine] = []
        for path, to, content in moves:
            line = self._line_at(path)
            if line is None:
                raise NotFound(f"{path!r} has no number, so its move cannot be recorded.", path=path)
            lines.append(IdLine(line.id, to, content, line.created))
        self._append(lines)

    @_one_at_a_time
    def find_conflicts(self) -> tuple[IdConflict, ...]:
        """Return numbers that two notes still have, each with the note that keeps it and one that does not."""
        self._refresh()
        if self._conflicts is None:
            self._conflicts = tuple(
                IdConflict(number, keeper, loser)
                for number in sorted(self._shared)
                for keeper, *losers in (self._holders(number),)
                for loser in losers
                if self._live(loser.path) == loser
            )
        return self._conflicts

    @_one_at_a_time
    def renumber(self, conflicts: Sequence[IdConflict], above: int = 0) -> tuple[Renumbered, ...]:
        """Give each loser a new number; its `created` stays, which is how its former number is remembered."""
        self._refresh()
        following = max(self._highest, above) + 1
        lines = [
            IdLine(following + i, c.loser.path, c.loser.hash, c.loser.created) for i, c in enumerate(conflicts)
        ]
        self._append(lines)
        return tuple(Renumbered(line.path, c.id, line.id) for line, c in zip(lines, conflicts, strict=True))

    @_one_at_a_time
    def skills(self) -> Mapping[int, str]:
        """Return the slugs that were fixed, by the number that the note has now, first fixed first.

        A file without any is looked through and not loaded, which with 10,000 notes takes a tenth of a second.
        """
        if self._stamp is None and not self._holds_skills():
            return self._skills
        self._refresh()
        known = ((self._latest[key].path, slug) for key, slug in self._slugs.items() if key in self._latest)
        slugs = {self._by_path[path].id: slug for path, slug in known}
        if list(slugs.items()) != list(self._skills.items()):
            self._skills = slugs
        return self._skills

    def _holds_skills(self) -> bool:
        stamp = self.find_stamp()
        if stamp and stamp != self._without_skills:
            if b"\n" + _SKILL_START in self.file.read_bytes():
                return True
            self._without_skills = stamp
        return False

    @_one_at_a_time
    def fix_skills(self, slugs: Sequence[tuple[str, str]]) -> None:
        """Record slugs, as (path, slug), of notes that have a number; others are left for another time."""
        lines = [(self._line_at(path), slug) for path, slug in slugs]
        self._append_bytes([render_skill_line(SkillLine(s, n.id, n.created)) for n, s in lines if n is not None])

    def _line_at(self, path: str) -> IdLine | None:
        self._refresh()
        return self._live(path)

    def _live(self, path: str) -> IdLine | None:
        """Return the path's line unless that note has moved away since."""
        line = self._by_path.get(path)
        return line if line is not None and self._latest[line.id, line.created].path == path else None

    def _holders(self, number: int) -> list[IdLine]:
        """Return the notes with this number, the rightful one first: earlier created, then smaller path."""
        lines = [line for (n, _), line in self._latest.items() if n == number]
        return sorted(lines, key=lambda line: (line.created, line.path))

    def _append(self, lines: Sequence[IdLine]) -> None:
        self._append_bytes([render_id_line(line) for line in lines])

    def _append_bytes(self, lines: Sequence[bytes]) -> None:
        if lines:
            try:
                append_lines(self.file, b"".join(lines))
            except OSError as error:
                raise os_error_as_memex(error, ".memex/ids.tsv") from error
            self._refresh()

    def _refresh(self) -> None:
        try:
            status = self.file.stat()
            if self._stamp == (status.st_ino, status.st_size, status.st_mtime_ns):
                return
            stream = open(self.file, "rb")  # noqa: SIM115 -- closed below, once it is there
        except FileNotFoundError:
            if self._stamp is not None:
                self._stamp, self._tail = None, b""
                self._load(b"")
            return
        with stream:
            # Of the file that is open, before it is read: what is appended meanwhile makes the next look load more.
            status = os.fstat(stream.fileno())
            if not self._load_added(stream, status.st_ino):
                stream.seek(0)
                data = stream.read()
                self._load(data)
                self._tail = data[-_TAIL:]
            self._stamp = (status.st_ino, stream.tell(), status.st_mtime_ns)

    def _load_added(self, stream: BinaryIO, inode: int) -> bool:
        """Load only what was appended; False when the file is not the loaded one plus some whole lines."""
        if self._stamp is None or self._stamp[0] != inode or not self._tail.endswith(b"\n"):
            return False
        stream.seek(self._stamp[1] - len(self._tail))
        data = stream.read()
        if not data.startswith(self._tail):
            return False
        self._add(data[len(self._tail) :])
        self._tail = data[-_TAIL:]
        return True

    def _load(self, data: bytes) -> None:
        self._latest, self._by_path, self._highest, self.notices = {}, {}, 0, ()
        self._given, self._shared, self._numbers, self._slugs = set(), set(), {}, {}
        self._add(data)

    def _add(self, data: bytes) -> None:
        self._conflicts = None
        notices, touched = list(self.notices), set[str]()
        for raw in data.split(b"\n"):
            if not raw.strip():
                continue
            skill = parse_skill_line(raw)
            if skill is not None:
                self._slugs[skill.id, skill.created] = skill.slug
                continue
            line = parse_id_line(raw)
            if line is None:
                notices.append(f"ids.tsv: the line {raw[:80]!r} does not parse; it is skipped")
                continue
            former = self._latest.get((line.id, line.created))
            if former is not None:
                touched.add(former.path)
            elif line.id in self._given:
                self._shared.add(line.id)
            self._given.add(line.id)
            self._latest[line.id, line.created] = line
            self._by_path[line.path] = line
            self._highest = max(self._highest, line.id)
            touched.add(line.path)
        self.notices = tuple(notices)
        numbers = dict(self._numbers)
        for path in touched:
            numbers.pop(path, None)
            if (live := self._live(path)) is not None:
                numbers[path] = live.id
        self._numbers = numbers


def render_id_line(line: IdLine) -> bytes:
    """Return the line with its line feed; tabs and line ends in an odd path are escaped."""
    return f"{line.id}\t{escape_field(line.path)}\t{line.hash}\t{line.created}\n".encode()


def parse_id_line(raw: bytes) -> IdLine | None:
    """Return the line's values, or None when it is not one."""
    try:
        digits, path, content, created = raw.rstrip(b"\r").decode("utf-8").split("\t")
        number = parse_number(digits)
        return IdLine(number, unescape_field(path), content, created) if number else None
    except ValueError:
        return None


def render_skill_line(line: SkillLine) -> bytes:
    """Return the line with its line feed."""
    return f"{_SKILL}\t{line.slug}\t{line.id}\t{line.created}\n".encode()


def parse_skill_line(raw: bytes) -> SkillLine | None:
    """Return the line's values, or None when it is not one."""
    if not raw.startswith(_SKILL_START):
        return None
    try:
        _, slug, digits, created = raw.rstrip(b"\r").decode("utf-8").split("\t")
    except ValueError:
        return None
    number = parse_number(digits)
    return SkillLine(slug, number, created) if number and slug else None


def escape_field(text: str) -> str:
    r"""Return the text as one field of a tab-separated line: `\`, tab, LF and CR as `\\`, `\t`, `\n`, `\r`."""
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def unescape_field(text: str) -> str:
    """Return the text that escape_field made the field of."""
    if "\\" not in text:
        return text
    out: list[str] = []
    escaped = False
    for c in text:
        if escaped:
            out.append({"t": "\t", "n": "\n", "r": "\r"}.get(c, c))
            escaped = False
        elif c == "\\":
            escaped = True
        else:
            out.append(c)
    return "".join(out)
