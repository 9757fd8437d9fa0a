"""Signals through a real vault: what is found, what is not, and what becomes of it."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from tests.scenarios.conftest import KILN, WRIST, ThinkingVault, days_ago
from vault_memex.core.patch import parse_patch
from vault_memex.errors import InvalidArgument, NotFound, RoleRequired
from vault_memex.memory.scope import Scope
from vault_memex.memory.signals_file import SIGNALS_PATH
from vault_memex.memory.triage import SignalTable
from vault_memex.server.render import render_write
from vault_memex.services.requests import EditRequest, RetireRequest, SaveRequest, SignalHint, WriteAnswer
from vault_memex.services.sight import Sight
from vault_memex.services.trashing import Trashing


def write_arc(thinking: ThinkingVault, **links: str) -> None:
    """Four notes on one subject over 390 days, in different folders, with different tags."""
    for number, (folder, days) in enumerate((("Journal", 400), ("Health", 270), ("Boat", 140), ("Studio", 10))):
        body = f"{WRIST} {links.get(folder, '')}"
        tag = "wrist" if number % 2 else folder.lower()
        thinking.write(f"{folder}/{number}.md", body, created=days_ago(days), tags=f"[{tag}]", layer="past")


def write_stale(thinking: ThinkingVault, records: int = 3) -> None:
    """A plan for the kiln and records that came after it."""
    thinking.write("Kiln.md", KILN, layer="state", created=days_ago(300), updated=days_ago(200))
    for number in range(records):
        thinking.write(f"Log/{number}.md", f"{KILN} [[Kiln]]", layer="past", created=days_ago(30 - number))


def kinds(thinking: ThinkingVault, status: str | None = None) -> list[str]:
    return [row.kind for row in thinking.signals(status)]


# -- hidden arcs


def test_four_alike_notes_over_390_days_form_one_arc_even_with_mixed_tags(thinking: ThinkingVault) -> None:
    write_arc(thinking)

    (arc,) = thinking.signals()

    assert ("hidden_arc", "new", "wrist") == (arc.kind, arc.status, arc.detail)
    assert ["Journal/0.md", "Health/1.md", "Boat/2.md", "Studio/3.md"] == [ref.path for ref in arc.notes]
    assert "4 notes over 390 days circle around #wrist and are hardly linked to each other." == arc.reason


def test_two_links_inside_an_arc_silence_it(thinking: ThinkingVault) -> None:
    write_arc(thinking, Health="[[Journal/0]]", Boat="[[Studio/3]]")

    assert [] == kinds(thinking)


def test_alike_notes_within_a_week_are_no_arc(thinking: ThinkingVault) -> None:
    for number in range(4):
        thinking.write(f"{number}.md", WRIST, created=days_ago(number))

    assert [] == kinds(thinking)


@pytest.mark.parametrize("properties", [{"layer": "rule"}, {"review": "pending"}, {"entity_type": "person"}])
def test_rules_entities_and_what_waits_for_approval_are_no_evidence(
    thinking: ThinkingVault, properties: dict[str, str]
) -> None:
    write_arc(thinking)
    thinking.write("Studio/3.md", WRIST, created=days_ago(10), **properties)

    assert [] == kinds(thinking)


def test_an_arc_keeps_its_number_when_its_lowest_note_is_deleted(thinking: ThinkingVault) -> None:
    write_arc(thinking)
    thinking.write("Garden/4.md", WRIST, created=days_ago(330))
    (before,) = thinking.signals()
    (thinking.root / before.notes[0].path).unlink()

    (after,) = thinking.signals()

    assert (before.number, 4) == (after.number, len(after.notes))
    assert before.key != after.key


# -- stale states


def test_three_records_after_its_last_change_make_a_state_stale(thinking: ThinkingVault) -> None:
    write_stale(thinking)

    (stale,) = thinking.signals()

    assert ("stale_state", "Kiln.md") == (stale.kind, stale.notes[0].path)
    assert ["Log/0.md", "Log/1.md", "Log/2.md"] == [ref.path for ref in stale.notes[1:]]


def test_two_records_leave_a_state_in_peace(thinking: ThinkingVault) -> None:
    write_stale(thinking, 2)

    assert [] == kinds(thinking)


def test_records_imported_now_but_written_earlier_do_not_make_a_state_stale(thinking: ThinkingVault) -> None:
    write_stale(thinking, 2)
    for number in range(3):
        thinking.write(f"Import/{number}.md", f"{KILN} [[Kiln]]", layer="past", created=days_ago(250 + number))

    assert [] == kinds(thinking)


def test_a_state_that_names_its_sources_is_not_judged_by_nearness(thinking: ThinkingVault) -> None:
    write_stale(thinking)
    thinking.write(
        "Kiln.md", KILN, layer="state", created=days_ago(300), updated=days_ago(200), derives_from='"[[Log/0]]"'
    )

    assert [] == kinds(thinking)


# -- dangling links


def test_each_dangling_link_says_whether_it_is_an_example_a_slip_or_a_note_to_come(
    thinking: ThinkingVault,
) -> None:
    thinking.write("Boathouse.md", "About the boathouse.")
    thinking.write("a.md", "[[Boathuose]] and [[Title]] and [[Sponge supplier]]")

    found = {row.detail: row.reason for row in thinking.signals()}

    assert {"typo", "placeholder", "forward"} == set(found)
    assert "'a' links to [[Boathuose]]; [[Boathouse]] is probably meant." == found["typo"]


def test_display_text_and_headings_do_not_make_a_link_dangle(thinking: ThinkingVault) -> None:
    thinking.write("Kiln.md", "# Plan\nText")
    thinking.write("a.md", "[[Kiln|the old one]], [[Kiln#Plan]], [[kiln]], ![[Kiln]]")

    assert [] == kinds(thinking)


def test_composed_and_decomposed_letters_are_the_same_title(thinking: ThinkingVault) -> None:
    thinking.write(unicodedata.normalize("NFC", "Café Ütliberg.md"), "x")
    thinking.write("a.md", f"[[{unicodedata.normalize('NFD', 'Café Ütliberg')}]]")

    assert [] == kinds(thinking)


def test_a_resolved_links_new_signal_goes_and_a_decided_one_stays(thinking: ThinkingVault) -> None:
    thinking.write("a.md", "[[One]] and [[Other]]")
    first, second = thinking.signals()
    thinking.vault.signals.decide(first.number, "dismiss")
    thinking.write("One.md", "x")
    thinking.write("Other.md", "x")

    assert [(first.number, "dismissed")] == [(row.number, row.status) for row in thinking.signals()]
    assert second.number == 2


def test_all_links_of_a_note_can_be_dismissed_with_those_still_to_come(thinking: ThinkingVault) -> None:
    thinking.write("Ideas.md", "[[One]] and [[Other]]")
    thinking.write("b.md", "[[Third]]")
    first = thinking.signals()[0]
    thinking.vault.signals.decide(first.number, "dismiss", whole_note=True)
    thinking.write("Ideas.md", "[[One]] and [[Other]] and [[Yet another]]")

    assert ["b.md"] == [row.notes[0].path for row in thinking.signals("new")]


# -- tag bursts


def test_a_tag_that_is_back_after_half_a_year_is_a_burst(thinking: ThinkingVault) -> None:
    thinking.write("old.md", "x", created=days_ago(300), tags="[celadon]")
    for number in range(3):
        thinking.write(f"{number}.md", "y", created=days_ago(number + 1), tags="[Celadon]")

    (burst,) = thinking.signals()

    assert ("tag_burst", "celadon", 4) == (burst.kind, burst.detail, len(burst.notes))


def test_a_new_tag_a_steady_one_and_a_workflow_tag_are_no_burst(thinking: ThinkingVault) -> None:
    for number in range(4):
        thinking.write(f"new {number}.md", "y", created=days_ago(number + 1), tags="[new, steady, todo]")
    for days in range(20, 300, 30):
        thinking.write(f"steady {days}.md", "z", created=days_ago(days), tags="[steady]")
    thinking.write("todo.md", "y", created=days_ago(290), tags="[todo]")

    assert [] == kinds(thinking)


def test_a_burst_is_over_when_its_days_have_passed_without_any_note_changing(thinking: ThinkingVault) -> None:
    test_a_tag_that_is_back_after_half_a_year_is_a_burst(thinking)
    thinking.now += timedelta(days=20)

    assert [] == kinds(thinking)


# -- the table


def test_every_signal_is_a_row_of_a_file_that_is_written_once_and_journalled(thinking: ThinkingVault) -> None:
    thinking.write("a.md", "[[One]] and [[Other]]")
    thinking.signals()
    text = thinking.read(SIGNALS_PATH)
    thinking.signals()

    assert text == thinking.read(SIGNALS_PATH)
    assert "[[a\\|#1 a]]" in text
    assert ["signals: Signals: 2 found"] == thinking.events()


def test_a_vault_without_signals_gets_no_file_and_no_numbers(thinking: ThinkingVault) -> None:
    thinking.write("a.md", "x")
    thinking.signals()

    assert [] == sorted(p.name for p in thinking.root.iterdir() if p.name.startswith((".memex", "_memex")))


def test_looking_again_is_free_while_nothing_changed(thinking: ThinkingVault) -> None:
    write_arc(thinking)
    first = thinking.signals()
    (thinking.vault.cache / "neighbours.bin").unlink()

    second = thinking.signals()

    assert first == second
    assert not (thinking.vault.cache / "neighbours.bin").exists()  # nobody looked


@pytest.mark.parametrize("change", ["text", "link", "tag", "layer", "delete", "day"])
def test_whatever_may_change_the_answer_makes_detection_run(thinking: ThinkingVault, change: str) -> None:
    write_arc(thinking)
    thinking.signals()
    (thinking.vault.cache / "neighbours.bin").unlink()
    note = "Boat/2.md"
    if change == "text":
        thinking.replace(note, "heavy", "light")
    elif change == "link":
        thinking.replace(note, "week.", "week. [[Health/1]]")
    elif change == "tag":
        thinking.replace(note, "[boat]", "[wrist]")
    elif change == "layer":
        thinking.replace(note, "layer: past", "layer: state")
    elif change == "delete":
        (thinking.root / note).unlink()
    else:
        thinking.now += timedelta(days=1)
    thinking.signals()

    assert (thinking.vault.cache / "neighbours.bin").exists()


def test_a_dismissed_signal_stays_dismissed_and_is_not_found_again(thinking: ThinkingVault) -> None:
    write_arc(thinking)
    (arc,) = thinking.signals()
    thinking.vault.signals.decide(arc.number, "dismiss")
    thinking.write("Studio/3.md", f"{WRIST} Again today.", created=days_ago(9))

    assert [(1, "dismissed")] == [(row.number, row.status) for row in thinking.signals()]


def test_a_snoozed_signal_is_new_again_on_its_day(thinking: ThinkingVault) -> None:
    thinking.write("a.md", "[[One]]")
    thinking.signals()
    default = thinking.vault.signals.decide(1, "snooze")
    chosen = thinking.vault.signals.decide(1, "snooze", until="2026-12-05")
    assert default
    assert chosen
    assert (date(2026, 12, 30), date(2026, 12, 5)) == (default.until, chosen.until)
    before = kinds(thinking, "new")
    thinking.now += timedelta(days=5)

    assert ([], ["dangling_link"]) == (before, kinds(thinking, "new"))


def test_a_reopened_signal_is_new(thinking: ThinkingVault) -> None:
    thinking.write("a.md", "[[One]]")
    thinking.signals()
    thinking.vault.signals.decide(1, "dismiss")
    thinking.vault.signals.decide(1, "reopen")

    assert ["new"] == [row.status for row in thinking.signals()]


def test_decisions_are_journalled_for_the_person(thinking: ThinkingVault) -> None:
    thinking.write("a.md", "[[One]]")
    thinking.signals()
    thinking.vault.signals.decide(1, "dismiss")

    assert "triaged: Dismiss signal 1: 'a' links to [[One]], which is not written yet." == thinking.events()[-1]


def test_what_the_person_edits_in_the_table_counts(thinking: ThinkingVault) -> None:
    thinking.write("a.md", "[[One]] and [[Other]]")
    thinking.signals()
    thinking.replace(SIGNALS_PATH, "| 1 | new |", "| 1 | dismissed |")
    thinking.write(SIGNALS_PATH, thinking.read(SIGNALS_PATH) + "\nMy own words.")
    thinking.write("b.md", "[[Third]]")

    assert ["dismissed", "new", "new"] == [row.status for row in thinking.signals()]
    assert thinking.read(SIGNALS_PATH).endswith("\nMy own words.\n")


def test_a_row_that_the_person_deletes_is_found_again_under_another_number(thinking: ThinkingVault) -> None:
    thinking.write("a.md", "[[One]] and [[Other]]")
    thinking.signals()
    lines = thinking.read(SIGNALS_PATH).splitlines()
    (thinking.root / SIGNALS_PATH).write_text("\n".join(x for x in lines if not x.startswith("| 1 |")) + "\n")

    assert [2, 3] == [row.number for row in thinking.signals()]


def test_the_table_outlives_the_cache(thinking: ThinkingVault) -> None:
    write_arc(thinking)
    thinking.signals()
    thinking.vault.signals.decide(1, "dismiss")
    thinking.vault.forget_index()
    before = thinking.read(SIGNALS_PATH)
    thinking.vault.catalogue.set_state("signals", None)

    assert ["dismissed"] == [row.status for row in thinking.signals()]
    assert before == thinking.read(SIGNALS_PATH)


def test_a_note_is_known_by_its_number_after_a_move(thinking: ThinkingVault) -> None:
    thinking.write("a.md", "[[One]] is a text long enough to be known again.")
    thinking.signals()
    thinking.vault.signals.decide(1, "dismiss")
    (thinking.root / "a.md").rename(thinking.root / "moved.md")

    assert [(1, "dismissed", "moved.md")] == [
        (row.number, row.status, row.notes[0].path) for row in thinking.signals()
    ]


def test_without_meaning_the_other_signals_are_found_and_meant_ones_stay(thinking: ThinkingVault) -> None:
    write_arc(thinking)
    thinking.write("a.md", "[[One]]")
    assert ["hidden_arc", "dangling_link"] == kinds(thinking)
    thinking.reopen(model="none")
    thinking.write("b.md", "[[Other]]")
    thinking.vault.refresh()

    found = thinking.vault.signals.find()

    assert "meaning is switched off (model = none)" == found.unavailable
    assert ["hidden_arc", "dangling_link", "dangling_link"] == [row.kind for row in found.table.rows]


def test_a_reader_sees_signals_and_writes_and_decides_nothing(thinking: ThinkingVault) -> None:
    thinking.reopen(role="reader")
    thinking.write("a.md", "[[One]]")

    assert ["dangling_link"] == kinds(thinking)
    assert not (thinking.root / "_memex").exists()
    with pytest.raises(RoleRequired):
        thinking.vault.signals.decide(1, "dismiss")


def test_wrong_decisions_name_what_may_be_written(thinking: ThinkingVault) -> None:
    thinking.write("a.md", "[[One]]")
    thinking.signals()
    signals = thinking.vault.signals
    for call, argument in (
        (lambda: signals.decide(1, "minted"), "action"),
        (lambda: signals.decide(1, "snooze", until="soon"), "until"),
        (lambda: signals.decide(1, "snooze", until="2026-11-30"), "until"),
        (lambda: signals.decide(1, "snooze", whole_note=True), "scope"),
    ):
        with pytest.raises(InvalidArgument) as caught:
            call()

        assert argument == caught.value.argument
    with pytest.raises(NotFound, match="no signal 7"):
        signals.decide(7, "dismiss")


# -- the one hint after a write


def test_after_a_write_the_weightiest_signal_about_the_note_is_offered(thinking: ThinkingVault) -> None:
    write_arc(thinking, Boat="[[Nowhere yet]]")
    thinking.signals()

    hint = thinking.vault.signals.find_hint("Boat/2.md")
    other = thinking.vault.signals.find_hint("Nobody.md")

    assert hint is not None
    assert ("hidden_arc", 1) == (hint.type, hint.signal)
    assert other is None


def test_a_signal_that_the_write_itself_made_is_offered_before_anybody_looks_for_signals(
    thinking: ThinkingVault,
) -> None:
    write_stale(thinking, 2)
    thinking.index()
    thinking.write("Log/new.md", KILN, layer="past", created=days_ago(0))
    thinking.vault.refresh()  # its vectors are not made yet

    hint = thinking.vault.signals.find_hint("Log/new.md")

    assert hint is not None
    assert ("stale_state", None) == (hint.type, hint.signal)
    assert hint.reason.startswith("3 records since")


def test_a_slip_in_a_link_and_a_returning_tag_are_offered_at_once(thinking: ThinkingVault) -> None:
    thinking.write("Boathouse.md", "About it.", created=days_ago(300), tags="[boat]")
    thinking.write("slip.md", "See [[Boathuose]].", created=days_ago(1))
    for number in range(3):
        thinking.write(f"{number}.md", "x", created=days_ago(1), tags="[boat]")
    thinking.index()

    slip, burst = (thinking.vault.signals.find_hint(path) for path in ("slip.md", "0.md"))

    assert slip
    assert burst
    assert ("dangling_link", "tag_burst") == (slip.type, burst.type)
    assert "[[Boathouse]] is probably meant" in slip.reason


def test_a_link_to_a_retired_note_says_how_to_restore_it_until_it_is_erased(thinking: ThinkingVault) -> None:
    thinking.write("Home.md", "See [[Weekly review]].")
    thinking.write("Weekly review.md", "Sundays.")
    number = thinking.vault.editing.retire(RetireRequest("Weekly review", "not any more")).note_id

    trashed = thinking.signals()
    narrow = Sight(Scope(("Home.md",)), thinking.vault.snapshot).narrow(SignalTable(tuple(trashed)))
    person = Trashing(
        config=replace(thinking.vault.config, role="owner"),
        trash=thinking.vault.trash,
        editing=thinking.vault.editing,
        numbering=thinking.vault.numbering,
        clock=thinking.vault.clock,
    )
    person.purge(f"#{number}")
    erased = thinking.signals()

    start = "'Home' links to [[Weekly review]], which is"
    restore = f"in the trash: `vault-memex trash restore {number}` brings it back."
    assert [("trashed", f"{start} {restore}")] == [(row.detail, row.reason) for row in trashed]
    assert [("forward", f"{start} not written yet.")] == [(row.detail, row.reason) for row in narrow.rows]
    assert [("forward", f"{start} not written yet.")] == [(row.detail, row.reason) for row in erased]


def test_what_was_dismissed_is_not_offered(thinking: ThinkingVault) -> None:
    thinking.write("a.md", "[[One]]")
    thinking.signals()
    thinking.vault.signals.decide(1, "dismiss")

    assert thinking.vault.signals.find_hint("a.md") is None


def save(thinking: ThinkingVault, title: str, body: str, **more: Any) -> WriteAnswer:
    return thinking.vault.editing.save(SaveRequest(title, body, "past", allow_duplicate=True, **more))


def test_the_record_that_is_one_too_many_against_a_plan_is_answered_with_that(thinking: ThinkingVault) -> None:
    write_stale(thinking, 2)
    thinking.index()

    answer = save(thinking, "Third time", KILN, folder="Log")

    assert answer.signal_hint is not None
    assert ("stale_state", None) == (answer.signal_hint.type, answer.signal_hint.signal)
    assert (
        "signal · stale_state: 3 records since 2026-05-14 are about what 'Kiln' says is so now."
        in render_write(answer)
    )


def test_an_edit_is_answered_with_the_signal_about_its_note_unless_its_link_was_there_before(
    thinking: ThinkingVault,
) -> None:
    write_arc(thinking)
    thinking.write("Plan.md", "See [[Nowhere]].")
    numbers = {row.kind: row.number for row in thinking.signals()}

    elsewhere = thinking.vault.editing.edit(EditRequest("Plan", patch=parse_patch([{"append": "More."}])))
    answer = thinking.vault.editing.edit(EditRequest("Plan", patch=parse_patch([{"append": "See [[Far away]]."}])))
    other = thinking.vault.editing.edit(EditRequest("Journal/0", tags=("wrist",)))

    assert None is elsewhere.signal_hint
    assert (
        SignalHint("dangling_link", "'Plan' links to [[Far away]], which is not written yet.", None)
        == answer.signal_hint
    )
    assert other.signal_hint is not None
    assert numbers["hidden_arc"] == other.signal_hint.signal


def test_a_write_that_makes_no_signal_is_answered_without_one(thinking: ThinkingVault) -> None:
    write_stale(thinking, 1)
    thinking.index()

    assert save(thinking, "Second", KILN, folder="Log").signal_hint is None
    assert save(thinking, "Bread", "Rye bread rises slowly.").signal_hint is None
