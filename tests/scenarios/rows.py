"""Which test shows each row of the requirements: 0 a memory (layers, flashbacks, rules, signals, inferences), 3 strict search.

A row names the file under `tests/` and the test in it. `test_rows.py` fails for a row without one.
"""

from __future__ import annotations

ROWS: dict[str, str] = {
    "0-01": "server/test_memex_profile.py::test_the_profile_lists_the_thirteen_original_tools_with_their_parameters",
    "0-02": "server/test_memex_profile.py::test_a_save_is_answered_with_its_number_and_what_it_brought_in",
    "0-03": "server/test_memex_profile.py::test_a_layer_that_is_missing_or_none_is_refused_with_the_three_and_the_rule_for_them",
    "0-04": "server/test_memex_profile.py::test_instructions_and_description_hold_the_rule_for_the_layer_and_what_to_do_before_a_save",
    "0-05": "services/test_rules.py::test_a_rule_of_an_assistant_is_in_force_once_the_person_approves_it",
    "0-06": "server/test_memex_profile.py::test_instructions_and_description_hold_the_rule_for_the_layer_and_what_to_do_before_a_save",
    "0-07": "server/test_memex_profile.py::test_a_similar_note_is_warned_of_with_number_title_and_match",
    "0-08": "scenarios/test_recall.py::test_save_and_search_end_in_lines_with_age_number_title_and_match",
    "0-09": "scenarios/test_recall.py::test_words_beginnings_tags_titles_letters_and_meaning_find_and_what_is_no_note_is_not_found",
    "0-10": "scenarios/test_recall.py::test_a_query_in_plain_language_is_answered_and_one_that_is_too_long_is_refused_by_name",
    "0-11": "scenarios/test_recall.py::test_a_limit_is_held_between_1_and_25_and_the_answer_says_so",
    "0-12": "scenarios/test_recall.py::test_a_category_is_a_top_folder_or_a_path_without_case_and_an_unknown_one_is_named",
    "0-13": "scenarios/test_recall.py::test_a_tag_is_found_without_case_in_frontmatter_and_text_with_those_below_it",
    "0-14": "scenarios/test_recall.py::test_a_date_is_its_whole_day_and_a_moment_is_inclusive",
    "0-15": "scenarios/test_recall.py::test_a_date_that_is_none_is_refused_by_the_name_of_its_parameter",
    "0-16": "scenarios/test_recall.py::test_last_april_and_auth_is_a_query_with_two_dates",
    "0-17": "server/test_memex_profile.py::test_the_newest_notes_come_first_and_of_one_day_the_higher_number",
    "0-18": "server/test_memex_profile.py::test_tags_come_by_count_then_name_in_their_commonest_spelling",
    "0-19": "server/test_memex_profile.py::test_folders_come_with_own_and_whole_counts_and_without_ignored_ones",
    "0-20": "server/test_memex_profile.py::test_a_search_names_notes_by_number_and_the_number_reads_the_note",
    "0-21": "server/test_memex_profile.py::test_every_kind_of_link_is_a_reference_the_newest_change_first_and_code_is_none",
    "0-22": "server/test_memex_profile.py::test_an_update_replaces_text_title_and_tags_of_a_note_that_was_read",
    "0-23": "server/test_memex_profile.py::test_the_past_is_refused_with_an_amendment_that_can_be_saved_as_it_is",
    "0-24": "services/test_flashbacks_service.py::test_linked_superseded_rule_skill_and_pending_notes_do_not_surface",
    "0-25": "memory/test_flashbacks.py::test_a_note_must_be_90_days_old",
    "0-26": "memory/test_flashbacks.py::test_the_smaller_of_0_4_and_the_calibrated_distance_applies_unless_the_person_chose",
    "0-27": "memory/test_flashbacks.py::test_a_limit_of_0_switches_flashbacks_off",
    "0-28": "scenarios/test_recall.py::test_the_assistant_is_told_to_pass_on_a_flashback_that_matters",
    "0-29": "services/test_flashbacks_service.py::test_a_pair_is_journalled_once_and_shown_on_get_and_is_no_change",
    "0-30": "server/test_memex_profile.py::test_a_deleted_note_is_in_the_trash_and_the_answer_names_who_links_to_it",
    "0-31": "server/test_rules_surface.py::test_rules_follow_the_instructions_and_are_a_resource_and_a_prompt",
    "0-32": "cli/test_rules.py::test_rules_can_be_switched_off",
    "0-33": "services/test_rules.py::test_what_is_not_given_to_assistants_is_named_with_the_reason",
    "0-34": "server/test_rules_surface.py::test_a_rule_changed_meanwhile_is_in_the_resource_and_status_says_that_a_restart_is_due",
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
    "0-46": "server/test_memex_profile.py::test_instructions_name_advertised_tools_only_and_stay_short",
    "3-01": "services/test_strict.py::test_a_word_that_occurs_nowhere_never_matches_however_near_the_passages_are",
    "3-02": "server/test_xmemo_profile.py::test_each_description_names_the_tool_to_use_instead",
    "3-03": "server/test_xmemo_profile.py::test_each_description_names_the_tool_to_use_instead",
    "3-04": "server/test_xmemo_profile.py::test_a_page_that_is_full_advises_to_narrow_when_there_is_no_filter",
    "3-05": "server/test_xmemo_profile.py::test_no_filter_reaches_what_is_no_note_and_a_reader_may_search",
    "3-06": "services/test_strict.py::test_a_query_without_a_word_to_find_is_refused_by_name",
    "3-07": "server/test_xmemo_profile.py::test_five_come_unless_more_are_asked_for_and_at_most_fifty",
    "3-08": "server/test_xmemo_profile.py::test_path_filter_is_ilike_over_the_whole_path_without_md",
    "3-09": "server/test_xmemo_profile.py::test_memory_type_is_a_kind_a_pattern_or_auto",
    "3-10": "server/test_xmemo_profile.py::test_prefer_working_moves_up_only_what_matches_and_still_holds",
    "3-11": "server/test_xmemo_profile.py::test_the_generic_profile_refuses_the_three_plugin_parameters",
    "3-12": "server/test_xmemo_profile.py::test_what_an_assistant_wrote_carries_its_label",
    "3-13": "server/test_xmemo_profile.py::test_a_strong_match_comes_with_ref_place_text_and_why",
    "3-14": "server/test_xmemo_profile.py::test_no_match_is_an_answer_of_its_own_without_a_word_of_the_weak_ones",
    "3-15": "server/test_xmemo_profile.py::test_a_reader_who_would_forget_is_forbidden_to",
    "3-16": "server/test_xmemo_profile.py::test_wrong_arguments_are_refused_by_name",
    "3-17": "server/test_recall_tools.py::test_a_forgiving_question_finds_what_strict_does_not_and_says_it_is_weak",
    "3-18": "memory/test_packing.py::test_a_pack_never_exceeds_its_tokens_and_loses_no_note_without_saying_so",
    "3-19": "server/test_xmemo_profile.py::test_what_is_not_exact_is_refused_and_nothing_is_gone",
    "3-20": "services/test_strict.py::test_strict_search_changes_no_byte_of_the_vault",
}

WAITING: tuple[str, ...] = ()
"""Rows that have no test yet. Take a row out of here when it gets one; it ends empty."""

SCENARIOS: dict[str, str] = {
    # signals
    "signals: the hash is stable under the order of evidence": "memory/test_signals.py::test_evidence_is_shown_in_order_of_time_and_known_by_the_lowest_number",
    "signals: a dismissed one stays dismissed after re-detection": "scenarios/test_signals.py::test_a_dismissed_signal_stays_dismissed_and_is_not_found_again",
    "signals: a resolved dangling link's new one disappears, a decided one stays": "scenarios/test_signals.py::test_a_resolved_links_new_signal_goes_and_a_decided_one_stays",
    "signals: display text and heading links do not dangle": "scenarios/test_signals.py::test_display_text_and_headings_do_not_make_a_link_dangle",
    "signals: NFC and NFD titles are the same": "scenarios/test_signals.py::test_composed_and_decomposed_letters_are_the_same_title",
    "signals: a state with 2 of 3 needed newer notes is quiet": "scenarios/test_signals.py::test_two_records_leave_a_state_in_peace",
    "signals: imported now but authored earlier makes no state stale": "scenarios/test_signals.py::test_records_imported_now_but_written_earlier_do_not_make_a_state_stale",
    "signals: a brand-new and a steady tag are no burst": "scenarios/test_signals.py::test_a_new_tag_a_steady_one_and_a_workflow_tag_are_no_burst",
    "signals: four alike notes over 390 days are one arc with mixed tags": "scenarios/test_signals.py::test_four_alike_notes_over_390_days_form_one_arc_even_with_mixed_tags",
    "signals: two links inside an arc silence it": "scenarios/test_signals.py::test_two_links_inside_an_arc_silence_it",
    "signals: four alike notes within a week are no arc": "scenarios/test_signals.py::test_alike_notes_within_a_week_are_no_arc",
    "signals: a second refresh does nothing": "scenarios/test_signals.py::test_looking_again_is_free_while_nothing_changed",
    "signals: a change or a deletion forces one": "scenarios/test_signals.py::test_whatever_may_change_the_answer_makes_detection_run",
    # inferences
    "inferences: stale on edit, active again on revert": "scenarios/test_inferences.py::test_an_edit_of_a_source_makes_it_stale_and_undoing_the_edit_active_again",
    "inferences: stale on delete of a source": "scenarios/test_inferences.py::test_deleting_a_source_makes_it_stale_and_the_evidence_stays",
    "inferences: an archived one is untouched": "scenarios/test_inferences.py::test_an_archived_inference_is_never_touched_again",
    "inferences: listing by stale gives exactly those": "scenarios/test_inferences.py::test_listing_by_status_gives_exactly_those_newest_first",
    "inferences: minting marks the signal": "scenarios/test_inferences.py::test_minting_from_a_signal_takes_its_notes_and_marks_it",
    "inferences: without confirmed nothing is written": "scenarios/test_inferences.py::test_without_the_persons_word_nothing_is_written",
    "inferences: search never returns one": "scenarios/test_inferences.py::test_search_and_get_never_find_one",
    # flashback
    "flashback: an old note of another folder surfaces with days >= 90": "services/test_flashbacks_service.py::test_an_old_note_of_another_folder_surfaces_on_save_with_its_age",
    "flashback: the same folder never": "memory/test_flashbacks.py::test_a_note_of_the_same_top_level_folder_never_comes_up",
    "flashback: 82 percent from distance 0.18": "memory/test_flashbacks.py::test_an_old_note_from_another_folder_comes_up_with_age_and_match",
    # rules
    "rules: order": "memory/test_house_rules.py::test_rules_come_in_the_order_of_their_numbers_and_other_layers_are_none",
    "rules: whole rules are packed": "memory/test_house_rules.py::test_the_section_never_exceeds_the_budget_and_holds_whole_rules",
    "rules: the omitted are counted": "memory/test_house_rules.py::test_whole_rules_are_kept_and_the_others_counted",
    "rules: the first one too large is truncated": "memory/test_house_rules.py::test_a_first_rule_that_alone_is_too_long_is_cut",
    "rules: a provisional one is withheld and not counted": "memory/test_house_rules.py::test_in_force_is_what_the_person_wrote_or_approved_and_holds",
    # search
    "search: strict returns nothing for a word absent from the vault although vectors are near": "services/test_strict.py::test_a_word_that_occurs_nowhere_never_matches_however_near_the_passages_are",
    "search: weak text never leaks": "services/test_strict.py::test_no_match_says_what_was_searched_and_gives_the_weak_ones_as_a_number_only",
    # guards
    "guards: an edit of the past names the amendment": "scenarios/test_guards.py::test_the_past_is_not_rewritten_and_the_refusal_names_the_amendment",
    "guards: edit, delete and promotion of a rule are refused": "scenarios/test_guards.py::test_a_rule_is_neither_edited_nor_deleted_nor_made_of_another_note",
}
"""Which test shows each scenario of section 11 about signals, inferences, flashbacks, rules, guards and strict search."""

SCENARIOS_WAITING: tuple[str, ...] = ("guards: skill and profile notes are held for curators too",)
"""Scenarios of what is not there yet: nothing is held before there is a review."""
