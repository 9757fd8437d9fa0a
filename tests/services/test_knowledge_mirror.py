"""The file of the reference memory server beside a vault: taken in, mirrored, never thinned out."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenVault, shared
from vault_memex.errors import InvalidArgument, MemexError
from vault_memex.memory.knowledge import Observation
from vault_memex.memory.knowledge_graph import Entity, Graph, Relation, Triple
from vault_memex.memory.memory_file import parse_memory_file, render_memory_file
from vault_memex.server.graph_profile import TOOLS
from vault_memex.services.knowledge_requests import GraphEdit
from vault_memex.store.memory_file import find_memory_file

ADA = '{"type":"entity","name":"Ada","entityType":"person","observations":["tea"]}\n'
KNOWS = '{"type":"relation","from":"Ada","to":"Bob","relationType":"knows"}\n'
BOB = Entity("Bob", "person")


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMORY_FILE_PATH", str(tmp_path / "memory.jsonl"))
    return tmp_path / "memory.jsonl"


def names(graph: Graph) -> list[str]:
    return [entity.name for entity in graph.entities]


def test_what_the_vault_lacks_is_taken_in_and_every_write_is_mirrored(
    folder: Path, file: Path, opening: OpenVault
) -> None:
    file.write_text(ADA + KNOWS, encoding="utf-8")
    vault = opening(folder)

    assert ["Ada"] == names(vault.knowledge.read())
    vault.knowledge.edit(GraphEdit(entities=(BOB,)))
    vault.knowledge.flush()

    bob = '{"type":"entity","name":"Bob","entityType":"person","observations":[]}\n'
    assert ADA + bob + KNOWS == file.read_text(encoding="utf-8")
    assert (folder / "entities/person/Ada.md").exists()


def test_lines_and_keys_that_are_not_ours_are_kept(folder: Path, file: Path, opening: OpenVault) -> None:
    extra = '{"type":"entity","name":"Eve","entityType":"spy","observations":[],"age":7}'
    bad = ["{broken", '{"type":"note","x":1}', '{"type":"entity","name":5}', "[1]"]
    file.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([extra, *bad, KNOWS.strip() + ADA.strip(), ""]).encode())
    vault = opening(folder)

    faults = vault.knowledge.take_in()
    vault.knowledge.edit(GraphEdit(entities=(BOB,)))
    vault.knowledge.flush()

    assert ["line 2 is no JSON", *(f"line {n} is neither an entity nor a relation" for n in (3, 4, 5))] == list(
        faults
    )
    lines = file.read_text(encoding="utf-8").splitlines()
    assert (extra, bad) == (lines[0], lines[-4:])
    assert ["Eve", "Ada", "Bob"] == names(vault.knowledge.read())


def test_a_name_that_no_note_can_hold_stays_in_the_file_and_is_reported(
    folder: Path, file: Path, opening: OpenVault
) -> None:
    long = ADA.replace("Ada", "A" * 300_000)
    file.write_text(long + ADA, encoding="utf-8")
    vault = opening(folder)

    assert ("line 1 has a name that is too long",) == vault.knowledge.take_in()
    vault.knowledge.edit(GraphEdit(entities=(BOB,)))
    vault.knowledge.flush()

    assert ["Ada", "Bob"] == names(vault.knowledge.read())
    assert long in file.read_text(encoding="utf-8")


def test_what_another_program_added_meanwhile_is_taken_in_and_what_was_deleted_stays_so(
    folder: Path, file: Path, opening: OpenVault
) -> None:
    vault = opening(folder)
    vault.knowledge.edit(GraphEdit(entities=(BOB,)))
    vault.knowledge.flush()
    with file.open("a", encoding="utf-8") as more:
        more.write(ADA)

    vault.knowledge.edit(GraphEdit(delete_entities=("Bob",)))
    vault.knowledge.flush()

    assert ADA == file.read_text(encoding="utf-8")
    assert ["Ada"] == names(vault.knowledge.read())


def test_a_note_deleted_by_hand_does_not_come_back(folder: Path, file: Path, opening: OpenVault) -> None:
    vault = opening(folder)
    vault.knowledge.edit(GraphEdit(entities=(BOB,)))
    vault.close(patient=False)
    (folder / "entities/person/Bob.md").unlink()

    assert [] == names(opening(folder).knowledge.read())


def test_a_link_stays_one(folder: Path, file: Path, opening: OpenVault, tmp_path: Path) -> None:
    real = tmp_path / "elsewhere" / "graph.json"
    file.symlink_to(real)

    knowledge = opening(folder).knowledge
    knowledge.edit(GraphEdit(entities=(BOB,)))
    knowledge.flush()

    assert file.is_symlink()
    assert '"Bob"' in real.read_text(encoding="utf-8")


def test_a_mirror_that_cannot_be_written_is_told_and_the_notes_are_written(
    folder: Path, file: Path, opening: OpenVault
) -> None:
    file.symlink_to(folder.parent / "missing" / ".." / "vault")  # not there to read, a folder to write

    done = opening(folder).knowledge.edit(GraphEdit(entities=(BOB,)))

    assert ["The notes are written"] == [note.partition(",")[0] for note in done.notes]
    assert (folder / "entities/person/Bob.md").exists()


def test_what_an_ordinary_note_keeps_from_being_an_entity_stays_in_the_file(
    folder: Path, file: Path, opening: OpenVault
) -> None:
    file.write_text(ADA, encoding="utf-8")
    (folder / "Ada.md").write_text("An ordinary note.\n", encoding="utf-8")
    vault = opening(folder)

    for entity in (BOB, Entity("Cleo", "person")):
        vault.knowledge.edit(GraphEdit(entities=(entity,)))
        vault.knowledge.flush()

    assert ["Bob", "Cleo"] == names(vault.knowledge.read())
    read = parse_memory_file(file.read_text(encoding="utf-8"))
    assert [("Bob", ()), ("Cleo", ()), ("Ada", ("tea",))] == [(e.name, e.texts) for e in read.graph.entities]


def test_what_the_file_missed_is_written_at_the_next_start(folder: Path, file: Path, opening: OpenVault) -> None:
    vault = opening(folder)
    vault.knowledge.edit(GraphEdit(entities=(BOB,)))
    vault.close(patient=False)
    note = folder / "entities/person/Bob.md"
    note.write_text(note.read_text(encoding="utf-8") + "## Observations\n- rows\n", encoding="utf-8")

    again = opening(folder)
    again.knowledge.start()
    for loader in [thread for thread in threading.enumerate() if thread.name == "knowledge-graph"]:
        loader.join(timeout=10)
    again.knowledge.flush()

    (entity,) = parse_memory_file(file.read_text(encoding="utf-8")).graph.entities
    assert ("rows",) == entity.texts


def test_the_path_is_relative_to_the_vault_and_never_a_note(tmp_path: Path) -> None:
    assert find_memory_file(tmp_path, {}) is None
    assert tmp_path / "m.json" == find_memory_file(tmp_path, {"MEMORY_FILE_PATH": "m.json"})
    assert Path.home() / "m.json" == find_memory_file(tmp_path, {"MEMORY_FILE_PATH": "~/m.json"})
    with pytest.raises(InvalidArgument, match="would be a note"):
        find_memory_file(tmp_path, {"MEMORY_FILE_PATH": "m.md"})


@pytest.mark.parametrize(
    "named", [".memex/config.toml", "_memex/trash/x.json", "a/../_MEMEX/x.json", "a/.git/x.json"]
)
def test_the_path_is_none_of_the_files_of_a_program(tmp_path: Path, named: str) -> None:
    with pytest.raises(InvalidArgument, match="own files"):
        find_memory_file(tmp_path, {"MEMORY_FILE_PATH": named})


def test_the_path_is_of_a_home_that_exists(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="Write the whole path"):
        find_memory_file(tmp_path, {"MEMORY_FILE_PATH": "~nosuchuser/x.json"})


def test_what_is_no_file_is_refused_before_anything_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "loop.json").symlink_to("loop.json")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "file.json").touch()

    for named in ("pipe.json", "loop.json", "folder.json", "file.json/x.json"):
        with pytest.raises(InvalidArgument, match=r"Name a \.json or \.jsonl file"):
            find_memory_file(tmp_path, {"MEMORY_FILE_PATH": named})
    assert tmp_path / "file.json" == find_memory_file(tmp_path, {"MEMORY_FILE_PATH": "file.json"})


def test_the_single_object_of_early_versions_is_read() -> None:
    old = {
        "entities": [{"name": "Ada", "entityType": "person", "observations": ["tea"]}, {"name": 1}],
        "relations": [{"from": "Ada", "to": "Bob", "relationType": "knows"}],
    }

    read = parse_memory_file(json.dumps(old, indent=2))

    assert parse_memory_file(ADA + KNOWS).graph == read.graph
    assert ("entities[1] is neither an entity nor a relation",) == read.faults


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
GRAPHS = st.builds(
    lambda entities, triples: Graph(
        tuple(Entity(n, k, tuple(map(Observation, t))) for n, (k, t) in entities.items()),
        tuple(Relation(Triple(*t)) for t in dict.fromkeys(triples)),
    ),
    st.dictionaries(TEXTS, st.tuples(TEXTS, st.lists(TEXTS, max_size=2)), max_size=3),
    st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=3),
)


@given(GRAPHS)
def test_a_file_that_was_written_is_read_as_it_was(graph: Graph) -> None:
    read = parse_memory_file(render_memory_file(graph))

    assert (graph, ()) == (read.graph, read.faults)


@given(GRAPHS, st.text(max_size=30))
def test_nothing_of_a_file_is_lost_by_writing_it_again(graph: Graph, junk: str) -> None:
    first = parse_memory_file(render_memory_file(graph) + junk.replace("\n", " "))
    text = render_memory_file(first.graph, first.extras, first.foreign)

    again = parse_memory_file(text)
    assert text == render_memory_file(again.graph, again.extras, again.foreign)
    assert set(first.foreign) <= set(text.split("\n"))


def steps_with_files() -> Iterator[tuple[dict[str, Any], str | None]]:
    for step in json.loads(shared("cases/kg_golden.json").read_text(encoding="utf-8")):
        yield step, step.get("file_after")


def test_the_mirror_is_the_file_that_the_reference_writes(folder: Path, file: Path, opening: OpenVault) -> None:
    vault = opening(folder)
    tools = {tool.name: tool for tool in TOOLS}
    compared = 0
    for step, wanted in steps_with_files():
        tool = tools.get(step["tool"])
        try:
            if tool is not None:
                tool.run(vault, tool.parse_arguments(step["arguments"]))
        except MemexError:
            assert step["result"].get("isError")
        if wanted:
            compared += 1
            vault.knowledge.flush()
            assert wanted == file.read_text(encoding="utf-8").removesuffix("\n"), step["step"]

    assert compared >= 8
