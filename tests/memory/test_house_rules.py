"""House rules: which, in what order, and what is done when they do not fit."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.notes import note, vault
from vault_memex.memory.amendments import build_amendments
from vault_memex.memory.greeting import render_greeting
from vault_memex.memory.house_rules import (
    Rule,
    RuleSettings,
    build_house_rules,
    build_rule,
    check_rule,
    find_rules,
    parse_rule_settings,
)

TODAY = date(2026, 11, 30)
NOTHING = build_amendments(vault(), [])
CANONICAL = {"rule_status": "canonical"}


def rule(number: int, body: str = "Do it.", scope: str = "") -> Rule:
    return Rule(f"{number}.md", number, f"Rule {number}", body, scope)


SECTION = """\
## House Rules

The person wrote these rules. Where they differ from other conventions, they win.

### Answer in my language

Answer me in the language I write in.

---

### Glaze numbers are sacred

Applies to: Studio/**

Never round a number."""


def test_rules_stand_under_their_titles_with_a_line_between() -> None:
    rules = [
        Rule("a.md", 1, "Answer in my language", "Answer me in the language I write in."),
        Rule("b.md", 2, "Glaze numbers are sacred", "Never round a number.", "Studio/**"),
    ]

    built = build_house_rules(rules, RuleSettings())

    assert SECTION == built.text
    assert (("a.md", "b.md"), (), False, ()) == (built.included, built.omitted, built.truncated, built.warnings)


BY_ASSISTANT = {"added_by": "claude-code"}


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        (CANONICAL, ""),
        ({**CANONICAL, **BY_ASSISTANT}, ""),  # approved
        ({}, ""),  # the person wrote it
        (BY_ASSISTANT, "an assistant wrote it and you have not approved it"),
        ({"rule_status": "provisional"}, "it is provisional: you have not approved it"),
        ({"rule_status": "Canon"}, "rule_status is 'Canon', not canonical"),
        ({"rule_status": True}, "rule_status is 'True', not canonical"),
        ({**CANONICAL, "review": "pending"}, "it waits for your review (`review: pending`)"),
        ({**CANONICAL, "valid_until": "2026-01-01"}, "it is expired"),
        ({**CANONICAL, "valid_from": "2999-01-01"}, "it is not yet valid"),
        ({**CANONICAL, "superseded_by": "Other rule"}, "it is superseded"),
    ],
)
def test_in_force_is_what_the_person_wrote_or_approved_and_holds(properties: dict[str, Any], why: str) -> None:
    assert why == check_rule(note("r.md", 1, layer="rule", properties=properties), NOTHING, TODAY)


def test_rules_come_in_the_order_of_their_numbers_and_other_layers_are_none() -> None:
    notes = [
        note("z.md", 3, layer="rule"),
        note("a.md", 7, layer="rule"),
        note("new.md", layer="rule"),
        note("state.md", 6, layer="state", properties=CANONICAL),
    ]

    assert ["z.md", "a.md", "new.md"] == [n.path for n in find_rules(notes)]


def test_a_provisional_rule_is_not_counted_as_omitted() -> None:
    notes = find_rules([note("p.md", 1, layer="rule", properties={"rule_status": "provisional"})])
    rules = [build_rule(n, "x") for n in notes if not check_rule(n, NOTHING, TODAY)]

    assert ("", ()) == ((built := build_house_rules(rules, RuleSettings())).text, built.omitted)


def test_a_heading_that_repeats_the_title_goes_and_the_text_stays() -> None:
    record = note("Be brief.md", 1, properties={"rule_scope": " Studio/** "})

    assert Rule("Be brief.md", 1, "Be brief", "Say it once.\n\n# Be clear", "Studio/**") == build_rule(
        record, "\r\n# be brief\r\n\r\nSay it once.\r\n\r\n# Be clear\r\n"
    )
    assert "# Else\nx" == build_rule(record, "# Else\nx").body


def test_whole_rules_are_kept_and_the_others_counted() -> None:
    rules = [rule(1, "a" * 100), rule(2, "b" * 5000), rule(3, "c" * 100)]

    built = build_house_rules(rules, RuleSettings(budget=600))

    assert ("1.md", "3.md") == built.included
    assert ("2.md",) == built.omitted
    assert built.text.endswith("\n\n---\n\n1 rule did not fit here. Read in the vault: 2.md")
    assert "b" * 10 not in built.text
    assert 1 == len(built.warnings)


def test_narrow_rules_go_before_universal_ones() -> None:
    rules = [rule(1, "a" * 300, "Studio/**"), rule(2, "b" * 300)]

    assert ("2.md",) == build_house_rules(rules, RuleSettings(budget=600)).included


def test_a_first_rule_that_alone_is_too_long_is_cut() -> None:
    built = build_house_rules([rule(1, "word " * 400), rule(2)], RuleSettings(budget=500))

    assert built.truncated
    assert 450 < len(built.text) <= 500
    assert "word [truncated]" in built.text
    assert "1 rule did not fit" in built.text
    assert 2 == len(built.warnings)


@given(
    st.lists(st.tuples(st.integers(0, 400), st.booleans()), min_size=1, max_size=8),
    st.integers(1, 2500),
)
def test_the_section_never_exceeds_the_budget_and_holds_whole_rules(
    sizes: list[tuple[int, bool]], budget: int
) -> None:
    rules = [
        rule(i, f"{i}:" + "x" * size, "narrow" if narrow else "") for i, (size, narrow) in enumerate(sizes, 1)
    ]

    built = build_house_rules(rules, RuleSettings(budget=budget))

    assert len(built.text) <= budget
    assert len(rules) == len(built.included) + len(built.omitted)
    for one in rules:
        if one.path in built.included and not built.truncated:
            assert one.body in built.text


def test_rules_can_be_switched_off() -> None:
    for value in ("0", "false", " OFF "):
        settings, warnings = parse_rule_settings({"MEMEX_INJECT_RULES": value})
        assert ("", ()) == (build_house_rules([rule(1)], settings).text, warnings)
    assert parse_rule_settings({"MEMEX_INJECT_RULES": "1"})[0].inject


@pytest.mark.parametrize("value", ["0", "-5", "many", "1.5"])
def test_a_budget_that_is_none_leaves_the_default_and_a_warning(value: str) -> None:
    settings, warnings = parse_rule_settings({"MEMEX_RULES_MAX_CHARS": value})

    assert (8000, 1) == (settings.budget, len(warnings))


def test_the_budget_comes_from_the_environment() -> None:
    assert (RuleSettings(budget=1200), ()) == parse_rule_settings({"MEMEX_RULES_MAX_CHARS": "1200"})


def test_the_greeting_has_counts_and_nothing_else() -> None:
    assert "" == render_greeting(0, 0)
    assert "1 new signal." in render_greeting(1, 0)
    assert "2 new signals and 1 stale inference." in render_greeting(2, 1)
    assert ": 3 stale inferences." in render_greeting(0, 3)
