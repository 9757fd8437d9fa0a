"""A process killed at any step of a write leaves all of the change or nothing, after the next start."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.conftest import put, visible_files
from tests.store.crash_child import NEW, OLD, SCENARIOS, open_plain
from tests.timing import cpu_seconds
from vault_memex.core.changes import Change, WriteFile
from vault_memex.core.revision import revision_of
from vault_memex.store.disk import exchange_names
from vault_memex.store.intents import parse_intent
from vault_memex.store.transaction import Transactor
from vault_memex.store.versions import Versions

CHILD = Path(__file__).with_name("crash_child.py")


def without_temps(vault: Path) -> dict[str, bytes]:
    return {k: v for k, v in visible_files(vault).items() if not k.rpartition("/")[2].startswith(".vmx-")}


def template_of(tmp_path: Path) -> Path:
    template = tmp_path / "template"
    for path, data in (("A.md", OLD), ("Sub/B.md", b"[[A]]\n"), ("Linked.md", OLD), ("Other.md", b"x")):
        put(template, path, data)
    put(template, "Sub/C.md", b"[[A]]\n")
    return template


@pytest.mark.parametrize("scenario", sorted(SCENARIOS))
def test_killed_at_every_step_the_change_is_whole_or_not_there(tmp_path: Path, scenario: str) -> None:
    template, out = template_of(tmp_path), tmp_path / "out"
    out.mkdir()
    done = subprocess.run(
        [sys.executable, str(CHILD), str(template), str(out), scenario],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    killed, status = (int(n) for n in done.stdout.split())
    assert 0 == status, done.stderr
    assert killed >= 5
    old, new = visible_files(template), without_temps(out / str(killed))
    assert old != new

    outcomes = set()
    for k in range(killed + 1):
        vault = out / str(k)
        one = open_plain(vault)
        one.recover()
        now = without_temps(vault)
        journalled = [event.id for event in one.stores.journal.read()]
        outcomes.add(bool(journalled))
        assert now == (new if journalled else old), f"killed at checkpoint {k}"
        assert [] == list((vault / ".memex").glob("pending/*"))
        assert (vault / "Linked.md").samefile(out / f"{k}-other-name")
        assert () == one.recover()
        assert not (vault / "New").exists() or any((vault / "New").iterdir())
    assert {True, False} == outcomes


def crash_between(vault: Path, scenario: str, step: str) -> None:
    """Let a process die in the vault at the first checkpoint of this name."""
    done = subprocess.run(
        [sys.executable, str(CHILD), str(vault), step, scenario, "here"], check=False, timeout=60
    )
    assert -signal.SIGKILL == done.returncode


def test_a_write_by_another_process_settles_the_crash_first(tmp_path: Path) -> None:
    vault = template_of(tmp_path)
    before = visible_files(vault)
    crash_between(vault, "several", "step 2 done")
    assert before != without_temps(vault)

    applied = open_plain(vault).apply(Change("created", "E.md", "t", (WriteFile("E.md", b"e", None),)))

    assert {**before, "E.md": b"e"} == without_temps(vault)
    assert 1 == applied.event.id  # the reversed change was never journalled


def test_a_third_state_is_never_overwritten(tmp_path: Path) -> None:
    vault = template_of(tmp_path)
    crash_between(vault, "several", "step 2 done")
    put(vault, "Sub/B.md", b"the owner's own words")

    (recovered,) = open_plain(vault).recover()

    assert ("reversed", ("Sub/B.md",)) == (recovered.outcome, recovered.third_states)
    assert (b"the owner's own words", OLD) == ((vault / "Sub/B.md").read_bytes(), (vault / "A.md").read_bytes())
    assert [b"[[A]]\n"] == [(vault / path).read_bytes() for path in recovered.conflicts]
    assert "Sub/B (conflict " in recovered.conflicts[0]


def test_what_an_editor_wrote_into_the_displaced_file_becomes_a_conflict_copy(tmp_path: Path) -> None:
    vault = template_of(tmp_path)
    crash_between(vault, "swap", "swapped")
    (kept,) = vault.glob(".vmx-*.tmp")
    kept.write_bytes(b"late words")

    (recovered,) = open_plain(vault).recover()

    assert "finished" == recovered.outcome
    assert NEW == (vault / "A.md").read_bytes()
    assert [b"late words"] == [(vault / path).read_bytes() for path in recovered.conflicts]
    assert [] == list(vault.glob(".vmx-*"))


def test_a_journal_line_whose_file_lost_its_new_name_with_the_power_is_taken_back(tmp_path: Path) -> None:
    vault = template_of(tmp_path)
    open_plain(vault).apply(Change("created", "E.md", "t", (WriteFile("E.md", b"e", None),)))
    before = without_temps(vault)
    crash_between(vault, "swap", "journalled")
    (kept,) = vault.glob(".vmx-*.tmp")
    assert exchange_names(kept, vault / "A.md")
    one = open_plain(vault)

    (recovered,) = one.recover()

    assert "reversed" == recovered.outcome
    assert before == visible_files(vault)
    assert [1] == [event.id for event in one.stores.journal.read()]
    assert 2 == one.apply(SCENARIOS["swap"]).event.id


class Stopped(BaseException):
    pass


def stop_at(wanted: str) -> Callable[[str], None]:
    def stop(step: str) -> None:
        if step == wanted:
            raise Stopped

    return stop


def test_what_a_finished_write_replaced_is_kept_although_its_process_died(tmp_path: Path) -> None:
    vault = template_of(tmp_path)
    number = open_plain(vault).stores.ids.assign([("A.md", revision_of(OLD))], "2026-11-30")[0]
    with pytest.raises(Stopped):
        open_plain(vault, stop_at("journalled")).apply(SCENARIOS["swap"])
    kept = Versions(vault / ".memex" / "history")
    plain = open_plain(vault)
    one = Transactor(replace(plain.stores, versions=kept))

    (recovered,) = one.recover()

    assert "finished" == recovered.outcome
    assert OLD == kept.read(number, recovered.event.id)


@pytest.mark.no_cover
def test_thousands_of_files_of_one_folder_are_reversed_as_fast_as_they_are_written(tmp_path: Path) -> None:
    vault, count = template_of(tmp_path), 1_000
    for number in range(count):
        put(vault, f"Many/{number}.md", b"[[A]] %d\n" % number)
    before = visible_files(vault)
    edits = (
        WriteFile(p, b"[[B]]" + data[5:], revision_of(data)) for p, data in before.items() if p[:5] == "Many/"
    )
    change = Change("changed", "Many/0.md", "t", tuple(edits))
    with pytest.raises(Stopped):
        open_plain(vault, stop_at("journalled")).apply(change)
    for file in (vault / ".memex" / "journal").glob("*"):
        file.unlink()
    (vault / "Many" / "0.md").write_bytes(before["Many/0.md"])  # so that not all is done
    one = open_plain(vault)

    assert 2 > cpu_seconds(one.recover)
    assert before == without_temps(vault)
    assert [] == list((vault / "Many").glob(".vmx-*"))


def test_a_torn_intent_means_nothing_was_done(tmp_path: Path) -> None:
    vault = template_of(tmp_path)
    before = visible_files(vault)
    crash_between(vault, "several", "intent written")
    (file,) = (vault / ".memex/pending").iterdir()
    whole = file.read_bytes()
    assert parse_intent(whole) is not None
    for cut in (0, 1, 31, 32, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:cut])
        assert None is parse_intent(whole[:cut])

        assert () == open_plain(vault).recover()
        assert before == without_temps(vault)


def test_another_machines_intent_is_left_alone(tmp_path: Path) -> None:
    vault = template_of(tmp_path)
    crash_between(vault, "several", "step 2 done")
    now = without_temps(vault)
    one = open_plain(vault)
    one._machine = "another"

    assert () == one.recover()
    assert now == without_temps(vault)
    assert 2 == one.apply(Change("created", "E.md", "t", (WriteFile("E.md", b"e", None),))).event.id


def orphans(vault: Path) -> list[Path]:
    return list(vault.rglob(".vmx-*"))


def age(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setattr("vault_memex.store.displaced.ORPHAN_SECONDS", -seconds)


def test_clean_up_removes_what_is_unchanged_and_keeps_what_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = template_of(tmp_path)
    one = open_plain(vault)
    one.apply(SCENARIOS["swap"])
    (vault / "Sub/.vmx-aaaaaa-new.tmp").write_bytes(b"half a no")
    (vault / "Sub/.vmx-keep.tmp").write_bytes(b"not ours")
    assert 3 == len(orphans(vault))
    assert () == one.clean_up()
    assert 3 == len(orphans(vault))  # younger than ten seconds: another process may be at work

    age(monkeypatch, 60)
    assert () == one.clean_up()
    assert [vault / "Sub/.vmx-keep.tmp"] == orphans(vault)


def test_clean_up_names_the_conflict_copy_after_the_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vault = template_of(tmp_path)
    one = open_plain(vault)
    one.apply(SCENARIOS["swap"])
    orphans(vault)[0].write_bytes(b"late words")
    age(monkeypatch, 60)

    (copy,) = one.clean_up()

    assert copy.startswith("A (conflict ")
    assert b"late words" == (vault / copy).read_bytes()


LOOP = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.store.crash_child import open_plain
from vault_memex.core.changes import Change, WriteFile
from vault_memex.core.revision import revision_of
one = open_plain(Path(sys.argv[1]))
one.recover()
a, b = b"A" * 300_000, b"B" * 200_000
print("ready", flush=True)
while True:
    for old, new in ((a, b), (b, a)):
        if one.stores.files.read("n.md").data == old:
            edits = tuple(WriteFile(p, new, revision_of(old)) for p in ("n.md", "m.md"))
            one.apply(Change("changed", "n.md", "t", edits))
"""


@pytest.mark.slow
def test_killed_at_random_moments_two_notes_stay_whole_and_alike(tmp_path: Path) -> None:
    vault = tmp_path / "v"
    for path in ("n.md", "m.md"):
        put(vault, path, b"A" * 300_000)
    chance = random.Random(7)
    reversed_or_finished = 0
    for _ in range(60):
        child = subprocess.Popen(
            [sys.executable, "-c", LOOP, str(vault), str(Path(__file__).parents[2])], stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(chance.uniform(0.001, 0.05))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        one: Transactor = open_plain(vault)
        reversed_or_finished += len(one.recover())
        assert (vault / "n.md").read_bytes() in (b"A" * 300_000, b"B" * 200_000)
        assert (vault / "n.md").read_bytes() == (vault / "m.md").read_bytes()
        events = one.stores.journal.read()
        assert not events or revision_of((vault / "n.md").read_bytes()) == events[-1].after
        assert [] == list((vault / ".memex").glob("pending/*"))
    assert reversed_or_finished > 0
