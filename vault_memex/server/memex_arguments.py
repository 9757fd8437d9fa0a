"""Arguments of the profile `memex`: what callers of memex send, and a few more that may be left out."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from vault_memex.server.read_tools import Text
from vault_memex.server.tool import Arguments
from vault_memex.server.write_tools import LAYER_RULE

Ref = Annotated[int | str, Field(description="The note's number; a title or path will do.")]
SignalType = Literal["", "hidden_arc", "stale_state", "dangling_link", "tag_burst"]


class SaveNote(Arguments):
    """Arguments of `save_note`."""

    also: ClassVar = {"body": "content", "category": "folder", "tag": "tags"}

    title: str = Field(description="Also the file name. At most 500 characters.")
    content: str = Field(
        description="Markdown. Link people, projects and ideas that have notes as [[Exact Title]]."
    )
    layer: Literal["past", "state", "rule"] = Field(description=LAYER_RULE)
    folder: str = Field("", description="By subject, from `list_folders` where one fits; made when absent.")
    tags: list[str] = Field([], description="3-7, from `list_tags` where they fit.")
    source: str = Field("", max_length=200, description="Where the note comes from; kept as a property.")
    amends: int | str = Field("", description="The record that this one continues or corrects.")
    amend_kind: Literal["continues", "corrects"] = "continues"
    allow_duplicate: bool = Field(False, description="Save although a note says the same.")


class SearchNotes(Arguments):
    """Arguments of `search_notes`."""

    also: ClassVar = {"q": "query", "folder": "category", "tags": "tag"}

    query: Text = Field(description="What to look for, in any language.")
    limit: int = Field(10, description="Notes to return, 1-25.")
    category: str = Field("", description="Only this folder: a top-level one, or a path such as projects/boat.")
    tag: str = Field("", description="Only notes with this tag; `a` also matches `a/b`.")
    date_from: str = Field("", description="Created on or after: 2026-04-01, or a moment.")
    date_to: str = Field("", description="Created on or before; a date includes its whole day.")


class ListNotes(Arguments):
    """Arguments of `list_notes`."""

    limit: int = Field(20, ge=1, le=100)


class Nothing(Arguments):
    """No arguments."""


class GetNote(Arguments):
    """Arguments of `get_note`."""

    also: ClassVar = {"ref": "id", "note_id": "id", "title": "id"}

    id: Ref
    offset: int = Field(0, ge=0, description="Go on where a cut answer said.")


class UpdateNote(Arguments):
    """Arguments of `update_note`."""

    also: ClassVar = {"ref": "id", "note_id": "id", "body": "content", "tag": "tags", "revision": "if_revision"}

    id: Ref
    title: str = Field("", description="A new title; the file is renamed with it, links are kept.")
    content: str = Field("", description="The whole new text. Read the note first and keep what stays true.")
    tags: list[str] = Field([], description="The whole new list of tags.")
    if_revision: str = Field("", description="The revision you read; else the one last shown to you.")
    allow_shrink: bool = Field(
        False, description="Needed when a note of 200 characters or more would lose over half."
    )


class DeleteNote(Arguments):
    """Arguments of `delete_note`."""

    also: ClassVar = {"ref": "id", "note_id": "id"}

    id: Ref
    reason: str = Field("", description="Why; kept with the trash.")


class GetSignals(Arguments):
    """Arguments of `get_signals`."""

    type: SignalType = Field("", description="Only signals of this type.")
    status: Literal["new", "snoozed", "dismissed", "minted"] = "new"
    refresh: bool = Field(True, description="Look for new signals first; free when nothing changed.")


class UpdateSignalStatus(Arguments):
    """Arguments of `update_signal_status`."""

    also: ClassVar = {"class": "scope", "signal_id": "id"}

    id: int = Field(description="The signal's number.")
    status: Literal["new", "snoozed", "dismissed"]
    until: str = Field("", description="For snoozed: the day on which it is new again; default in 30 days.")
    scope: Literal["", "note"] = Field("", description="note, with dismissed: all unresolved links of that note.")


class ListInferences(Arguments):
    """Arguments of `list_inferences`."""

    status: Literal["", "active", "stale", "archived"] = Field("", description="Default: all.")


class GetInference(Arguments):
    """Arguments of `get_inference`."""

    also: ClassVar = {"inference_id": "id"}

    id: int = Field(description="The inference's number.")


class MintInference(Arguments):
    """Arguments of `mint_inference`."""

    also: ClassVar = {
        "from_signal": "fromSignalId",
        "evidence": "evidenceNoteIds",
        "model_id": "modelId",
        "prompt_version": "promptVersion",
    }

    # The names that callers of memex send.
    title: str = Field(description="The hypothesis in a sentence.")
    summary: str = Field(description="What follows from what, in the person's language.")
    fromSignalId: int = Field(0, ge=0, description="The signal it comes from; its notes are evidence.")  # noqa: N815
    evidenceNoteIds: list[int | str] = Field([], description="Notes it rests on.")  # noqa: N815
    confidence: float | None = Field(None, description="0 to 1.")
    modelId: str = Field("", max_length=200, description="Who inferred it.")  # noqa: N815
    promptVersion: str = Field("", max_length=200)  # noqa: N815
    confirmed: bool = Field(False, description="true only after the person has agreed.")
