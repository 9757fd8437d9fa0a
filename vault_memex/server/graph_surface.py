"""The knowledge graph beside the tools: as a resource that can be watched, and a prompt that has it used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memex.core.text import render_line
from vault_memex.memory.system_tags import PROFILE, has_tag
from vault_memex.server.tool import GRAPH_URI
from vault_memex.vault import Vault

if TYPE_CHECKING:
    from vault_memex.server.app import MemexServer

NOBODY = "default_user"

_REMEMBER = """\
Remember this person from one conversation to the next, with the knowledge graph of their vault.

1. You are talking with {person}. When that may be somebody else, ask who it is.
2. Before you answer, look up what is known of them with {read}.
3. While you talk, notice what is new: who they are (age, work, place), what they do and care about, how they like \
things said and done, what they are after, and the people and organisations around them, up to three steps away.
4. When something new was said, write it down with {write}: an entity for each person, organisation or event that \
comes up again, relations that tie them to what is there, and each fact as an observation of its own. Correct what is \
no longer true instead of adding beside it.
"""


def add_graph(app: MemexServer, vault: Vault) -> None:
    """Add the resource and the prompt."""

    @app.resource(
        GRAPH_URI,
        name="knowledge-graph",
        title="The knowledge graph",
        description="All entities and relations as JSON, as `read_graph` gives them.",
        mime_type="application/json",
    )
    def knowledge_graph() -> str:
        from vault_memex.server.graph_profile import render_json, view_graph

        return render_json(view_graph(vault.knowledge.read_present()))

    reference = any(spec.name == "search_nodes" for spec in app.listed)

    @app.prompt(
        name="remember-me",
        title="Remember me",
        description="Have the assistant recall what the knowledge graph knows of you, and add what it learns.",
    )
    def remember_me() -> str:
        return render_remember(find_person(vault), reference=reference)


def find_person(vault: Vault) -> str:
    """Return what the person is called: the title of their approved profile note, by its tag, the oldest if several."""
    notes = [n for n in vault.settled().notes.values() if has_tag(n.tags, PROFILE) and not n.pending]
    notes.sort(key=lambda note: (note.created, note.path))
    return render_line(notes[0].title) if notes else NOBODY


def render_remember(person: str, *, reference: bool) -> str:
    """Return the prompt, with the tools that are advertised: the reference server's own, or the unified ones."""
    read = "`search_nodes` and `open_nodes`" if reference else "`graph`"
    write = "`create_entities`, `create_relations` and `add_observations`" if reference else "`graph_edit`"
    return _REMEMBER.format(person=person, read=read, write=write)
