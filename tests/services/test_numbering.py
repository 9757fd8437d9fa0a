"""Numbers stay with their notes, whatever moves, copies, merges and lost caches do."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import OpenVault
from vault_memex.errors import NotFound
from vault_memex.services.reading import ReadRequest
from vault_memex.services.requests import RetireRequest, SaveRequest
from vault_memex.store.ids import IdLine, render_id_line
from vault_memex.vault import Vault, open_vault

EARLY, LATE = "2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text, encoding="utf-8")


def numbers_of(vault: Vault) -> dict[str, int | None]:
    return {note.path: note.note_id for note in vault.snapshot().notes.values()}


def path_of(vault: Vault, number: int) -> str:
    return vault.reading.get(f"#{number}", ReadRequest()).path


def save(vault: Vault, title: str) -> int | None:
    return vault.editing.save(SaveRequest(title, f"All about {title}.", "state", allow_duplicate=True)).note_id


def lose_cache(vault: Vault) -> None:
    vault.close()
    shutil.rmtree(vault.cache)


def test_a_lost_cache_changes_no_number_of_notes_that_moved_outside(folder: Path, opening: OpenVault) -> None:
    write(folder, "a.md", "alpha")
    write(folder, "b.md", "beta")
    vault = opening(folder)
    save(vault, "Third")
    lose_cache(vault)
    (folder / "deep").mkdir()
    (folder / "a.md").rename(folder / "deep/renamed.md")

    again = opening(folder)

    expected = {"Third.md": 3, "b.md": 2, "deep/renamed.md": 1}
    assert expected == numbers_of(again)  # already before anything is written
    assert 4 == save(again, "Fourth")
    assert expected | {"Fourth.md": 4} == numbers_of(again)
    lose_cache(again)
    assert expected | {"Fourth.md": 4} == numbers_of(opening(folder))


def test_a_copy_made_outside_gets_a_number_of_its_own(folder: Path, opening: OpenVault) -> None:
    vault = opening(folder)
    assert 1 == save(vault, "Plan")
    shutil.copy(folder / "Plan.md", folder / "A copy.md")
    vault.refresh()

    assert {"A copy.md": None, "Plan.md": 1} == numbers_of(vault)
    assert 3 == save(vault, "Other")
    assert {"A copy.md": 2, "Other.md": 3, "Plan.md": 1} == numbers_of(vault)
    assert ("Plan.md", "A copy.md") == (path_of(vault, 1), path_of(vault, 2))
    lose_cache(vault)
    assert {"A copy.md": 2, "Other.md": 3, "Plan.md": 1} == numbers_of(opening(folder))


def test_two_notes_that_say_one_number_before_any_is_kept_get_two(folder: Path, opening: OpenVault) -> None:
    write(folder, "a.md", "---\nid: 7\ncreated: 2026-02-01\n---\nlate")
    write(folder, "b.md", "---\nid: 7\ncreated: 2026-01-01\n---\nearly")
    vault = opening(folder)

    assert {"a.md": None, "b.md": 7} == numbers_of(vault)
    save(vault, "Other")
    assert {"a.md": 8, "b.md": 7, "Other.md": 9} == numbers_of(vault)


def test_numbers_of_two_machines_are_set_right_by_the_next_write(folder: Path, opening: OpenVault) -> None:
    for name in ("early", "late"):
        write(folder, f"{name}.md", name)
    write(folder, ".memex/ids.tsv", "")
    lines = [IdLine(7, "late.md", "h", LATE), IdLine(7, "early.md", "h", EARLY)]
    (folder / ".memex/ids.tsv").write_bytes(b"".join(map(render_id_line, lines)))
    vault = opening(folder)
    assert 9 == save(vault, "Other")

    assert {"early.md": 7, "late.md": 8, "Other.md": 9} == numbers_of(vault)


def test_a_new_note_like_a_deleted_one_does_not_get_its_number(folder: Path, opening: OpenVault) -> None:
    write(folder, "a.md", "from a template")
    vault = opening(folder)
    vault.editing.retire(RetireRequest("a", "done"))
    write(folder, "b.md", "from a template")
    vault.refresh()
    save(vault, "Other")

    assert {"b.md": 2, "Other.md": 3} == numbers_of(vault)
    with pytest.raises(NotFound):
        path_of(vault, 1)


def test_a_number_in_the_trash_is_not_given_again_without_the_list(folder: Path, opening: OpenVault) -> None:
    write(folder, "a.md", "alpha")
    vault = opening(folder)
    vault.editing.retire(RetireRequest("a", "done"))
    (folder / ".memex/ids.tsv").unlink()

    assert 2 == save(vault, "Other")


def test_numbers_that_notes_bring_along_are_kept(folder: Path, opening: OpenVault) -> None:
    for number in range(1, 51):
        write(folder, f"{number}.md", f"---\nid: {number * 10}\n---\n{number}")
    vault = opening(folder)
    with vault.transactor.stores.lock.hold():
        assert 50 == vault.numbering.number_all()
        assert 0 == vault.numbering.number_all()

    assert {f"{n}.md": n * 10 for n in range(1, 51)} == dict(vault.transactor.stores.ids.numbers())


NAMES = st.sampled_from(["a.md", "b.md", "deep/c.md"])
STEPS = st.lists(
    st.tuples(st.just("write"), NAMES, st.sampled_from(["alpha", "beta", "---\nid: 2\n---\ngamma"]))
    | st.tuples(st.just("move"), NAMES, NAMES)
    | st.tuples(st.just("remove"), NAMES, NAMES)
    | st.tuples(st.just("save"), st.sampled_from(["D", "E"]), NAMES),
    min_size=1,
    max_size=8,
)


@settings(max_examples=12)
@given(STEPS)
def test_numbers_that_followed_every_change_are_those_of_a_lost_cache(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("vault")
    vault = open_vault(folder, flags={"model": "none"})
    try:
        for number, (what, one, other) in enumerate(steps):
            if what == "write":
                write(folder, one, f"{other} {number}" if one != "b.md" else other)
            elif what == "save":
                save(vault, f"{one} {number}")
            elif (folder / one).exists() and what == "remove":
                (folder / one).unlink()
            elif (folder / one).exists() and one != other:
                (folder / other).parent.mkdir(exist_ok=True)
                (folder / one).rename(folder / other)
            vault.refresh()
        with closing(
            open_vault(folder, cache_dir=tmp_path_factory.mktemp("cache"), flags={"model": "none"})
        ) as fresh:
            fresh.refresh()

            assert numbers_of(fresh) == numbers_of(vault)
    finally:
        vault.close(patient=False)


def test_a_start_on_which_nothing_changed_reads_no_numbers(folder: Path, opening: OpenVault) -> None:
    write(folder, "a.md", "alpha")
    save(opening(folder), "B")
    read = []
    for _ in range(3):
        with closing(open_vault(folder, flags={"model": "none"})) as vault:
            vault.numbering.load()
            read.append(vault.transactor.stores.ids._stamp is not None)
            assert {"a.md": 1, "B.md": 2} == numbers_of(vault)

    assert [True, False, False] == read


def test_a_file_that_came_back_has_its_number_before_the_next_scan(folder: Path, opening: OpenVault) -> None:
    file = folder / "Plain.md"
    file.write_text("text\n", encoding="utf-8")
    vault = opening(folder, role="owner", connection="owner")
    first = vault.upkeep.flags.raise_flag("Plain", "Is it so?").note_id
    file.unlink()
    vault.refresh()
    file.write_text("text\n", encoding="utf-8")

    assert first == vault.upkeep.flags.raise_flag("Plain", "Is it so again?").note_id


LINES = [f"Line {number} of what the person wrote about the kiln." for number in range(30)]


@pytest.mark.parametrize("committed", [True, False], ids=["git mv", "a plain move"])
def test_a_note_moved_outside_and_edited_keeps_its_number_where_git_knows_it(
    folder: Path, opening: OpenVault, committed: bool
) -> None:
    def git(*arguments: str) -> None:
        named = ("-c", "user.name=Mina", "-c", "user.email=mina@example.org")
        subprocess.run(["git", "-C", str(folder), *named, *arguments], check=True, capture_output=True)

    git("init", "-q")
    write(folder, "a.md", "\n".join(LINES))
    write(folder, "b.md", "Another note, of which nothing is left later on.")
    git("add", ".")
    git("commit", "-q", "-m", "Begin")
    vault = opening(folder)
    save(vault, "Third")
    git("add", ".")
    before = numbers_of(vault)
    (folder / "deep").mkdir()
    git("mv", "a.md", "deep/[new] name.md") if committed else (folder / "a.md").rename(
        folder / "deep/[new] name.md"
    )
    write(folder, "deep/[new] name.md", "\n".join([*LINES[:20], "All new from here."]))
    (folder / "b.md").unlink()
    write(folder, "c.md", "Something that was never here before, in other words.")
    staged = subprocess.run(
        ["git", "-C", str(folder), "status", "--short"], check=True, capture_output=True
    ).stdout
    if committed:
        git("add", "-A")
        git("commit", "-q", "-m", "Move and edit")
    vault.refresh()

    assert before["a.md"] == numbers_of(vault)["deep/[new] name.md"]  # already before anything is written
    assert numbers_of(vault)["c.md"] is None
    if not committed:
        again = subprocess.run(["git", "-C", str(folder), "status", "--short"], check=True, capture_output=True)
        assert staged == again.stdout
    save(vault, "Fourth")
    after = numbers_of(vault)
    assert before["a.md"] == after["deep/[new] name.md"]
    assert after["c.md"] not in {*before.values(), None}
