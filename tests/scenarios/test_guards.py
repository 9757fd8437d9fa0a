"""What no assistant may do, whatever its role: rewrite the past, touch the person's rules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios.conftest import ThinkingVault
from vault_memex.core.patch import parse_patch
from vault_memex.errors import MemexError, PastImmutable, RuleUserOnly
from vault_memex.services.requests import EditRequest, RetireRequest

ROLES = pytest.mark.parametrize("role", ["agent", "curator"])


@pytest.fixture
def guarded(thinking: ThinkingVault, role: str) -> ThinkingVault:
    """A record, a rule and a plan."""
    thinking.flags["role"] = role
    thinking.write("Day.md", "It rained.", layer="past")
    thinking.write("Brief.md", "Be brief.", layer="rule")
    thinking.write("Plan.md", "Paint the boat.", layer="state")
    thinking.index()
    return thinking


def files_of(thinking: ThinkingVault) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(thinking.root.glob("*.md"))}


@ROLES
@pytest.mark.parametrize(
    "change",
    [
        {"patch": parse_patch([{"find": "rained", "replace": "snowed"}])},
        {"patch": parse_patch([{"append": "All day."}])},
        {"title": "Another day"},
        {"layer": "state"},
    ],
    ids=["replace", "append", "title", "layer"],
)
def test_the_past_is_not_rewritten_and_the_refusal_names_the_amendment(
    guarded: ThinkingVault, change: dict[str, Any]
) -> None:
    before = files_of(guarded)

    with pytest.raises(PastImmutable) as caught:
        guarded.vault.editing.edit(EditRequest("Day", **change))

    assert before == files_of(guarded)
    suggestion = caught.value.fields["suggestion"]
    assert ("save", "[Amendment] Day", "past", "Day.md", "continues") == tuple(
        suggestion[name] for name in ("tool", "title", "layer", "amends", "amend_kind")
    )
    assert "[[Day]]" in suggestion["body"]


@ROLES
def test_a_rule_is_neither_edited_nor_deleted_nor_made_of_another_note(guarded: ThinkingVault) -> None:
    before = files_of(guarded)
    edits: list[tuple[str, dict[str, Any]]] = [
        ("Brief", {"patch": parse_patch([{"append": "Always."}])}),
        ("Brief", {"tags": ("x",)}),
        ("Brief", {"layer": "state"}),
        ("Plan", {"layer": "rule"}),
        ("Day", {"layer": "rule"}),
    ]

    for ref, change in edits:
        with pytest.raises(RuleUserOnly):
            guarded.vault.editing.edit(EditRequest(ref, **change))
    with pytest.raises(RuleUserOnly):
        guarded.vault.editing.retire(RetireRequest("Brief", "it is old"))

    assert before == files_of(guarded)


@ROLES
@pytest.mark.parametrize("name", ["layer", "title", "rule_status", "review"])
def test_a_property_is_no_way_around_it(guarded: ThinkingVault, name: str) -> None:
    before = files_of(guarded)

    for ref in ("Day", "Brief", "Plan"):
        for value in ("rule", "canonical", None):
            with pytest.raises(MemexError):
                guarded.vault.editing.edit(EditRequest(ref, properties={name: value}))

    assert before == files_of(guarded)


@pytest.mark.parametrize("role", ["owner"])
def test_the_person_may_do_both(guarded: ThinkingVault) -> None:
    guarded.vault.editing.edit(EditRequest("Day", patch=parse_patch([{"find": "rained", "replace": "snowed"}])))
    guarded.vault.editing.edit(EditRequest("Plan", layer="rule"))
    guarded.vault.editing.retire(RetireRequest("Brief", "it is old"))

    assert "It snowed." in guarded.read("Day.md")
    assert "layer: rule" in guarded.read("Plan.md")
    with pytest.raises(MemexError):
        guarded.vault.editing.edit(EditRequest("Brief", tags=("x",)))
