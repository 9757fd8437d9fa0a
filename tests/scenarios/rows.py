"""Which test shows each row of the requirements of a memory (layers, flashbacks, rules, signals, inferences).

A row names the file under `tests/` and the test in it. `test_rows.py` fails for a row without one.
"""

from __future__ import annotations

ROWS: dict[str, str] = {
    "0-35": "scenarios/test_signals.py::test_looking_again_is_free_while_nothing_changed",
    "0-36": "scenarios/test_signals.py::test_four_alike_notes_over_390_days_form_one_arc_even_with_mixed_tags",
    "0-37": "scenarios/test_signals.py::test_an_arc_keeps_its_number_when_its_lowest_note_is_deleted",
    "0-38": "scenarios/test_signals.py::test_a_snoozed_signal_is_new_again_on_its_day",
    "0-39": "scenarios/test_signals.py::test_the_record_that_is_one_too_many_against_a_plan_is_answered_with_that",
    "0-40": "scenarios/test_inferences.py::test_an_edit_of_a_source_makes_it_stale_and_undoing_the_edit_active_again",
    "0-41": "scenarios/test_inferences.py::test_a_changed_source_shows_what_it_said_and_what_it_says",
    "0-42": "scenarios/test_inferences.py::test_minting_from_a_signal_takes_its_notes_and_marks_it",
    "0-43": "scenarios/test_inferences.py::test_search_and_get_never_find_one",
    "0-44": "scenarios/test_inferences.py::test_minting_again_from_the_same_signal_archives_the_older_inference",
    "0-45": "server/test_insight_tools.py::test_a_real_client_is_greeted_with_counts_finds_decides_and_mints",
}

WAITING: tuple[str, ...] = tuple(f"0-{number:02d}" for number in (*range(1, 35), 46))
"""Rows that have no test yet. Take a row out of here when it gets one; it ends empty."""
