"""Reading notes: whole, by section, in slices, with their links and neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from vault_memex.core.markdown import parse_note
from vault_memex.core.note import ParsedNote, PropertyValue
from vault_memex.core.refs import Resolved, find_near_names, parse_ref, resolve_ref
from vault_memex.core.sections import build_sections, resolve_section
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import BOM, base_of, find_safe_cut, name_key, render_line, shorten
from vault_memex.errors import AmbiguousTitle, IndexUnusable, InvalidArgument, MemexError, NotFound, TooLarge
from vault_memex.index.document import find_indexed_text
from vault_memex.index.indexer import Indexer
from vault_memex.memory.flags import Flag
from vault_memex.memory.system_tags import find_live_state_notice, find_profile_notice
from vault_memex.services.edit_plan import MOST_PARSED
from vault_memex.services.flag_files import FlagFiles
from vault_memex.services.flashbacks import Surfaced
from vault_memex.services.standing import Standing, name_note
from vault_memex.services.waiting import WaitingChange
from vault_memex.store.catalogue import Catalogue, LinkRow
from vault_memex.store.files import FileText, VaultFiles

DEFAULT_MAX_CHARS = 20_000
OUTLINE_FROM = 4_000  # code points; longer bodies come with their outline
MAX_REFS = 10
MAX_LINKS = 40
NEIGHBOUR_SUMMARY = 200  # code points
OWNER = "owner"  # the person, who writes outside this program too
_NEAR = 5  # named


@dataclass(frozen=True, slots=True)
class OutlineRow:
    """A heading of a long note."""

    level: int
    text: str
    offset: int  # in the body
    chars: int  # of the section with its subsections


@dataclass(frozen=True, slots=True)
class NeighbourRow:
    """A note one or two links away, with what it is about."""

    path: str
    note_id: int | None
    distance: int
    links: int
    direction: str  # out: the nearer note links to it; in: it links there; both
    kinds: tuple[str, ...]  # of the links
    summary: str | None


@dataclass(frozen=True, slots=True)
class NoteView:
    """A note, or a part of it, with what hangs on it."""

    path: str
    title: str
    note_id: int | None
    revision: str
    layer: str | None
    summary: str | None
    tags: tuple[str, ...]
    properties: dict[str, PropertyValue]
    created: str
    updated: str
    text: str  # the slice that was asked for
    offset: int  # of the slice in the body, or in the section
    body_chars: int  # true length of what was asked for: the body, or the section
    next_offset: int | None  # where to go on; None at the end
    section: tuple[str, ...] = ()
    outline: tuple[OutlineRow, ...] = ()
    links: tuple[LinkRow, ...] = ()
    links_total: int = 0
    backlinks: tuple[LinkRow, ...] = ()
    backlinks_total: int = 0
    neighbours: tuple[NeighbourRow, ...] = ()
    surfaced_in: tuple[str, ...] = ()  # notes whose flashback it was, the latest first
    same_title: tuple[str, ...] = ()  # paths with their numbers
    added_by: str = OWNER
    changed_by: str = OWNER  # last
    curation_flag: Flag | None = None  # the person's word that it needs tidying
    waiting_changes: tuple[WaitingChange, ...] = ()  # about it, whoever proposed them
    notices: tuple[str, ...] = ()
    live_state_notice: str = ""  # what the program says with a note of that tag
    profile_notice: str = ""  # the same; at most one of the two is said
    raw_frontmatter: str | None = None  # only when it does not parse


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """What part of a note to read."""

    section: str = ""
    offset: int = 0
    max_chars: int = DEFAULT_MAX_CHARS
    depth: int = 0


class Reading:
    """Reads of one vault."""

    def __init__(
        self,
        *,
        files: VaultFiles,
        catalogue: Catalogue,
        indexer: Indexer,
        standing: Standing,
        surfaced: Surfaced,
        flags: FlagFiles,
        snapshot: Callable[[], Snapshot],
        find_former: Callable[[str], Sequence[int]],
        find_writer: Callable[[str, str], str | None],
        find_waiting: Callable[[NoteRecord, str], tuple[WaitingChange, ...]],
    ) -> None:
        self._find_waiting = find_waiting  # about a note with this body
        self._find_former = find_former  # numbers of the notes that ever had a path or file name
        self._find_writer = find_writer  # of a path's content, where this program wrote it
        self._surfaced = surfaced
        self._flags = flags
        self._standing = standing
        self._files = files
        self._catalogue = catalogue
        self._indexer = indexer
        self._snapshot = snapshot
        self._shown: dict[str, str] = {}

    def note_shown(self, path: str, revision: str) -> None:
        """Remember that the caller was shown a note as it is at this revision."""
        self._shown[path] = revision

    def find_shown(self, path: str) -> str:
        """Return the revision of a note that the caller was last shown; empty when it was not."""
        return self._shown.get(path, "")

    def find_note(self, ref: str, *, writing: bool = False) -> tuple[NoteRecord, FileText, tuple[NoteRecord, ...]]:
        """Return the note that a ref means, its file as it is now, and the other notes of equal title.

        A file that the index has not met yet is found by its path, a note whose file was renamed by what it was.
        """
        snapshot = self._snapshot()
        try:
            resolved = resolve_ref(snapshot, ref, writing=writing)
        except NotFound as missing:
            found = self._find_unindexed(ref, missing)
            if found is not None:
                return (*found, ())
            resolved = self._find_renamed(snapshot, ref, missing, writing=writing)
        others = resolved.same_title
        try:
            file = self._files.read(resolved.note.path)
        except NotFound as error:
            self._files.check_root()
            self._follow(resolved.note.path)
            near = find_near_names(self._snapshot(), resolved.note.path)
            raise NotFound(
                f"{resolved.note.path} is gone: somebody deleted or moved it.", near, gone=True
            ) from error
        if file.revision != resolved.note.revision:
            self._follow(resolved.note.path)
            fresh = self._snapshot().notes.get(resolved.note.path)
            return fresh or resolved.note, file, others
        return resolved.note, file, others

    def _find_renamed(self, snapshot: Snapshot, ref: str, missing: NotFound, *, writing: bool) -> Resolved:
        """Return the note that had the name before its file was renamed outside; raise `missing` when none had."""
        had_it = self._find_former(parse_ref(ref))
        notes = [snapshot.by_id[number] for number in had_it if number in snapshot.by_id]
        if not notes:
            raise self._with_headings(ref, missing) from None
        if writing and len(notes) > 1:
            raise AmbiguousTitle(ref, [note.path for note in notes]) from None
        return Resolved(notes[0], "former_title", tuple(notes[1:]))

    def _with_headings(self, ref: str, missing: NotFound) -> NotFound:
        """Return the error with the notes that begin with the name as a heading: their file may have had it before."""
        notes, key = self._snapshot().notes, name_key(parse_ref(ref))
        headed = [path for path, heading in self._catalogue.load_first_headings() if name_key(heading) == key]
        headed = [path for path in headed if path in notes][:_NEAR]
        if not headed:
            return missing
        listed = ", ".join(map(render_line, headed))
        near = [path for path in missing.fields["candidates"] if path not in headed]
        return NotFound(f"No note {ref!r}. With that heading: {listed}.", [*headed, *near])

    def _find_unindexed(self, ref: str, missing: NotFound) -> tuple[NoteRecord, FileText] | None:
        bare = parse_ref(ref)
        path = bare if bare.casefold().endswith(".md") else f"{bare}.md"
        try:
            file = self._files.read(path)
        except NotFound:
            return None
        except MemexError:
            # A name that could never be a note is refused as what it is; a plain title is just unknown.
            if "/" in bare or "\\" in bare or "\0" in bare or bare.startswith((".", "~")) or bare != path:
                raise
            raise missing from None
        self._indexer.index_paths([file.path])
        record = self._snapshot().notes.get(file.path)
        if record is None:
            raise missing
        return record, file

    def _follow(self, path: str) -> None:
        """Have the index look at a file it did not know as it is; reading goes on when the index cannot be written."""
        with suppress(IndexUnusable):
            self._indexer.index_paths([path])

    def read_text(self, path: str) -> str:
        """Return a note's whole text by its path (or any ref), without a BOM."""
        return self.find_note(path)[1].text.removeprefix(BOM)

    def find_paths(self, prefix: str, limit: int) -> Sequence[str]:
        """Return paths whose name or folder starts with what was typed, for completion."""
        key = name_key(prefix)
        paths = self._snapshot().notes
        starts = [p for p in paths if name_key(p).startswith(key)]
        inside = [p for p in paths if name_key(base_of(p)).startswith(key)]
        return list(dict.fromkeys((*starts, *inside)))[:limit]

    def get(self, ref: str, request: ReadRequest) -> NoteView:
        """Return one note by any ref."""
        if request.depth not in (0, 1, 2):
            raise InvalidArgument("depth", f"depth = {request.depth}: write 0, 1 or 2.")
        if request.offset < 0 or request.max_chars < 1:
            raise InvalidArgument("offset", "offset counts from 0 and max_chars from 1.")
        record, file, others = self.find_note(ref)
        note = _parse(file, request.section)
        path, text = _selected(note, file.text, request.section)
        start = find_safe_cut(text, request.offset)
        end = find_safe_cut(text, start + request.max_chars)
        if end <= start < len(text):  # one visible character longer than the limit
            end = min(len(text), start + request.max_chars)
        self.note_shown(record.path, file.revision)
        links = self._catalogue.find_links(record.path)
        backlinks = self._catalogue.find_backlinks(record.path)
        sliced = start > 0 or end < len(text)
        return NoteView(
            path=record.path,
            title=record.title,
            note_id=record.note_id,
            revision=file.revision,
            layer=record.layer,
            summary=record.summary,
            tags=note.tags,
            properties=dict(note.properties),
            created=record.created,
            updated=record.updated,
            text=text[start:end],
            offset=start,
            body_chars=len(text),
            next_offset=end if end < len(text) else None,
            section=path,
            outline=_build_outline(note) if not path and (len(text) > OUTLINE_FROM or sliced) else (),
            links=links[:MAX_LINKS],
            links_total=len(links),
            backlinks=backlinks[:MAX_LINKS],
            backlinks_total=len(backlinks),
            neighbours=tuple(self._find_neighbours(record.path, request.depth)),
            surfaced_in=tuple(map(name_note, self._surfaced.find_anchors(record))),
            same_title=tuple(map(name_note, others)),
            added_by=str(record.properties.get("added_by") or OWNER),
            changed_by=self._find_writer(record.path, file.revision) or OWNER,
            curation_flag=self._flags.get(record.note_id),
            waiting_changes=self._find_waiting(record, note.body),
            notices=self._find_notices(record, note, file),
            live_state_notice=find_live_state_notice(note.tags),
            profile_notice=find_profile_notice(note.tags, pending=note.properties.get("review") == "pending"),
            raw_frontmatter=_raw_frontmatter(note),
        )

    def _find_neighbours(self, path: str, depth: int) -> Iterator[NeighbourRow]:
        notes = self._snapshot().notes
        for near in self._catalogue.find_neighbours(path, depth) if depth else ():
            note = notes.get(near.path)
            yield NeighbourRow(
                near.path,
                near.note_id,
                near.distance,
                near.links,
                "both" if len(near.ways) > 1 else "".join(near.ways),
                tuple(sorted(near.kinds)),
                shorten(note.summary, NEIGHBOUR_SUMMARY) if note is not None and note.summary else None,
            )

    def _find_notices(self, record: NoteRecord, note: ParsedNote, file: FileText) -> tuple[str, ...]:
        standing = self._standing.find().describe(record)
        locked = [file.not_writable] if file.not_writable else []
        return tuple(dict.fromkeys((*standing, *record.notices, *note.notices, *locked)))


def _parse(file: FileText, section: str) -> ParsedNote:
    """Return the note, or of a very large one the first part, as the index has it."""
    if section and len(file.data) > MOST_PARSED:
        raise TooLarge(
            f"{file.path} has {len(file.data):,} bytes; sections are found in notes of up to {MOST_PARSED:,}. "
            "Read it by `offset` and `max_chars`."
        )
    return parse_note(file.text if section else find_indexed_text(file.data))


def _selected(note: ParsedNote, whole: str, name: str) -> tuple[tuple[str, ...], str]:
    if not name:
        return (), whole[note.body_start :]
    section = resolve_section(note, name)
    return section.heading.path, note.text[section.span.start : section.span.end]


def _build_outline(note: ParsedNote) -> tuple[OutlineRow, ...]:
    return tuple(
        OutlineRow(
            section.heading.level,
            section.heading.text,
            section.span.start - note.body_start,
            section.span.end - section.span.start,
        )
        for section in build_sections(note)
    )


def _raw_frontmatter(note: ParsedNote) -> str | None:
    block = note.frontmatter
    return note.text[block.span.start : block.span.end] if block.error else None


def find_sources(catalogue: Catalogue, notes: Mapping[str, NoteRecord], path: str) -> list[NoteRecord]:
    """Return the other notes that link to one, sorted by path."""
    sources = {row.source for row in catalogue.find_backlinks(path)} - {path}
    return [notes[source] for source in sorted(sources) if source in notes]
