"""The tools that write: save, edit, retire."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from vault_memex.core.patch import parse_patch
from vault_memex.errors import InvalidArgument
from vault_memex.server.read_tools import ALWAYS_LOADED
from vault_memex.server.render import render_write
from vault_memex.server.tool import Answer, ToolSpec, WriteArguments
from vault_memex.services.requests import (
    EditRequest,
    MergeRequest,
    RetireAnswer,
    RetireRequest,
    SaveRequest,
    WriteAnswer,
)
from vault_memex.vault import Vault

LAYER_RULE = (
    "past: something that happened, a record (never edited later; the default when unclear). state: a current plan or "
    "fact that will change. rule: guidance for the assistant, only when the person asked for it."
)


class SaveArguments(WriteArguments):
    """Arguments of `save`."""

    also: ClassVar = {"content": "body", "body_md": "body", "text": "body", "category": "folder", "tag": "tags"}

    title: str = Field(description="Also the file name. At most 500 characters.")
    body: str = Field(description="Markdown. Link people, projects and ideas that have notes as [[Exact Title]].")
    layer: Literal["past", "state", "rule"] = Field(description=LAYER_RULE)
    summary: str = Field("", description="Two or three sentences; at most about 350 characters.")
    tags: list[str] = Field([], description="3-7, from `vocabulary` where they fit.")
    folder: str = Field("", description="By subject, an existing one where it fits; made when absent.")
    properties: dict[str, Any] = Field({}, description="Other frontmatter values.")
    source_url: str = Field("", description="http(s) address the note comes from.")
    amends: str = Field(
        "", description="The note this one amends (any ref); needed to add to a record of the past."
    )
    amend_kind: Literal["continues", "corrects"] = Field(
        "continues", description="corrects: the amended note is wrong; it is then marked superseded."
    )
    memory_type: Literal["", "semantic", "episodic", "procedural", "working", "identity"] = Field(
        "", description="working: what you are at now, best with valid_until; else by layer and tags."
    )
    valid_from: str = Field("", description="Date from which it holds.")
    valid_until: str = Field("", description="Date after which it no longer holds.")
    allow_duplicate: bool = Field(False, description="Save although a note says the same.")
    hold: bool = Field(False, description="Let the person decide whether it stays.")
    change_title: str = Field("", description="One line for journal and commit.")


class EditArguments(WriteArguments):
    """Arguments of `edit`."""

    also: ClassVar = {
        "note_id": "ref",
        "id": "ref",
        "path": "ref",
        "content": "body",
        "body_md": "body",
        "edits": "patch",
        "tag": "tags",
        "category": "folder",
        "revision": "if_revision",
    }

    ref: str = Field(description="Title, path, [[link]] or #number. Must name one note.")
    patch: list[dict[str, Any]] = Field(
        [],
        description='Up to 50 operations, in order, all or none: {"find": "exact text", "replace": "new"} (must occur '
        'once; "count": n for n times; "section" to look only there), {"append": "text"}, {"prepend": "text"}, and '
        'with "section" also {"replace": "text"} (all under the heading; "subsections": false keeps them) and '
        '{"before": "text"}. section is a heading, "## Log" or "Alpha > Log".',
    )
    body: str = Field("", description="The whole new text; needs if_revision. Prefer patch.")
    title: str = Field("", description="A new title; the file is renamed with it.")
    folder: str = Field("", description='Move there; "/" is the root.')
    relink: bool = Field(True, description="On rename or move: update the links of other notes.")
    properties: dict[str, Any] = Field({}, description="Frontmatter values to set; null removes one.")
    tags: list[str] = Field([], description="The whole new list of frontmatter tags.")
    summary: str = Field("", description="A new summary.")
    layer: Literal["", "past", "state", "rule"] = ""
    if_revision: str = Field("", description="The revision you read; refused when the note changed since.")
    allow_shrink: bool = Field(
        False, description="Needed when a note of 200 characters or more would lose over half."
    )
    comment: str = Field(
        "",
        description="Why, for the person who decides. Alone: report that something is outdated; nothing changes.",
    )
    hold: bool = Field(False, description="Propose it: nothing changes until the person approves.")
    change_title: str = Field("", description="One line for journal and commit.")


class RetireArguments(WriteArguments):
    """Arguments of `retire`."""

    also: ClassVar = {
        "note_id": "ref",
        "id": "ref",
        "path": "ref",
        "into_note_id": "into",
        "merged_body_md": "merged_body",
    }

    ref: str = Field(description="Exact title, path or #number of the one note that goes.")
    reason: str = Field(description="Why, in a sentence; kept with the trash.")
    action: Literal["delete", "merge"] = Field(
        "delete",
        description="merge: its tags, names and links go to the note `into`. Always waits for the person.",
    )
    into: str = Field("", description="With merge: the note that stays.")
    merged_body: str = Field(
        "", description="With merge: the whole new text of the note that stays; left out, its text stays as it is."
    )
    hold: bool = Field(False, description="Propose it: the person decides. The only way for a rule.")


def _save(vault: Vault, a: SaveArguments) -> Answer:
    answer = vault.editing.save(
        SaveRequest(
            title=a.title,
            body=a.body,
            layer=a.layer,
            summary=a.summary,
            tags=tuple(a.tags),
            folder=a.folder,
            properties=a.properties,
            source_url=a.source_url,
            amends=a.amends,
            amend_kind=a.amend_kind,
            memory_type=a.memory_type,
            valid_from=a.valid_from,
            valid_until=a.valid_until,
            allow_duplicate=a.allow_duplicate,
            change_title=a.change_title,
            hold=a.hold,
        )
    )
    return Answer(render_write(answer), answer)


def _edit(vault: Vault, a: EditArguments) -> Answer:
    sent = frozenset(a.model_fields_set)
    answer = vault.editing.edit(
        EditRequest(
            ref=a.ref,
            patch=parse_patch(a.patch) if a.patch else (),
            body=a.body if "body" in sent else None,
            title=a.title if "title" in sent else None,
            folder=a.folder if "folder" in sent else None,
            relink=a.relink,
            properties=a.properties,
            tags=tuple(a.tags) if "tags" in sent else None,
            summary=a.summary if "summary" in sent else None,
            layer=a.layer or None,
            if_revision=a.if_revision,
            allow_shrink=a.allow_shrink,
            change_title=a.change_title,
            comment=a.comment,
            hold=a.hold,
        )
    )
    return Answer(render_write(answer), answer)


def _retire(vault: Vault, a: RetireArguments) -> Answer:
    if not a.reason.strip():
        raise InvalidArgument("reason", "reason is empty. Say in a sentence why the note goes.")
    if a.action == "merge":
        merged = a.merged_body if "merged_body" in a.model_fields_set else None
        if not a.into.strip():
            raise InvalidArgument("into", "A merge needs `into`: the note that stays.")
        answer = vault.merging.merge(MergeRequest(a.ref, a.into, a.reason, merged))
    elif a.into or a.merged_body:
        raise InvalidArgument("into", "into and merged_body go with action: merge. Name that, or leave them out.")
    else:
        answer = vault.editing.retire(RetireRequest(a.ref, a.reason, a.hold))
    return Answer(render_write(answer), RetireAnswer.of(answer))


SAVE = ToolSpec(
    name="save",
    title="Save a new note",
    description=(
        "Write a new note. Search first: when a note about it exists, use `edit`. Choose the layer: "
        + LAYER_RULE
        + " "
        "Write for a reader who was not there: who, what, when, why; end with sources when there are any. "
        "A note that says the same already is named instead of saved: edit that one. On a ⚠️ warning, see whether the "
        "named note should have been edited. Hints and flashbacks in the answer are offers: use at most one."
    ),
    arguments=SaveArguments,
    run=_save,
    output=WriteAnswer,
)
EDIT = ToolSpec(
    name="edit",
    title="Change a note",
    description=(
        "Change an existing note: exact text by `patch`, properties, tags, title, folder. Only what you name changes; "
        "every other byte stays. Returns a diff and the new revision. `find` must match exactly as `get` shows it; on "
        "an error nothing was written and the message lists what you can choose from. `outcome: held` means that the "
        "person decides; a second edit of the note goes into the first."
    ),
    arguments=EditArguments,
    run=_edit,
    output=WriteAnswer,
    meta=ALWAYS_LOADED,
)
RETIRE = ToolSpec(
    name="retire",
    title="Delete or merge a note",
    description=(
        "Move a note to the vault's trash (_memex/trash), from where the person can restore it. Needs the exact note "
        "and a reason; the answer names notes that still link to it. When two notes say the same, action: merge "
        "proposes to take one `into` the other, with its links. To correct a fact use `edit`."
    ),
    arguments=RetireArguments,
    run=_retire,
    output=RetireAnswer,
    destructive=True,
)
