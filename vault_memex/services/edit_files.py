"""What an edit does to files: the note's text, its place, and the links of others when it moves."""

from __future__ import annotations

from typing import get_args

from vault_memex.config import Config
from vault_memex.core.changes import Change, FileEdit, MoveFile, WriteFile
from vault_memex.core.encoding import decode_note
from vault_memex.core.note import Layer
from vault_memex.core.property_edit import plan_properties
from vault_memex.core.revision import revision_of
from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import base_of, folder_of, name_key, stem_of
from vault_memex.errors import AlreadyExists, MemexError
from vault_memex.memory.looks import mark_text
from vault_memex.memory.policy import Touched, check_edit
from vault_memex.services.relinking import Relinker
from vault_memex.services.requests import EditRequest
from vault_memex.services.save_plan import check_folder
from vault_memex.store.files import FileText, VaultFiles
from vault_memex.store.names import file_name_for_title, is_named_after

TEXTS = "texts"  # in an event's details
MOST_DESCRIBED = 20  # files of one change
RESERVED = ("_memex/", ".memex/")  # the program's own, of which no argument names a path


class EditPlanner:
    """Plans the file edits of a note's new text, title and folder."""

    def __init__(self, config: Config, files: VaultFiles, relinker: Relinker) -> None:
        self._config = config
        self._files = files
        self.relinker = relinker

    def plan(
        self, record: NoteRecord, file: FileText, request: EditRequest, text: str, role: str
    ) -> tuple[tuple[FileEdit, ...], str | None, str]:
        """Return the edits that give a note its new text, title and folder; where it moves; its whole new text.

        Of the request only title, folder, layer and relink count here.
        """
        retitled = request.title is not None and request.title != record.title
        move = self._plan_move(record, request, retitled=retitled)
        if move is not None and (request.layer or record.properties.get("layer")) not in get_args(Layer):
            self._check_layer_after(record, move, role)
        text = self._with_names(text, record, request, move) if retitled else text
        relinked: tuple[WriteFile, ...] = ()
        if move is not None and request.relink:
            text, relinked = self.relinker.plan_move(record.path, move, text)
        edits: list[FileEdit] = []
        data = text.encode("utf-8")
        if data != file.data:
            edits.append(WriteFile(record.path, data, file.revision))
        if move is not None:
            edits.append(MoveFile(record.path, move, revision_of(data)))
        return (*edits, *relinked), move, text

    def _check_layer_after(self, record: NoteRecord, move: str, role: str) -> None:
        """Refuse a move by which the folders' mapping would change the layer where that may not be."""
        layer = self._config.layer_for(move)
        if layer != record.layer:
            check_edit(record, Touched(layer=layer or ""), role)

    def _plan_move(self, record: NoteRecord, request: EditRequest, *, retitled: bool) -> str | None:
        """Return the note's new path, or None when it stays."""
        folder = record.folder if request.folder is None else check_folder(self._files, request.folder)
        name = base_of(record.path)
        if retitled and request.title is not None and is_named_after(name, record.title):
            name = file_name_for_title(request.title)
        path = f"{folder}/{name}" if folder else name
        if path == record.path:
            return None
        place = self._files.find_place(path, "note")
        # Names that differ only in case or Unicode form are one note, unless the name belongs to a link to it.
        same = name_key(place.path) == name_key(record.path)
        if place.exists and not (same and name_key(name) == name_key(base_of(record.path))):
            what = "is a link to the note itself" if same else "is there already"
            raise AlreadyExists(f"{path} {what}. Choose another title or folder.", path=place.path)
        path = f"{folder_of(place.path)}/{name}" if folder_of(place.path) else name
        return None if path == record.path else path

    def _with_names(self, text: str, record: NoteRecord, request: EditRequest, move: str | None) -> str:
        """Return the text with title, alias and former title in its properties as the new title needs them."""
        title = request.title
        assert title is not None
        values = {"title": title} if "title" in record.properties else {}
        items: dict[str, list[str]] = {}
        if name_key(title) != name_key(record.title):
            items["former_titles"] = [record.title]
        if not values and stem_of(move or record.path) != title:
            items["aliases"] = [title]
        return plan_properties(text, values, (), items)


def describe_texts(files: VaultFiles, change: Change, snapshot: Snapshot) -> dict[str, dict[str, list[str]]]:
    """Return what names the texts of notes before and after a change, by path, and when they had changed before it.

    They tell a change of tags from one of what the note says. Of a change of many files nothing is kept: links of
    others followed a rename.
    """
    if len(change.edits) > MOST_DESCRIBED:
        return {}
    texts = {
        edit.path: [
            _find_body(files, edit.path),
            mark_text(decode_note(edit.data).text),
            known.updated if (known := snapshot.notes.get(edit.path)) is not None else "",
        ]
        for edit in change.edits
        if isinstance(edit, WriteFile) and not edit.path.startswith(RESERVED) and edit.path.endswith(".md")
    }
    return {TEXTS: texts} if texts else {}


def _find_body(files: VaultFiles, path: str) -> str:
    try:
        return mark_text(files.read(path).text)
    except MemexError:  # not there before, or not where the change puts it
        return ""
