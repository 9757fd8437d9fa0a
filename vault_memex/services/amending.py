"""Changing the text of a proposal before it is decided on: what the person does in its file, done for them."""

from __future__ import annotations

from collections.abc import Mapping

from vault_memex.core.changes import Change, WriteFile
from vault_memex.core.text import render_subject
from vault_memex.errors import DoesNotFit
from vault_memex.memory.proposal_file import parse_proposal, plan_amendment
from vault_memex.services.editing import Editing
from vault_memex.services.inbox import DETAIL, InboxFiles
from vault_memex.services.requests import PlannedWrite

OWNER = "owner"


def amend(inbox: InboxFiles, editing: Editing, number: int, texts: Mapping[int, str], seen: str) -> bool:
    """Put other texts into a proposal; return whether any is another one.

    `texts` are by their number in the file; `seen` is the revision of the file that was shown, another one is
    refused. Raises FrontmatterInvalid when a text is no value of its property.
    """

    def plan() -> PlannedWrite | None:
        proposal, file = inbox.get(number)
        if seen != file.revision:
            raise DoesNotFit(f"Proposal {number} changed since it was shown. Look at it again.")
        text = plan_amendment(file.text, texts)
        if text == file.text:
            return None
        parse_proposal(text)  # what could not be read again is not written
        edit = WriteFile(file.path, text.encode("utf-8"), file.revision)
        title = render_subject(f"Amend proposal {number}: {proposal.change_title or proposal.title}")
        return PlannedWrite(
            Change("amended", proposal.path, title, (edit,), OWNER, proposal.note_id), {DETAIL: number}
        )

    return editing.write(plan) is not None
