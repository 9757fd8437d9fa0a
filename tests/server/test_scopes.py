"""What lies outside the scope of a connection is in no answer of any tool, resource, completion or error.

The notes outside hold a word that no note inside holds. Nothing of what a connection with a scope can ask may bring
it out, and a name that is taken outside is answered as one that nobody has.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.types import ResourceTemplateReference

from tests.meaning_here import MeaningHere
from tests.server.conftest import text_of
from vault_memex.memory.connections import Connection
from vault_memex.server.app import MemexServer, build_server
from vault_memex.server.profiles import PROFILES
from vault_memex.server.tools import ALL_TOOLS, find_callable, find_tools
from vault_memex.services.requests import EditRequest
from vault_memex.session import Session
from vault_memex.store.catalogue import Catalogue
from vault_memex.store.scoped import ScopedCatalogue
from vault_memex.vault import Vault, open_vault

MARK = "qzxvorn"  # of what lies outside
NONE = "qzxvurn"  # as likely a word, that nothing holds
RANDOM = re.compile(r"\[[a-z]{6}\]")  # the marks around contents
INSIDE = {
    "Open/Kiln.md": (
        "---\ntags: [clay, firing]\nsummary: How the kiln is fired\ncreated: 2026-01-05\n---\n# Kiln\n"
        "Glaze celadon at cone six. See [[plain]] and [[Shared]] and [[Nowhere]].\n"
    ),
    "Open/Log.md": "---\nlayer: past\ncreated: 2026-02-01\n---\nFired the kiln, celadon glaze ran. [[Kiln]]\n",
    "Open/Shared.md": "---\naliases: [Common]\n---\nWhat both sides know of glaze. #clay\n",
    "Open/Mina.md": (
        "---\nentity_type: person\n---\n## Observations\n\n- throws porcelain\n\n## Relations\n\n- knows [[Oren]]\n"
    ),
    "Open/Rule.md": "---\nlayer: rule\n---\nAnswer in short sentences.\n",
}
OUTSIDE = {
    f"{MARK} box/plain.md": f"{MARK} celadon glaze kiln, cone six. [[Kiln]] [[Nowhere]] [[{MARK} nowhere]]\n",
    f"{MARK} box/Fix.md": (
        f'---\namends: "[[Kiln]]"\namend_kind: corrects\nlayer: past\n---\nThe kiln of {MARK} is fired at cone ten.\n'
    ),
    f"{MARK} box/Oren.md": (
        f"---\nentity_type: {MARK}\naliases: [Celadon {MARK}]\n---\n## Observations\n\n- glazes {MARK}\n\n"
        f"## Relations\n\n- {MARK} of [[Mina]]\n"
    ),
    f"{MARK} box/Shared.md": (
        f"---\ntags: [{MARK}/tag, clay]\n{MARK}: {MARK}\nsummary: celadon {MARK}\ncreated: 2025-01-05\n"
        f"former_titles: [Kiln {MARK}]\n---\n# {MARK} heading\nGlaze celadon at cone six, as {MARK} says.\n"
    ),
    f"{MARK} box/{MARK} kiln.md": f"---\nlayer: state\n---\nGlaze celadon at cone six. See {MARK}. #clay\n",
    f"{MARK} box/Way.md": f"---\nslug: {MARK}\ntags: [skill]\nsummary: About {MARK}.\n---\nBegin with {MARK}.\n",
    f"{MARK} box/Rule.md": f"---\nlayer: rule\n---\nSpeak of {MARK}.\n",
}
READS: Mapping[str, list[dict[str, Any]]] = {
    "search": [
        {},
        {"query": "celadon glaze", "explain": True},
        {"query": "celadon", "mode": "strict", "explain": True},
        {"query": "celadon OR kiln", "mode": "exact"},
        {"query": "NOT porcelain", "mode": "exact", "limit": 25},
        {"query": "plain"},
        {"tags": ["clay"], "order": "created_asc"},
        {"query": "kiln", "folder": "Nope", "path_filter": "%"},
        {"path_filter": "%", "limit": 25},
    ],
    "get": [
        *({"ref": f"#{number}"} for number in range(1, 16)),
        *(
            {"ref": ref, "depth": 2}
            for ref in ("Kiln", "Shared", "Mina", "plain", "Oren", "Fix", "Common", "Rule")
        ),
        {"refs": ["Kiln", "Fix", "nothing"]},
    ],
    "recall": [
        {"query": "celadon glaze", "explain": True},
        {"query": "kiln", "max_tokens": 2000},
        {"query": "plain"},
    ],
    "vocabulary": [{"kind": kind} for kind in ("all", "tags", "folders", "properties", "types")],
    "changes": [{"since": "2020-01-01"}, {"since": "2020-01-01", "ref": "Kiln"}, {"ref": "plain"}],
    "status": [{}, {"view": "inbox", "max_chars": 2000}],
    "curation": [
        {},
        {"limit": 100, "offset": 0, "include_pending": True},
        {"view": "enrichment", "limit": 100},
        {"view": "blast_radius", "since_days": 365, "limit": 100},
        {"view": "blast_radius", "refs": ["plain"]},
        {"view": "duplicates"},
        {"view": "last_curated"},
        {"view": "last_curated", "refs": ["Kiln", "plain", "Fix"]},
    ],
    "skills": [{}, {"slug": "guide"}, {"slug": "way"}],
    "insights": [
        {"kind": "signals", "status": "all"},
        *({"kind": "signals", "id": number} for number in range(1, 8)),
        {"kind": "inferences"},
        *({"kind": "inferences", "id": number} for number in range(1, 4)),
    ],
    "graph": [
        {},
        {"query": "glaze"},
        {"names": ["Mina", "Oren"]},
        {"query": "porcelain"},
        {"entity_type": "person"},
    ],
    "search_notes": [{"query": "celadon"}, {"query": "celadon", "tag": "clay"}],
    "get_note": [{"id": number} for number in range(1, 16)],
    "list_notes": [{"limit": 25}],
    "list_tags": [{}],
    "list_folders": [{}],
    "get_signals": [{}],
    "list_inferences": [{}],
    "get_inference": [{"id": 1}, {"id": 2}],
    "read_graph": [{}],
    "search_nodes": [{"query": "glaze"}, {"query": "throws"}],
    "open_nodes": [{"names": ["Mina", "Oren"]}],
    "search_memory": [{"query": "celadon"}, {"query": "kiln", "explain": True}],
    "recent_changes": [{"since": "2020-01-01"}],
    "inbox": [{"max_chars": 2000}],
    "list_properties": [{}],
    "needs_enrichment": [{"limit": 100}],
    "curation_candidates": [{"limit": 100, "offset": 0}, {"limit": 100, "include_pending": True}],
    "blast_radius": [{"since_days": 365}, {"note_ids": ["plain"]}],
    "last_curated": [{}, {"note_ids": ["Kiln", "plain"]}],
    "log_recent": [{}, {"note_id": "Kiln"}, {"kind": "submitted"}],
    "list_skills": [{}],
    "get_skill": [{"slug": "writing"}, {"slug": "way"}],
    "health": [{}],
    "duplicate_candidates": [{"max_distance": 1.5, "include_pending": True, "limit": 100}],
    "recall_context": [{"query": "celadon", "output_json": True}, {"query": "plain"}],
}
WRITES: list[tuple[str, dict[str, Any]]] = [
    ("edit", {"ref": "plain", "patch": [{"append": "x"}]}),
    ("edit", {"ref": "Oren", "patch": [{"append": "x"}]}),
    ("edit", {"ref": "Shared", "patch": [{"find": "no such text", "replace": "y"}]}),
    ("edit", {"ref": "Kiln", "title": "Oven"}),
    ("edit", {"ref": "#8", "patch": [{"append": "x"}]}),
    ("retire", {"ref": "Fix", "reason": "a test"}),
    ("retire", {"ref": "Log", "action": "merge", "into": "Shared", "reason": "a test"}),
    ("forget", {"target": "plain", "reason": "a test"}),
    ("insight_decide", {"action": "dismiss", "id": 99}),
    ("graph_edit", {"entities": [{"name": "Oren", "entityType": "person", "observations": []}]}),
]


def make_vault(root: Path) -> Path:
    for path, text in {**INSIDE, **OUTSIDE}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    git = ("git", "-C", str(root), "-c", "user.name=Mina", "-c", "user.email=mina@example.org")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", f"Begin with {MARK}"], check=True)
    (root / f"{MARK} box/late.md").write_text(f"Not committed: {MARK} celadon\n", encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    root = make_vault(tmp_path_factory.mktemp("scopes") / "vault")
    cache = tmp_path_factory.mktemp("cache")
    vault = open_vault(
        root, cache_dir=cache, flags={"role": "owner", "connection": "owner"}, build_meaning=MeaningHere
    )
    vault.refresh()
    vault.number_notes()
    assert isinstance(vault.meaning, MeaningHere)
    vault.meaning.embed_all()
    vault.signals.find()
    mint = {"title": f"About {MARK}", "summary": f"They {MARK}.", "confirmed": True}
    everybody = serve(vault)
    ask(everybody, "insight_decide", {"action": "mint", **mint, "evidence": ["Kiln", f"{MARK} kiln"]})
    ask(
        everybody,
        "insight_decide",
        {"action": "mint", **mint, "title": "Inside", "summary": "x", "evidence": ["Kiln"]},
    )
    revision = vault.snapshot().notes[f"{MARK} box/plain.md"].revision
    whole_text = {
        "ref": f"{MARK} box/plain.md",
        "body": f"Other {MARK} text, long enough to stay.",
        "if_revision": revision,
    }
    assert "Waiting for approval" in ask(everybody, "edit", whole_text)
    yield vault
    vault.close(patient=False)


def serve(vault: Vault, *scopes: str, role: Any = "curator", tools: str = "full") -> MemexServer:
    session = Session(vault, Connection("guest" if scopes else "everybody", role, scopes))
    listed = find_tools(tools, role)
    return build_server(session, listed, find_callable(role, listed))


@pytest.fixture(scope="module")
def server(whole: Vault) -> MemexServer:
    return serve(whole, "Open")


def ask(server: MemexServer, tool: str, arguments: Mapping[str, Any]) -> str:
    result = anyio.run(server.call_tool, tool, dict(arguments))
    return f"{text_of(result)}\n{json.dumps(result.structured_content, ensure_ascii=False)}"


def test_every_reading_tool_is_asked() -> None:
    reading = {spec.name for specs in (ALL_TOOLS, *PROFILES.values()) for spec in specs if spec.read_only}

    assert reading == set(READS)


def test_the_word_is_there_for_whoever_sees_all(whole: Vault) -> None:
    all_of_it = serve(whole)
    silent = {
        name for name, calls in READS.items() if not any(MARK in ask(all_of_it, name, call) for call in calls)
    }

    # One counts and names no note; to the other nothing changed yet around a note.
    assert {"health", "blast_radius"} == silent


@pytest.mark.parametrize("tool", sorted(READS))
def test_no_answer_of_a_reading_tool_holds_what_lies_outside(server: MemexServer, tool: str) -> None:
    for call in READS[tool]:
        assert MARK not in ask(server, tool, call), call


def test_so_does_none_of_a_tool_of_a_profile_that_is_called_as_one_of_ours(whole: Vault) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "celadon", "limit": 25}),
        ("search", {"query": "NOT porcelain", "limit": 25}),
        ("search", {"limit": 25}),
        *(("get", {"id": number}) for number in range(1, 16)),
        *(("get", {"title": title, "depth": 2}) for title in ("Kiln", "Shared", "Mina", "plain", "Common")),
    ]
    everybody, guest = (serve(whole, *scopes, tools="memex-tools") for scopes in ((), ("Open",)))

    assert {"search", "get"} == {tool for tool, call in calls if MARK in ask(everybody, tool, call)}
    assert [] == [(tool, call) for tool, call in calls if MARK in ask(guest, tool, call)]


@pytest.mark.parametrize(("tool", "call"), WRITES)
def test_no_refusal_of_a_writing_tool_holds_what_lies_outside(
    server: MemexServer, tool: str, call: dict[str, Any]
) -> None:
    assert MARK not in ask(server, tool, call)


@pytest.mark.parametrize(
    "call",
    [
        *(("get", {"ref": f"{{}}{rest}"}) for rest in (" kiln", " box/plain.md", " box/late.md", "")),
        ("search", {"query": "{} kiln"}),
        ("search", {"query": "{}", "mode": "strict"}),
        ("search", {"query": '"as {} says"', "mode": "exact"}),
        ("search", {"tags": ["{}/tag"], "folder": "{} box"}),
        ("search", {"properties": {"{}": "{}"}}),
        ("search", {"path_filter": "{}%"}),
        ("recall", {"query": "{}"}),
        ("skills", {"slug": "{}"}),
        ("graph", {"query": "{}"}),
        ("graph", {"entity_type": "{}"}),
        ("open_nodes", {"names": ["{}"]}),
        ("changes", {"ref": "{} kiln"}),
        ("edit", {"ref": "{} kiln", "patch": [{"append": "x"}]}),
        ("edit", {"ref": "Kiln", "folder": "{} box", "relink": False}),
        ("save", {"title": "plain", "folder": "{} box", "body": "x", "layer": "state"}),
        ("retire", {"ref": "{} box/Fix.md", "reason": "a test"}),
        ("retire", {"ref": "Kiln", "action": "merge", "into": "{} box/Fix.md", "reason": "a test"}),
        ("save", {"title": "New", "folder": "Open", "body": "x", "layer": "past", "amends": "{} kiln"}),
    ],
    ids=lambda call: f"{call[0]} {json.dumps(call[1])}"[:60],
)
def test_a_name_that_is_taken_outside_is_answered_as_one_that_nobody_has(
    server: MemexServer, call: tuple[str, dict[str, Any]]
) -> None:
    tool, arguments = call
    there, nowhere = (
        RANDOM.sub("", ask(server, tool, json.loads(json.dumps(arguments).replace("{}", word)))).replace(
            word, "WORD"
        )
        for word in (MARK, NONE)
    )

    assert nowhere == there


WORDS = st.sampled_from(
    ["celadon", "glaze", "kiln", "cone", "ten", "says", "plain", "Oren", "fix", "qzx", "#clay", "-log"]
)


@given(st.lists(WORDS, max_size=4), st.sampled_from(["hybrid", "exact", "strict"]), st.booleans())
def test_no_query_brings_it_out(server: MemexServer, words: list[str], mode: str, explain: bool) -> None:
    query = " ".join(words)
    if mode == "strict" and not query:
        return
    answer = ask(server, "search", {"query": query, "mode": mode, "explain": explain, "limit": 25})

    assert MARK not in answer
    assert MARK not in ask(server, "recall", {"query": query or "kiln", "max_tokens": 3000})


@pytest.fixture(params=["auto", "legacy"])
async def client(request: pytest.FixtureRequest, server: MemexServer) -> AsyncIterator[Client]:
    async with Client(server, mode=request.param) as connected:
        yield connected


@pytest.mark.anyio
async def test_nothing_else_that_a_client_can_ask_holds_it(whole: Vault) -> None:
    session = Session(whole, Connection("guest", "agent", ("Open",)))
    session.close = lambda *, patient=True: None  # type: ignore[method-assign]  # the vault goes on
    session.start = lambda delay=0.0, *, graph=False: None  # type: ignore[method-assign]
    listed = find_tools("full", "agent")
    async with Client(build_server(session, listed, find_callable("agent", listed))) as client:
        said = [client.instructions or ""]
        said += [str(await client.list_resources()), str(await client.list_resource_templates())]
        said += [str(await client.read_resource(uri)) for uri in ("vault://rules", "memory://knowledge-graph")]
        said.append(str(await client.get_prompt("house-rules")))
        said += [str(await client.list_prompts()), str(await client.list_tools())]
        template = ResourceTemplateReference(type="ref/resource", uri="vault://notes/{+path}")
        for typed in ("", "q", "pl", "Sh", MARK[:3]):
            said.append(str(await client.complete(template, {"name": "path", "value": typed})))
        inside = await client.read_resource("vault://notes/Open/Kiln.md")
        with pytest.raises(Exception, match="No note 'plain'") as refused:
            await client.read_resource("vault://notes/plain")

    assert "short sentences" in said[0]
    assert "cone six" in str(inside)
    assert [] == [text for text in (*said, str(refused.value)) if MARK in text]


def test_a_note_inside_can_be_written_and_none_outside(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault")
    vault = open_vault(root, flags={"model": "none", "role": "owner"})
    try:
        vault.refresh()
        guest = serve(vault, "Open/**")
        before = {path: (root / path).read_bytes() for path in OUTSIDE}
        saved = ask(
            guest,
            "save",
            {
                "title": "New",
                "folder": "Open/deep",
                "body": OUTSIDE[f"{MARK} box/plain.md"].replace(MARK, "x"),
                "layer": "state",
            },
        )
        moved = ask(guest, "edit", {"ref": "Kiln", "title": "Oven"})
        moved_alone = ask(guest, "edit", {"ref": "Kiln", "folder": "Open/deep"})
        refused = [
            ask(guest, "save", {"title": "New", "body": "x", "layer": "state"}),
            ask(guest, "edit", {"ref": "Log", "folder": "Elsewhere"}),
            ask(
                guest,
                "graph_edit",
                {"entities": [{"name": "Ada", "entityType": "person", "observations": []}]},
            ),
        ]

        assert saved.startswith("Saved note")
        assert moved.startswith("FORBIDDEN: Links in notes that this connection does not see would have to follow")
        assert "Open/deep/Kiln.md" in moved_alone
        assert ["FORBIDDEN: This connection sees and writes only Open/**."] * 3 == [text[:56] for text in refused]
        assert before == {path: (root / path).read_bytes() for path in OUTSIDE}
        assert not (root / "New.md").exists()
        assert not (root / "entities").exists()
    finally:
        vault.close(patient=False)


HARMLESS = {  # of a catalogue: nothing that a service reads through it tells of single notes
    *(
        "open",
        "close",
        "forget",
        "revision",
        "is_complete",
        "mark_complete",
        "signatures",
        "get_signatures",
        "find_racy",
    ),
    *("apply", "announce", "set_git_times", "set_note_ids", "find_common", "find_unembedded", "find_hashes"),
    *("count_embedded", "mark_embedded", "set_embedded", "get_state", "set_state"),
    "find_sources",  # a rename has to know that links stand elsewhere; it is refused then
}


def test_every_way_to_read_the_catalogue_is_narrowed_or_known_to_be_harmless() -> None:
    public = {name for name in vars(Catalogue) if not name.startswith("_")}
    narrowed = {name for name in vars(ScopedCatalogue) if not name.startswith("_")}

    assert public == narrowed | HARMLESS
    assert set() == narrowed & HARMLESS


def test_what_is_proposed_for_a_note_that_was_moved_out_of_the_scope_is_not_shown(tmp_path: Path) -> None:
    root = make_vault(tmp_path / "vault")
    vault = open_vault(root, flags={"model": "none", "role": "owner", "connection": "owner"})
    try:
        vault.refresh()
        guest = serve(vault, "Open")
        ask(guest, "edit", {"ref": "Kiln", "patch": [{"append": "Proposed."}], "hold": True})
        outside = {"ref": f"{MARK} box/plain.md", "patch": [{"append": "Proposed."}], "hold": True}
        assert "proposal 2" in ask(serve(vault), "edit", outside)
        before = ask(guest, "status", {"view": "inbox"})
        vault.editing.edit(EditRequest("Kiln", folder="Shut"))
        after = ask(guest, "status", {"view": "inbox"})

        assert "Open/Kiln.md" in before
        assert "Kiln" not in after
        assert [2, 0] == [text.count('"proposals": 1') for text in (before, after)]  # in all, and in the inbox
    finally:
        vault.close(patient=False)
