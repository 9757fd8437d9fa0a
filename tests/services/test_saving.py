"""What a save is told: duplicates before it, hints and flashbacks after it. With vectors and without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenVault
from tests.meaning_here import MeaningHere
from tests.memory import notes
from tests.services.test_standing import write
from vault_memex.core.patch import parse_patch, plan_patch
from vault_memex.errors import DuplicateSuspected
from vault_memex.index.meaning import MeaningBusy
from vault_memex.memory.hints import LinkHint, TitleIndex, find_link_hints
from vault_memex.services.requests import EditRequest, SaveRequest, WriteAnswer, WriteHints
from vault_memex.vault import Vault, open_vault

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
KILN = (
    "The kiln tripped its breaker twice while the lid element was heating. Jisoo measured the element and found one "
    "leg open, so the new contactor was never the fault. We ordered two elements from the maker in Leipzig and fire "
    "with the lower zone alone until they come, which takes nine hours instead of six."
)
BREAD = "Rye bread rises slowly in the cold pantry; leave it over night and bake it in the morning."


class Opened:
    """Opens vaults on a fixed day, with or without vectors."""

    def __init__(self, *, meaning: bool) -> None:
        self.meaning = meaning
        self.vaults: list[Vault] = []

    def __call__(self, root: Path, **flags: Any) -> Vault:
        values = {"connection": "tester", **({} if self.meaning else {"model": "none"}), **flags}
        more: dict[str, Any] = {"build_meaning": MeaningHere} if self.meaning else {}
        vault = open_vault(root, flags=values, clock=lambda: NOW, **more)
        self.vaults.append(vault)
        vault.refresh()
        self.embed(vault)
        return vault

    def embed(self, vault: Vault) -> None:
        if isinstance(vault.meaning, MeaningHere):
            vault.meaning.embed_all()


@pytest.fixture(params=[True, False], ids=["meaning", "words"])
def both(request: pytest.FixtureRequest) -> Iterator[Opened]:
    opened = Opened(meaning=request.param)
    yield opened
    for vault in opened.vaults:
        vault.close(patient=False)


@pytest.fixture
def measured() -> Iterator[Opened]:
    opened = Opened(meaning=True)
    yield opened
    for vault in opened.vaults:
        vault.close(patient=False)


def files_of(root: Path) -> list[str]:
    return sorted(p.relative_to(root).as_posix() for p in root.rglob("*.md"))


# -- duplicates


@pytest.mark.parametrize(
    ("title", "body", "place"),
    [
        ("kiln trouble", "Something else entirely.", "Studio"),  # the title in the folder
        ("Other words", KILN.replace(" ", "  \n"), ""),  # the text, after folding white space
        ("Kiln trouble again", KILN.replace("nine hours", "ten hours"), "Log"),  # nearly the text
    ],
)
def test_what_a_note_says_already_is_refused_before_anything_is_written(
    folder: Path, both: Opened, title: str, body: str, place: str
) -> None:
    write(folder, "Studio/Kiln trouble.md", KILN, layer="state")
    write(folder, "Kitchen/Bread.md", BREAD)
    vault = both(folder)

    with pytest.raises(DuplicateSuspected) as caught:
        vault.editing.save(SaveRequest(title, body, "state", folder=place))

    assert ["Kitchen/Bread.md", "Studio/Kiln trouble.md"] == files_of(folder)
    assert not (folder / ".memex").exists()
    candidate = caught.value.fields["candidates"][0]
    assert ("Studio/Kiln trouble.md", "Kiln trouble") == (candidate["path"], candidate["title"])
    assert candidate["match"].endswith("%")
    assert {"tool": "edit", "ref": "Studio/Kiln trouble.md", "patch": [{"append": "…"}]} == caught.value.fields[
        "suggestion"
    ]


def test_the_suggested_edit_can_be_called_as_it_is(folder: Path, both: Opened) -> None:
    write(folder, "Kiln trouble.md", KILN)
    vault = both(folder)
    with pytest.raises(DuplicateSuspected) as caught:
        vault.editing.save(SaveRequest("Kiln trouble", KILN, "state"))
    suggestion = caught.value.fields["suggestion"]

    vault.editing.edit(EditRequest(suggestion["ref"], patch=parse_patch(suggestion["patch"])))

    assert f"{KILN}\n…\n" == (folder / "Kiln trouble.md").read_text(encoding="utf-8")


def test_of_a_record_an_amendment_is_suggested(folder: Path, both: Opened) -> None:
    write(folder, "Kiln trouble.md", KILN, layer="past")

    with pytest.raises(DuplicateSuspected) as caught:
        both(folder).editing.save(SaveRequest("Kiln trouble", KILN, "past"))

    assert ("save", "Kiln trouble.md") == (
        caught.value.fields["suggestion"]["tool"],
        caught.value.fields["suggestion"]["amends"],
    )


def test_a_duplicate_that_is_wanted_is_written_under_a_numbered_name_with_a_warning(
    folder: Path, both: Opened
) -> None:
    write(folder, "Kiln trouble.md", KILN)

    answer = both(folder).editing.save(SaveRequest("Kiln trouble", KILN, "state", allow_duplicate=True))

    assert ("Kiln trouble (2).md", ["Kiln trouble.md"]) == (answer.path, [d.path for d in answer.similar])


def test_a_title_that_another_note_has_is_said(folder: Path, opening: OpenVault) -> None:
    write(folder, "People/Piet.md", "Neighbour on the north side.")
    write(folder, "Home.md", "[[Piet]]")
    vault = opening(folder)

    there = vault.editing.save(SaveRequest("Piet", "Keeps bees.", "state"))
    none = vault.editing.save(SaveRequest("Anna", "Keeps hens.", "state"))

    said = "Same title: People/Piet.md. A link by title may mean another note now: was that one to be edited?"
    assert [True, False] == [said in answer.notes for answer in (there, none)]


def test_a_rule_of_an_assistant_is_said_to_be_a_proposal(folder: Path, opening: OpenVault) -> None:
    said = "Proposed: no assistant follows it until the person approves it with `vault-memex rules approve`."

    assert said in opening(folder).editing.save(SaveRequest("Units", "Metric only.", "rule")).notes
    assert said not in opening(folder, role="owner").editing.save(SaveRequest("Tone", "Be brief.", "rule")).notes


def test_a_similar_note_is_warned_of_and_the_new_one_is_written(folder: Path, both: Opened) -> None:
    write(folder, "Studio/Kiln trouble.md", KILN)
    write(folder, "Kitchen/Bread.md", BREAD)
    more = "On Tuesday a man from the maker came by and looked"
    body = (
        f"{KILN} {more}." if both.meaning else f"{KILN} {more} at all of it, and took the old lid away with him."
    )

    answer = both(folder).editing.save(SaveRequest("Kiln trouble", body, "past", folder="Log"))

    assert ["Studio/Kiln trouble.md"] == [duplicate.path for duplicate in answer.similar]
    assert 50 < answer.similar[0].percent < 100


def test_what_is_amended_is_no_duplicate_of_its_amendment(folder: Path, both: Opened) -> None:
    write(folder, "Kiln trouble.md", KILN, layer="past")

    answer = both(folder).editing.save(SaveRequest("Again", KILN, "past", amends="Kiln trouble"))

    assert () == answer.similar


def test_an_unlike_note_is_written_without_a_word(folder: Path, both: Opened) -> None:
    write(folder, "Kiln trouble.md", KILN)

    answer = both(folder).editing.save(SaveRequest("Bread", BREAD, "state"))

    assert ((), None, ()) == (answer.similar, answer.hints, answer.flashbacks)


def test_the_persons_own_distance_decides_what_is_similar(
    folder: Path, measured: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "Kiln trouble.md", KILN)
    body = f"{KILN} {BREAD}"
    monkeypatch.setenv("MEMEX_DUPLICATE_DIST", "0.5")
    loose = measured(folder).editing.save(SaveRequest("One", body, "state"))
    monkeypatch.setenv("MEMEX_DUPLICATE_DIST", "0.001")
    strict = measured(folder).editing.save(SaveRequest("Two", f"{body} And {BREAD}", "state"))

    assert (["Kiln trouble.md"], []) == (
        [d.path for d in loose.similar],
        [d.path for d in strict.similar if d.reason == "meaning"],
    )


def test_a_part_of_a_long_draft_that_a_note_shares_makes_it_no_duplicate(folder: Path, measured: Opened) -> None:
    """Of a long draft only some passages are compared; words must bear out what they say."""
    shared = [f"## Part {n}\n\n" + f"{KILN} " * 3 for n in range(4)]
    own = [
        f"## Own {n}\n\n" + " ".join(f"{word}{number}" for number in range(150))
        for n, word in enumerate(["zircon", "cobalt", "ochre", "umber"])
    ]
    mixed = [part for pair in zip(shared, own, strict=True) for part in pair]
    write(folder, "Template.md", "\n\n".join(shared))

    answer = measured(folder).editing.save(SaveRequest("Template", "\n\n".join(mixed), "state", folder="Log"))

    assert "created" == answer.outcome


# -- hints


def hints_of(answer: WriteAnswer) -> WriteHints:
    assert answer.hints is not None
    return answer.hints


def apply_hint(vault: Vault, ref: str, hint: LinkHint) -> None:
    vault.editing.edit(EditRequest(ref, patch=parse_patch([{"find": hint.find, "replace": hint.replace}])))


def test_a_note_that_is_named_comes_with_a_patch_that_links_it(folder: Path, both: Opened) -> None:
    write(folder, "People/Jisoo Han.md", "A potter.", aliases="[Jisoo]")
    write(folder, "Studio/Front Loader.md", "A kiln.")
    vault = both(folder)
    body = "Jisoo Han says so.\n\n`Front Loader` and [[Front Loader|it]] and the front loader.\nJisoo said more."

    answer = vault.editing.save(SaveRequest("Visit", body, "state"))
    hints = hints_of(answer).links
    for hint in hints:
        apply_hint(vault, answer.path, hint)

    assert ["People/Jisoo Han.md"] == [hint.path for hint in hints]
    assert (
        (folder / "Visit.md")
        .read_text(encoding="utf-8")
        .endswith(body.replace("Jisoo Han", "[[Jisoo Han]]", 1) + "\n")
    )


def test_records_and_rules_get_no_patches_that_would_be_refused(folder: Path, both: Opened) -> None:
    write(folder, "People/Jisoo Han.md", "A potter.")
    vault = both(folder)

    for layer in ("past", "rule"):
        answer = vault.editing.save(SaveRequest(f"A {layer}", f"Jisoo Han says so, {layer}.", layer))

        assert answer.hints is None


def test_tags_in_use_whose_words_stand_in_the_text_are_offered(folder: Path, both: Opened) -> None:
    for number in range(3):
        write(folder, f"N{number}.md", f"text {number}", tags="[wood-firing, kiln]")

    answer = both(folder).editing.save(SaveRequest("Plan", "A wood firing in spring.", "state", tags=("kiln",)))

    assert [("wood-firing", 3)] == [(hint.tag, hint.notes) for hint in hints_of(answer).tags]


def test_new_tags_and_a_new_folder_are_named_once(folder: Path, both: Opened) -> None:
    write(folder, "Studio/A.md", "one", tags="[Kiln]")
    vault = both(folder)

    first = vault.editing.save(SaveRequest("B", "Two.", "state", folder="Boat", tags=("kiln", "rowing")))
    second = vault.editing.save(SaveRequest("C", "Three.", "state", folder="Boat", tags=("rowing",)))
    edited = vault.editing.edit(EditRequest("C", tags=("rowing", "oars"), folder="Loft"))

    assert (("rowing",), "Boat") == (first.new_tags, first.new_folder)
    assert ((), None) == (second.new_tags, second.new_folder)
    assert (("oars",), "Loft") == (edited.new_tags, edited.new_folder)


def test_citing_notes_are_named_least_recently_changed_first_in_words_for_the_write(
    folder: Path, both: Opened
) -> None:
    write(folder, "New.md", "See [[Plan]].", updated="2026-03-01")
    write(folder, "Old.md", "See [[Plan]] too.", updated="2025-03-01")
    vault = both(folder)
    created = vault.editing.save(SaveRequest("Plan", "Paint it.", "state"))
    edited = vault.editing.edit(EditRequest("Plan", patch=parse_patch([{"append": "Blue."}])))
    tagged = vault.editing.edit(EditRequest("Plan", tags=("boat",)))
    renamed = vault.editing.edit(EditRequest("Plan", title="Paint plan"))

    assert (("Old.md", "New.md"), 2) == (created.cited_by, created.cited_by_total)
    assert "already a link in 2 notes" in created.citing_advice
    assert "cited this note before" in edited.citing_advice
    assert [((), ""), ((), "")] == [(a.cited_by, a.citing_advice) for a in (tagged, renamed)]


def test_an_edit_hints_only_at_what_it_brought_in(folder: Path, both: Opened) -> None:
    write(folder, "People/Jisoo Han.md", "A potter.")
    write(folder, "People/Tomas Brandt.md", "A baker.")
    write(folder, "Plan.md", "Ask Jisoo Han.", layer="state")

    answer = both(folder).editing.edit(
        EditRequest("Plan", patch=parse_patch([{"append": "Then ask Tomas Brandt."}]))
    )

    assert ["People/Tomas Brandt.md"] == [hint.path for hint in hints_of(answer).links]


def test_what_an_edit_brought_in_is_hinted_at_however_much_was_there_to_hint_at(
    folder: Path, both: Opened
) -> None:
    names = [f"Jisoo Han {n}" for n in "ABCDEFG"]
    for name in (*names, "Tomas Brandt"):
        write(folder, f"People/{name}.md", "A potter.", tags="[wood-firing]")
    write(folder, "Plan.md", "\n\n".join(f"Ask {name} about firing." for name in names), layer="state")

    patch = parse_patch(
        [{"find": "Ask Jisoo Han D about", "replace": "Then a wood firing with Tomas\nBrandt, about"}]
    )
    hints = hints_of(both(folder).editing.edit(EditRequest("Plan", patch=patch)))

    assert ["Tomas Brandt.md"] == [hint.path.rpartition("/")[2] for hint in hints.links]
    assert ["wood-firing"] == [hint.tag for hint in hints.tags]


class Late(MeaningHere):
    """Is busy for the first waits of a question."""

    busy = 1

    def _begin(
        self, what: str, *arguments: object, patience: float, answer_within: float = 0.0, start: bool = True
    ) -> Callable[..., Any]:
        wait = super()._begin(what, *arguments, patience=patience, answer_within=answer_within, start=start)
        waits = iter([MeaningBusy("busy")] * self.busy)

        def answer(seconds: float = 0.0) -> Any:
            for error in waits:
                raise error
            return wait(seconds)

        return answer


@pytest.mark.parametrize(("busy", "remarks"), [(1, ()), (2, ("Compared by words only: busy.",))])
def test_a_save_takes_what_a_busy_model_says_in_time_and_else_the_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch, busy: int, remarks: tuple[str, ...]
) -> None:
    monkeypatch.setattr(Late, "busy", busy)
    write(folder, "Kitchen/Bread.md", BREAD)
    write(folder, "Studio/Kiln trouble.md", KILN, created="2025-01-01")
    vault = open_vault(folder, flags={"connection": "tester"}, clock=lambda: NOW, build_meaning=Late)
    try:
        vault.refresh()
        assert isinstance(vault.meaning, Late)
        vault.meaning.embed_all()

        answer = vault.editing.save(
            SaveRequest("Kiln", f"{KILN} It rained all day.", "past", allow_duplicate=True)
        )
    finally:
        vault.close(patient=False)

    assert remarks == answer.notes
    assert ["Studio/Kiln trouble.md"] == [duplicate.path for duplicate in answer.similar]


def test_notes_about_the_same_are_offered_unless_linked_or_warned_of(folder: Path, measured: Opened) -> None:
    write(folder, "Studio/Kiln trouble.md", f"{KILN} {BREAD}")
    vault = measured(folder)

    plain = vault.editing.save(SaveRequest("Kiln", f"{KILN} It rained all day on the roof.", "past"))
    linked = vault.editing.save(
        SaveRequest("Kiln two", f"{KILN} See [[Kiln trouble]] and [[Kiln]].", "past", allow_duplicate=True)
    )

    assert {"Studio/Kiln trouble.md"} == {h.path for h in hints_of(plain).near} | {d.path for d in plain.similar}
    assert "Studio/Kiln trouble.md" not in {h.path for h in linked.hints.near} if linked.hints else True


NAMES = ("Jisoo Han", "Front Loader", "Berta", "Кирпич", "청자 유약")
PIECES = st.lists(
    st.sampled_from(
        [
            *NAMES,
            "and",
            "says",
            "`Berta`",
            "[[Berta]]",
            "| a | b |",
            "- item",
            "\n",
            "\n\n",
            "## Berta",
            "청자 유약은",
            "x",
        ]
    ),
    min_size=1,
    max_size=40,
)


@given(pieces=PIECES)
def test_all_patches_of_an_answer_apply_together_and_only_add_brackets(pieces: list[str]) -> None:
    text = "---\nsummary: Berta and Jisoo Han\n---\n" + " ".join(pieces) + "\n"
    titles = TitleIndex(notes.vault(*(notes.note(f"{name}.md") for name in NAMES)))
    hints = find_link_hints(text, "Here.md", (), titles)
    if not hints:
        return

    patch = [{"find": hint.find, "replace": hint.replace} for hint in hints]
    bare = str.maketrans("", "", "[]")
    for one in patch:
        linked = plan_patch(text, parse_patch([one])).text
        assert (text.count("[[") + 1, text.translate(bare)) == (linked.count("[["), linked.translate(bare))
    linked = plan_patch(text, parse_patch(patch)).text

    assert (text.count("[[") + len(hints), text.translate(bare)) == (linked.count("[["), linked.translate(bare))
