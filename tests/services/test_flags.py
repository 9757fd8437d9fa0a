"""Flags: the person's word on a note, from the command to the journal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenVault
from vault_memex.cli import main
from vault_memex.errors import FlagHasPendingRetire, InvalidArgument, NotFound, RoleRequired, TooLarge
from vault_memex.server.render import render_note
from vault_memex.services.reading import ReadRequest
from vault_memex.services.requests import MergeRequest, RetireRequest
from vault_memex.vault import Vault


@pytest.fixture
def owner(folder: Path, opening: OpenVault) -> Vault:
    (folder / "Stove.md").write_text("# Stove\n\nGas.\n", encoding="utf-8")
    (folder / "Sink.md").write_text("# Sink\n\nDrips.\n", encoding="utf-8")
    return opening(folder, role="owner", connection="owner")


def events(vault: Vault, kind: str) -> list[Any]:
    return [event for event in vault.transactor.stores.journal.read() if event.kind == kind]


def raise_flag(vault: Vault, ref: str = "Stove", comment: str = "Is it still gas?") -> int:
    return vault.upkeep.flags.raise_flag(ref, comment).note_id


def test_a_flag_is_a_file_that_get_shows_above_the_note(owner: Vault) -> None:
    number = raise_flag(owner)

    text = owner.root.joinpath(f"_memex/flags/{number:04d}.md").read_text(encoding="utf-8")
    shown = render_note(owner.reading, "Stove", [], ReadRequest())
    assert text.partition("---\n")[2].endswith("---\nIs it still gas?\n")
    assert "curation_flag, by the person, 2" in shown
    assert shown.index("Is it still gas?") < shown.index("# Stove\n\nGas.")
    assert ["flag_raised"] == [event.kind for event in events(owner, "flag_raised")]
    assert owner.reading.get("Sink", ReadRequest()).curation_flag is None


def test_a_second_word_replaces_the_first_and_keeps_the_age(owner: Vault) -> None:
    number = raise_flag(owner)
    first = owner.upkeep.flags.find()[0]
    raise_flag(owner, comment="It is induction now.")
    raise_flag(owner, f"#{number}", "It is induction now.")  # the same again is nothing new

    assert [("It is induction now.", first.raised)] == [(f.comment, f.raised) for f in owner.upkeep.flags.find()]
    assert 2 == len(events(owner, "flag_raised"))


def test_a_flag_follows_its_note_and_the_oldest_comes_first(owner: Vault) -> None:
    raise_flag(owner, "Stove", "one")
    raise_flag(owner, "Sink", "two")
    owner.root.joinpath("Stove.md").rename(owner.root / "Cooker.md")
    owner.refresh()

    assert [("Cooker.md", "one"), ("Sink.md", "two")] == [(f.path, f.comment) for f in owner.upkeep.flags.find()]


def test_a_file_written_by_hand_is_a_flag_and_taking_it_away_closes_it(owner: Vault) -> None:
    owner.numbering.number_all()
    file = owner.root / "_memex/flags/1.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nraised: yesterday\n: [\n---\nPlease look.\n", encoding="utf-8")
    (file.parent / "about.md").write_text("no flag", encoding="utf-8")

    (flag,) = owner.upkeep.flags.find()
    file.unlink()

    assert (1, "Please look.") == (flag.note_id, flag.comment)
    assert flag.raised[:4].isdecimal()
    assert () == owner.upkeep.flags.find()


def test_a_curator_closes_a_flag_and_the_journal_keeps_what_was_said(owner: Vault, opening: OpenVault) -> None:
    number = raise_flag(owner)
    curator = opening(owner.root, role="curator", connection="tidy")

    closed = curator.upkeep.flags.resolve("Stove", "Asked: it is. Nothing to change.")

    (event,) = events(owner, "flag_resolved")
    assert number == closed.note_id
    assert () == owner.upkeep.flags.find()
    assert not list(owner.root.glob("_memex/flags/*.md"))
    assert ("tidy", "Asked: it is. Nothing to change.", "Is it still gas?") == (
        event.actor,
        event.reason,
        event.details["comment"],
    )


def test_a_flag_stays_while_a_deletion_of_its_note_waits(owner: Vault, opening: OpenVault) -> None:
    raise_flag(owner)
    curator = opening(owner.root, role="curator", connection="tidy")
    held = curator.editing.retire(RetireRequest("Stove", "there is none any more", hold=True))

    with pytest.raises(FlagHasPendingRetire, match=f"delete \\(proposal {held.proposal}\\)") as caught:
        curator.upkeep.flags.resolve("Stove", "deleted")

    assert [held.proposal] == caught.value.fields["proposals"]
    assert 1 == len(owner.upkeep.flags.find())


@pytest.mark.parametrize("flagged", ["Stove", "Sink"])
def test_a_flag_stays_while_a_merge_of_its_note_or_into_it_waits(
    owner: Vault, opening: OpenVault, flagged: str
) -> None:
    raise_flag(owner, flagged)
    curator = opening(owner.root, role="curator", connection="tidy")
    held = curator.merging.merge(MergeRequest("Stove", "Sink", "one kitchen"))

    with pytest.raises(FlagHasPendingRetire, match=f"merge \\(proposal {held.proposal}\\)"):
        curator.upkeep.flags.resolve(flagged, "merged")


def test_only_the_person_flags_and_only_curators_close(owner: Vault, opening: OpenVault) -> None:
    raise_flag(owner)
    agent = opening(owner.root, role="agent", connection="a")
    curator = opening(owner.root, role="curator", connection="c")

    for vault in (agent, curator):
        with pytest.raises(RoleRequired, match="for the person"):
            vault.upkeep.flags.raise_flag("Sink", "x")
    with pytest.raises(RoleRequired) as caught:
        agent.upkeep.flags.resolve("Stove", "x")

    assert "curator" == caught.value.fields["role"]


@pytest.mark.parametrize(
    ("said", "error"), [("", InvalidArgument), ("\u200b \n", InvalidArgument), ("x" * 2001, TooLarge)]
)
def test_a_flag_and_its_answer_say_something_and_not_too_much(
    owner: Vault, said: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        raise_flag(owner, comment=said)
    raise_flag(owner)
    with pytest.raises(error, match="resolution"):
        owner.upkeep.flags.resolve("Stove", said)


def test_a_note_without_a_flag_has_none_to_close(owner: Vault) -> None:
    raise_flag(owner)

    with pytest.raises(NotFound, match=r"Sink\.md has no flag") as caught:
        owner.upkeep.flags.resolve("Sink", "done")

    assert 1 == len(caught.value.fields["flagged"])


def test_the_command_flags_lists_and_closes(owner: Vault, capsys: pytest.CaptureFixture[str]) -> None:
    at = ["--vault", str(owner.root)]

    def run(*words: str) -> object:
        with pytest.raises(SystemExit) as ended:
            main(["flag", *words, *at])
        return ended.value.code

    assert 1 == run()
    assert 0 == run("Stove", "Is it still gas?")
    assert 0 == run()
    assert 0 == run("Stove", "--close", "It is.")
    assert 2 == run("Stove")

    out = capsys.readouterr()
    assert "No note is flagged." in out.out
    assert "flagged: Stove (Stove.md)" in out.out
    assert "Is it still gas?" in out.out.partition("comment")[2]
    assert "closed: Stove (Stove.md)" in out.out
    assert "Write vault-memex flag NOTE" in out.err
