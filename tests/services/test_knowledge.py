"""The knowledge graph in a vault: written as notes, read from notes."""

from __future__ import annotations

import sqlite3
import tempfile
import threading
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import OpenVault
from vault_memex.errors import (
    AmbiguousTitle,
    IndexUnusable,
    InvalidArgument,
    NotFound,
    NotWritable,
    PastImmutable,
    RoleRequired,
)
from vault_memex.memory.knowledge import Observation
from vault_memex.memory.knowledge_graph import Entity, Graph, Relation, Triple
from vault_memex.memory.knowledge_text import Validity
from vault_memex.services.knowledge_requests import GraphEdit, Observed
from vault_memex.vault import Vault, open_vault


def entity(name: str, kind: str = "thing", *texts: str) -> Entity:
    return Entity(name, kind, tuple(map(Observation, texts)))


def related(source: str, kind: str, target: str) -> Relation:
    return Relation(Triple(source, kind, target))


def observed(name: str, *texts: str) -> Observed:
    return Observed(name, tuple(map(Observation, texts)))


def entities_of(graph: Graph) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(e.name, e.type, e.texts) for e in graph.entities]


def triples_of(graph: Graph) -> list[tuple[str, str, str]]:
    return [tuple(r.triple) for r in graph.relations]


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


@pytest.fixture
def vault(folder: Path, opening: OpenVault) -> Vault:
    return opening(folder)


def test_an_entity_is_a_note_that_a_person_can_read(vault: Vault, folder: Path) -> None:
    vault.knowledge.edit(
        GraphEdit(
            entities=(entity("Ada", "person", "likes tea"), entity("Acme Corp", "company")),
            relations=(related("Ada", "works at", "Acme Corp"),),
        )
    )

    text = (folder / "entities/person/Ada.md").read_text(encoding="utf-8")
    head, _, body = text.partition("created: ")
    assert "---\nid: 1\nentity_type: person\nlayer: state\n" == head
    assert "## Observations\n- likes tea\n\n## Relations\n- works at [[Acme Corp]]\n" == body.partition("---\n")[2]
    assert ["entities/company/Acme Corp.md"] == [
        row.path for row in vault.catalogue.find_links("entities/person/Ada.md")
    ]


def test_names_that_differ_only_by_case_get_notes_of_their_own(vault: Vault) -> None:
    vault.knowledge.edit(
        GraphEdit(entities=(entity("Alice"), entity("alice"), entity("Alice"), entity(" Alice ")))
    )
    vault.knowledge.edit(
        GraphEdit(relations=(related("Alice", "knows", "alice"), related("alice", "is", " Alice ")))
    )

    graph = vault.knowledge.read()
    assert ["Alice", "alice", " Alice "] == [e.name for e in graph.entities]
    assert [
        "entities/thing/Alice.md",
        "entities/thing/alice (2).md",
        "entities/thing/Alice (3).md",
    ] == [e.path for e in graph.entities]
    assert [("Alice", "knows", "alice"), ("alice", "is", " Alice ")] == triples_of(graph)


def test_a_note_that_is_no_entity_is_skipped_and_named(vault: Vault, folder: Path) -> None:
    write(folder, "People/Bob.md", "Bob is a plain note.\n")
    vault.refresh()

    done = vault.knowledge.edit(GraphEdit(entities=(entity("Bob"), entity("bob"))))

    assert ("People/Bob.md",) == done.skipped_notes
    assert ["bob"] == [e.name for e in vault.knowledge.read().entities]
    assert "Bob is a plain note.\n" == (folder / "People/Bob.md").read_text(encoding="utf-8")


def test_a_note_becomes_an_entity_by_its_property_and_its_lines_are_read(vault: Vault, folder: Path) -> None:
    write(
        folder,
        "Ada.md",
        "---\nentity_type: person\n---\nProse.\n\n## Observations\n* likes tea\n\n## Relations\n- met [[Bob|him]]\n- in [[Nowhere]]\n",
    )
    write(folder, "Bob.md", "---\nentity_type: person\ntitle: Robert\n---\n")
    vault.refresh()

    graph = vault.knowledge.read()
    assert [("Ada", "person", ("likes tea",)), ("Robert", "person", ())] == entities_of(graph)
    assert [("Ada", "met", "Robert"), ("Ada", "in", "Nowhere")] == triples_of(graph)


def test_a_relation_follows_a_note_that_is_renamed(vault: Vault) -> None:
    vault.knowledge.edit(
        GraphEdit(entities=(entity("Ada"), entity("Bob")), relations=(related("Ada", "knows", "Bob"),))
    )
    from vault_memex.services.requests import EditRequest

    vault.editing.edit(EditRequest(ref="Bob", title="Robert"))

    assert [("Ada", "knows", "Robert")] == triples_of(vault.knowledge.read())


def test_observations_are_added_once_and_all_or_none(vault: Vault) -> None:
    vault.knowledge.edit(GraphEdit(entities=(entity("Ada", "person", "old"),)))

    done = vault.knowledge.edit(
        GraphEdit(observations=(observed("Ada", "old", "new", "new"), observed("Ada", "new")))
    )
    with pytest.raises(NotFound, match="Entity with name Bob not found"):
        vault.knowledge.edit(GraphEdit(observations=(observed("Ada", "lost"), observed("Bob", "x"))))

    assert (observed("Ada", "new"), observed("Ada")) == done.added
    assert [("Ada", "person", ("old", "new"))] == entities_of(vault.knowledge.read())


def test_a_relation_needs_both_of_its_ends_unless_told_otherwise(vault: Vault, folder: Path) -> None:
    vault.knowledge.edit(GraphEdit(entities=(entity("Ada"),)))
    wanted = (related("Ada", "knows", "Ghost"), related("Phantom", "knows", "Spectre: 1/2"))
    with pytest.raises(NotFound, match="Entity with name Ghost not found"):
        vault.knowledge.edit(GraphEdit(relations=wanted))
    assert [] == triples_of(vault.knowledge.read())

    vault.knowledge.edit(GraphEdit(relations=wanted, allow_dangling=True))
    vault.knowledge.edit(GraphEdit(entities=(entity("GHOST"), entity("Ghost"), entity("Phantom"))))

    assert [tuple(r.triple) for r in wanted] == triples_of(vault.knowledge.read())
    assert "- knows [[Ghost]]\n" in (folder / "entities/thing/Ada.md").read_text(encoding="utf-8")
    loose = (folder / "entities/Loose relations.md").read_text(encoding="utf-8")
    assert "- [[Phantom]] knows [[Spectre 1-2|&#;Spectre: 1/2]]\n" in loose


def test_deleting_moves_the_note_to_the_trash_and_takes_relations_along(vault: Vault, folder: Path) -> None:
    write(folder, "Diary.md", "Met [[Bob]] today.\n")
    vault.refresh()
    vault.knowledge.edit(
        GraphEdit(
            entities=(entity("Ada"), entity("Bob")),
            relations=(
                related("Ada", "knows", "Bob"),
                related("Bob", "knows", "Ada"),
                related("Ada", "is", "Ada"),
            ),
        )
    )

    done = vault.knowledge.edit(GraphEdit(delete_entities=("Bob", "Nobody")))

    assert (("Bob",), ("Nobody",), ("entities/thing/Bob.md",)) == (
        done.deleted_entities,
        done.not_found,
        done.trashed,
    )
    graph = vault.knowledge.read()
    assert (["Ada"], [("Ada", "is", "Ada")]) == ([e.name for e in graph.entities], triples_of(graph))
    assert "Met [[Bob]] today.\n" == (folder / "Diary.md").read_text(encoding="utf-8")
    assert ["Bob"] == [stone.title for stone in vault.trash.find_tombstones(waiting_only=True)]


def test_a_note_with_prose_stays_when_its_entity_is_deleted(vault: Vault, folder: Path) -> None:
    prose = "# Ada\n\nShe wrote the first program.\n"
    write(folder, "Ada.md", f"---\nentity_type: person # who\nborn: 1815\n---\n{prose}\n## Observations\n- tea\n")
    vault.refresh()

    done = vault.knowledge.edit(GraphEdit(delete_entities=("Ada",)))

    assert (("Ada.md",), ()) == (done.kept_notes, done.trashed)
    assert f"---\nborn: 1815\n---\n{prose}\n" == (folder / "Ada.md").read_text(encoding="utf-8")
    assert [] == entities_of(vault.knowledge.read())


def test_a_record_of_the_past_keeps_its_lines(vault: Vault, folder: Path) -> None:
    past = "---\nentity_type: person\nlayer: past\n---\n## Relations\n- met [[Bob]]\n"
    write(folder, "Ada.md", past)
    vault.refresh()
    vault.knowledge.edit(GraphEdit(entities=(entity("Bob"),)))

    with pytest.raises(PastImmutable):
        vault.knowledge.edit(GraphEdit(observations=(observed("Bob", "lost"), observed("Ada", "x"))))
    done = vault.knowledge.edit(GraphEdit(delete_entities=("Bob",)))

    assert ("Ada.md",) == done.kept_relations
    assert past == (folder / "Ada.md").read_text(encoding="utf-8")
    assert [("Ada", "met", "Bob")] == triples_of(vault.knowledge.read())


def test_locks_roles_and_namesakes_are_kept(vault: Vault, folder: Path, opening: OpenVault) -> None:
    write(folder, "Ada.md", "---\nentity_type: person\nlocked: true\n---\n")
    write(folder, "a/Bob.md", "---\nentity_type: person\n---\n")
    write(folder, "b/Bob.md", "---\nentity_type: person\n---\n")
    vault.refresh()

    with pytest.raises(NotWritable):
        vault.knowledge.edit(GraphEdit(observations=(observed("Ada", "x"),)))
    with pytest.raises(AmbiguousTitle, match=r"a/Bob\.md, b/Bob\.md"):
        vault.knowledge.edit(GraphEdit(observations=(observed("Bob", "x"),)))
    with pytest.raises(InvalidArgument, match="half of a character"):
        vault.knowledge.edit(GraphEdit(entities=(entity("\ud800"),)))
    with pytest.raises(RoleRequired):
        opening(folder, role="reader").knowledge.edit(GraphEdit(entities=(entity("Eve"),)))


def test_a_call_is_one_write_and_what_changes_nothing_is_none(vault: Vault) -> None:
    made = GraphEdit(
        entities=(entity("Ada", "person", "x"), entity("Bob")), relations=(related("Ada", "knows", "Bob"),)
    )
    vault.knowledge.edit(made)
    before = vault.transactor.stores.journal.read()

    vault.knowledge.edit(made)
    vault.knowledge.edit(GraphEdit(delete_entities=("Nobody",), observations=(observed("Ada", "x"),)))

    assert ["Add Ada, Bob; relate Ada"] == [event.title for event in before]
    assert before == vault.transactor.stores.journal.read()


def test_an_edit_made_outside_a_moment_ago_is_not_lost(vault: Vault, folder: Path) -> None:
    vault.knowledge.edit(GraphEdit(entities=(entity("Ada", "person", "one"),)))
    path = folder / "entities/person/Ada.md"
    path.write_text(path.read_text(encoding="utf-8") + "- two\n\nprose\n", encoding="utf-8")

    done = vault.knowledge.edit(GraphEdit(observations=(observed("Ada", "two", "three"),)))

    assert (observed("Ada", "three"),) == done.added
    assert path.read_text(encoding="utf-8").endswith("- one\n- two\n- three\n\nprose\n")


def test_what_ended_stays_in_the_file(vault: Vault, folder: Path) -> None:
    span = Validity("2026-01-02", "2026-05-01")
    vault.knowledge.edit(
        GraphEdit(
            entities=(Entity("Ada", "person", (Observation("learns", span),)), entity("Club")),
            relations=(Relation(Triple("Ada", "member of", "Club"), span),),
        )
    )

    graph = vault.knowledge.read()
    assert (span, span) == (graph.entities[0].observations[0].validity, graph.relations[0].validity)
    assert "- member of [[Club]] (from 2026-01-02, until 2026-05-01)\n" in (
        folder / "entities/person/Ada.md"
    ).read_text(encoding="utf-8")


# -- the graph in notes equals a plain graph in memory

NAMES = st.sampled_from(
    [
        "A",
        "a",
        " A ",
        "",
        "A/B",
        "A B",
        "A:B",
        "[[A]]",
        "C#",
        "x.md",
        "x",
        "Plain",
        "plain",
        "nick",
        "日本",
        "..",
        "CON",
        "A (2)",
    ]
)
TEXTS = st.sampled_from(["one", "two", "", "# three", "four\nlines", " (until 2020-01-01)", "[[A]]", "- x"])
TYPES = st.sampled_from(["", "person", "a/b", "is [[A]] | b", "knows"])
STEPS = st.one_of(
    st.tuples(st.just("create"), st.lists(st.tuples(NAMES, TYPES, st.lists(TEXTS, max_size=2)), max_size=3)),
    st.tuples(st.just("relate"), st.lists(st.tuples(NAMES, TYPES, NAMES), max_size=3)),
    st.tuples(st.just("observe"), st.lists(st.tuples(NAMES, st.lists(TEXTS, max_size=2)), max_size=2)),
    st.tuples(st.just("unobserve"), st.lists(st.tuples(NAMES, st.lists(TEXTS, max_size=2)), max_size=2)),
    st.tuples(st.just("unrelate"), st.lists(st.tuples(NAMES, TYPES, NAMES), max_size=3)),
    st.tuples(st.just("delete"), st.lists(NAMES, max_size=2)),
)


@dataclass
class Plain:
    """The graph as the reference server keeps it, without repeats."""

    entities: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    relations: list[tuple[str, str, str]] = field(default_factory=list)

    def do(self, step: str, rows: list) -> None:
        getattr(self, f"do_{step}")(rows)

    def do_create(self, rows: list) -> None:
        for name, kind, texts in rows:
            if name != "Plain":  # a note has that name and is no entity
                self.entities.setdefault(name, (kind, list(dict.fromkeys(texts))))

    def do_relate(self, rows: list) -> None:
        self.relations += [row for row in dict.fromkeys(rows) if row not in self.relations]

    def do_observe(self, rows: list) -> None:
        if all(name in self.entities for name, _ in rows):
            for name, texts in rows:
                known = self.entities[name][1]
                known += [text for text in dict.fromkeys(texts) if text not in known]

    def do_unobserve(self, rows: list) -> None:
        for name, texts in rows:
            if name in self.entities:
                kind, known = self.entities[name]
                self.entities[name] = (kind, [text for text in known if text not in texts])

    def do_unrelate(self, rows: list) -> None:
        self.relations = [row for row in self.relations if row not in rows]

    def do_delete(self, names: list) -> None:
        for name in names:
            self.entities.pop(name, None)
        self.relations = [row for row in self.relations if row[0] not in names and row[2] not in names]


def edit_of(step: str, rows: list) -> GraphEdit:
    if step == "create":
        return GraphEdit(entities=tuple(entity(name, kind, *texts) for name, kind, texts in rows))
    if step == "relate":
        return GraphEdit(relations=tuple(related(*row) for row in rows), allow_dangling=True)
    if step == "observe":
        return GraphEdit(observations=tuple(observed(name, *texts) for name, texts in rows))
    if step == "unobserve":
        return GraphEdit(delete_observations=tuple((name, tuple(texts)) for name, texts in rows))
    if step == "unrelate":
        return GraphEdit(delete_relations=tuple(Triple(*row) for row in rows))
    return GraphEdit(delete_entities=tuple(rows))


def check_like_plain(root: Path, steps: list) -> None:
    write(root, "Notes/Plain.md", "---\naliases: [nick]\n---\nNo entity. See [[x]] and [[A]].\n")
    vault = open_vault(root, cache_dir=root.parent / "cache", flags={"model": "none", "connection": "tester"})
    try:
        vault.refresh()
        plain = Plain()
        for step, rows in steps:
            plain.do(step, rows)
            try:
                vault.knowledge.edit(edit_of(step, rows))
            except NotFound:
                assert step == "observe"
            graph = vault.knowledge.read()
            assert [(n, k, tuple(texts)) for n, (k, texts) in plain.entities.items()] == entities_of(graph)
            assert plain.relations == triples_of(graph)
    finally:
        vault.close(patient=False)
    again = open_vault(root, cache_dir=root.parent / "fresh", flags={"model": "none"})
    try:
        again.refresh()
        assert graph == again.knowledge.read()
    finally:
        again.close(patient=False)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, min_size=1, max_size=6))
def test_the_graph_in_notes_equals_one_in_memory_after_any_steps(steps: list) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "vault"
        root.mkdir()
        check_like_plain(root, steps)


def test_a_graph_that_is_not_whole_yet_is_not_spoken_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_memex.index.background.COMPLETE_SECONDS", 0.01)
    write(folder, "Ada.md", "---\nentity_type: person\n---\n")
    vault = open_vault(folder, flags={"model": "none"})
    try:
        with pytest.raises(IndexUnusable, match="not whole yet"):
            vault.knowledge.read()
        with pytest.raises(IndexUnusable, match="not whole yet"):
            vault.knowledge.edit(GraphEdit(entities=(entity("Ada"),)))
        vault.refresh()

        assert ["Ada"] == [e.name for e in vault.knowledge.read().entities]
    finally:
        vault.close(patient=False)


def test_what_could_not_be_read_from_the_index_is_read_at_the_next_look(vault: Vault, folder: Path) -> None:
    vault.knowledge.edit(GraphEdit(entities=(entity("Anna"),)))
    vault.knowledge.read()
    write(folder, "Ben.md", "---\nentity_type: person\n---\n- [fact] He sails.\n")
    vault.refresh()
    with closing(sqlite3.connect(vault.cache / "catalogue.sqlite")) as other:
        other.execute("ALTER TABLE notes RENAME COLUMN graph TO hidden")
        with pytest.raises(sqlite3.OperationalError):
            vault.knowledge.read()
        other.execute("ALTER TABLE notes RENAME COLUMN hidden TO graph")

    assert ["Anna", "Ben"] == sorted(name for name, _, _ in entities_of(vault.knowledge.read()))


def test_the_graph_is_loaded_beside_the_answers_where_it_is_going_to_be_asked_for(
    folder: Path, opening: OpenVault
) -> None:
    (folder / "Ada.md").write_text("---\nentity_type: person\n---\n", encoding="utf-8")
    vault = opening(folder)
    vault.knowledge.start(wanted=True)
    for loader in [thread for thread in threading.enumerate() if thread.name == "knowledge-graph"]:
        loader.join(timeout=10)

    assert vault.knowledge.view.has_entity("Ada")  # which loads nothing
