"""What a write answers: what is on disk now, and what its author may want to do next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from vault_memex.core.diff import render_diff
from vault_memex.core.frontmatter import without_frontmatter
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import name_key, render_line, stem_of
from vault_memex.memory.hints import SimilarHint, WriteKind, find_citing, find_similar
from vault_memex.memory.thresholds import Thresholds
from vault_memex.services.duplicates import Comparison
from vault_memex.services.flashbacks import Flashbacks
from vault_memex.services.names import Names
from vault_memex.services.nearby import Near
from vault_memex.services.reading import find_sources
from vault_memex.services.requests import SignalHint, WriteAnswer, WriteHints
from vault_memex.services.retired_tags import RetiredTags
from vault_memex.services.signals import Signals
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.transaction import Applied

_NAMESAKES = 3  # named


class Answering:
    """Answers to writes of one vault. Nothing here changes a note."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        snapshot: Callable[[], Snapshot],
        names: Names,
        flashbacks: Flashbacks,
        thresholds: Callable[[], Thresholds],
        signals: Signals,
        retired: RetiredTags,
        role: str,
    ) -> None:
        self._catalogue = catalogue
        self._snapshot = snapshot
        self._names = names
        self._flashbacks = flashbacks
        self._thresholds = thresholds
        self._signals = signals
        self._retired = retired
        self._role = role

    def describe(
        self,
        outcome: str,
        path: str,
        applied: Applied,
        *,
        before: NoteRecord | None = None,
        text: str | None = None,
    ) -> WriteAnswer:
        """Return what was done to a note. `before` and `text` are the note and its text before the write."""
        snapshot = self._snapshot()
        record = snapshot.notes.get(path)
        result = next((f for f in applied.files if f.path == path), None)
        new_tags, new_folder = self._names.find_new(snapshot, record, before) if record else ((), None)
        notes = [f"Another program saved {c} meanwhile; both versions are kept." for c in applied.conflicts]
        if result and result.data and (record is None or record.revision != result.after):
            notes.append("Written, but the index does not show it yet: search may miss it for now.")
        answer = WriteAnswer(
            outcome=outcome,
            path=path,
            title=record.title if record else stem_of(path),
            note_id=record.note_id if record else None,
            revision=(result.after or "") if result else "",
            diff=_render_diff(path, text, applied) if text is not None and result else "",
            new_tags=new_tags,
            new_folder=new_folder,
            commit=applied.commit,
            commit_error=applied.commit_error or None,
            notes=tuple(notes),
        )
        if text is not None and not _changes_body(path, text, applied):
            return answer  # what others say of it holds as it did
        return self.add_citing(answer, "edited" if before else "created", self.find_sources(path))

    def find_sources(self, path: str) -> list[NoteRecord]:
        """Return the other notes that link to one."""
        return find_sources(self._catalogue, self._snapshot().notes, path)

    @staticmethod
    def add_citing(answer: WriteAnswer, kind: WriteKind, sources: Collection[NoteRecord]) -> WriteAnswer:
        """Return the answer with the notes that link to the one written, and what to check in them."""
        citing = find_citing(kind, sources)
        if citing is None:
            return answer
        paths = tuple(note.path for note in citing.notes)
        return replace(answer, cited_by=paths, cited_by_total=citing.total, citing_advice=citing.sentence)

    def advise_on_save(self, answer: WriteAnswer, title: str, text: str, comparison: Comparison) -> WriteAnswer:
        """Return the answer to a save with its duplicates, flashbacks and hints."""
        snapshot = self._snapshot()
        note = snapshot.notes.get(answer.path)
        if note is None:  # somebody deleted it this instant, or the index cannot be written
            return replace(answer, title=title)
        near = comparison.near
        remark = (f"Compared by words only: {near.remark}.",) if near.remark else ()
        told = {duplicate.path for duplicate in comparison.similar}
        return replace(
            answer,
            title=title,  # where no file can be called so, it is an alias
            similar=comparison.similar,
            flashbacks=self._flashbacks.find(note, near),
            hints=self._find_hints(snapshot, note, text, near, told=told),
            signal_hint=self._find_signal_hint(note, near),
            notes=(*answer.notes, *self._find_remarks(snapshot, note), *self._retired.warn(note.tags), *remark),
        )

    def _find_remarks(self, snapshot: Snapshot, note: NoteRecord) -> Iterator[str]:
        """Yield what the author of a new note may not expect of it."""
        namesakes = [
            other for other in snapshot.by_title_key.get(name_key(note.title), ()) if other.path != note.path
        ]
        if namesakes:
            paths = ", ".join(render_line(other.path) for other in namesakes[:_NAMESAKES])
            yield f"Same title: {paths}. A link by title may mean another note now: was that one to be edited?"
        if note.layer == "rule" and self._role != "owner":
            yield "Proposed: no assistant follows it until the person approves it with `vault-memex rules approve`."

    def advise_on_edit(
        self, answer: WriteAnswer, before: str, after: str, tags: Collection[str] = ()
    ) -> WriteAnswer:
        """Return the answer to an edit, done or proposed, with hints about what is new in the text, and in its tags.

        Meaning is not asked: what an edit brought in has no vector yet, and an edit waits for no model.
        """
        answer = replace(answer, notes=(*answer.notes, *self._retired.warn(tags)))
        snapshot = self._snapshot()
        note = snapshot.notes.get(answer.path)
        if note is None or before == after:
            return answer
        return replace(
            answer,
            hints=self._find_hints(snapshot, note, after, before=before),
            signal_hint=self._find_signal_hint(note, None, before),
        )

    def _find_signal_hint(self, note: NoteRecord, near: Near | None, before: str = "") -> SignalHint | None:
        hits = near.hits if near is not None and near.measured else ()
        return self._signals.find_hint(note.path, hits, before)

    def _find_hints(
        self,
        snapshot: Snapshot,
        note: NoteRecord,
        text: str,
        near: Near | None = None,
        *,
        told: Collection[str] = (),
        before: str = "",
    ) -> WriteHints | None:
        """Return hints about a note just written; None when there are none. What was there before is not told again.

        Links are hinted at only where the caller may change the text.
        """
        linked = {row.path for row in self._catalogue.find_links(note.path) if row.path is not None}
        rewritable = self._role == "owner" or note.layer not in ("past", "rule")
        links = self._names.find_link_hints(snapshot, text, note.path, linked, before) if rewritable else ()
        tags = self._names.find_tag_hints(snapshot, text, note.tags, before)
        known = (
            {hint.tag for hint in self._names.find_tag_hints(snapshot, before, note.tags)}
            if before and tags
            else set()
        )
        retired = self._retired.find() if tags else {}
        hints = WriteHints(
            links=tuple(hint for hint in links if hint.find not in before),
            tags=tuple(hint for hint in tags if hint.tag not in known and name_key(hint.tag) not in retired),
            near=self._find_similar(snapshot, note, near, {*linked, *told}),
        )
        return hints if hints != WriteHints() else None

    def _find_similar(
        self, snapshot: Snapshot, note: NoteRecord, near: Near | None, without: Collection[str]
    ) -> tuple[SimilarHint, ...]:
        if near is None or not near.measured:
            return ()
        hits = [hit for hit in near.hits if hit[0] not in without]
        return find_similar(hits, snapshot.notes, note.path, self._thresholds())


def _find_written(path: str, applied: Applied) -> str | None:
    """Return the text of a note that was written; None where it was only moved or deleted."""
    result = next((f for f in applied.files if f.path == path), None)
    return result.data.decode("utf-8") if result and result.data else None


def _changes_body(path: str, before: str, applied: Applied) -> bool:
    after = _find_written(path, applied)
    return after is not None and without_frontmatter(before) != without_frontmatter(after)


def _render_diff(path: str, before: str, applied: Applied) -> str:
    after = _find_written(path, applied) or ""
    return render_diff(render_line(path), before, after)
