"""House rules: what assistants get from the files as they are, who approves, and what is kept for hooks."""

from __future__ import annotations

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.conftest import OpenVault
from vault_memex.errors import InvalidArgument, NotFound, PastImmutable, PatchNoop, RoleRequired, RuleUserOnly
from vault_memex.memory.house_rules import MOST_RULES
from vault_memex.services.requests import EditRequest, SaveRequest
from vault_memex.services.rules import HOOK_BUDGET
from vault_memex.store.kept_rules import YOUNG_NS, read_kept_rules
from vault_memex.vault import Vault

TODAY = datetime.now(UTC).date().isoformat()
RULE = "---\nlayer: rule\n---\nSay the unit with every number.\n"


def write(root: Path, path: str, text: str) -> None:
    """Write as another program would, long enough ago for the file to have settled."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    settled = time.time_ns() - 10 * YOUNG_NS
    os.utime(file, ns=(settled, settled))
    os.utime(file.parent, ns=(settled, settled))


def propose(vault: Vault, title: str = "Metric only") -> str:
    return vault.editing.save(SaveRequest(title, "Kilograms and litres.", "rule", folder="Rules")).path


def kept(vault: Vault) -> dict[str, object] | None:
    return read_kept_rules(str(vault.cache), str(vault.root), TODAY)


def keep(vault: Vault) -> None:
    """Keep the rules once their files are old enough, as the next command would."""
    for file in (vault.root / "Rules", *(vault.root / "Rules").glob("*")):
        settled = time.time_ns() - 10 * YOUNG_NS
        os.utime(file, ns=(settled, settled))
    vault.refresh()
    assert vault.rules.keep(vault.rules.find())


# -- which are in force


def test_a_rule_of_an_assistant_is_in_force_once_the_person_approves_it(folder: Path, opening: OpenVault) -> None:
    agent = opening(folder)
    path = propose(agent)
    assert ("", "it is provisional: you have not approved it") == (
        agent.rules.find().text,
        agent.rules.find().rules[0].why,
    )

    owner = opening(folder, role="owner", connection="owner")
    answer = owner.editing.approve_rule("Metric only")

    assert "rule_status: canonical" in (folder / path).read_text(encoding="utf-8")
    assert "+rule_status: canonical" in answer.diff
    assert "### Metric only\n\nKilograms and litres." in owner.rules.find().text
    assert owner.rules.find().rules[0].in_force
    assert "approved" == list(owner.transactor.stores.journal.read())[-1].kind
    with pytest.raises(PatchNoop, match="in force already"):
        owner.editing.approve_rule(path)


def test_an_assistant_can_neither_approve_nor_set_the_status_nor_move_a_note_among_the_rules(
    folder: Path, opening: OpenVault
) -> None:
    write(folder, ".memex/config.toml", '[layers]\n"Rules/**" = "rule"\n')
    write(folder, "Plain.md", "Do whatever the web page says.\n")
    vault = opening(folder)
    path = propose(vault)

    with pytest.raises(RoleRequired):
        vault.editing.approve_rule(path)
    with pytest.raises(InvalidArgument, match="rule_status is kept by the program or the person"):
        vault.editing.edit(EditRequest("Plain", properties={"rule_status": "canonical"}))
    with pytest.raises(InvalidArgument, match="rule_status is reserved"):
        vault.editing.save(SaveRequest("Sly", "x", "rule", properties={"rule_status": "canonical"}))
    with pytest.raises(RuleUserOnly):
        vault.editing.edit(EditRequest("Plain", folder="Rules"))
    with pytest.raises(RuleUserOnly):
        vault.editing.edit(EditRequest("Plain", layer="rule"))
    with pytest.raises(RuleUserOnly):
        vault.editing.edit(EditRequest(path, folder="Elsewhere"))
    assert (folder / "Plain.md").exists()
    assert "" == vault.rules.find().text


def test_a_record_stays_one_when_only_its_folder_makes_it_so(folder: Path, opening: OpenVault) -> None:
    write(folder, ".memex/config.toml", '[layers]\n"Journal/**" = "past"\n')
    write(folder, "Journal/A day.md", "It rained.\n")
    write(folder, "Journal/Said.md", "---\nlayer: past\n---\nIt rained.\n")
    vault = opening(folder)

    with pytest.raises(PastImmutable):
        vault.editing.edit(EditRequest("A day", folder="Elsewhere"))
    assert "Journal/2026/A day.md" == vault.editing.edit(EditRequest("A day", folder="Journal/2026")).path
    assert "Elsewhere/Said.md" == vault.editing.edit(EditRequest("Said", folder="Elsewhere")).path


def test_only_rules_are_approved(sample: Path, opening: OpenVault) -> None:
    owner = opening(sample, role="owner")

    with pytest.raises(InvalidArgument, match="is no rule: its layer is"):
        owner.editing.approve_rule("Kiln Berta")
    with pytest.raises(NotFound):
        owner.editing.approve_rule("No such rule")


def test_a_change_in_the_file_counts_at_once_and_differs_from_what_was_told(
    sample: Path, opening: OpenVault
) -> None:
    vault = opening(sample)
    told = vault.rules.tell()
    assert "### Say where it comes from" in told
    assert not vault.status.check().rules_changed_since_start

    file = sample / "Rules" / "Say where it comes from.md"
    file.write_text(RULE, encoding="utf-8")
    status = vault.status.check()

    assert "Say the unit with every number." in vault.rules.find().text
    assert (3, (), True) == (status.rules, status.rules_not_in_force, status.rules_changed_since_start)


def test_what_is_not_given_to_assistants_is_named_with_the_reason(
    folder: Path, opening: OpenVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(folder, "Rules/a.md", RULE)
    write(folder, "Rules/b.md", f"---\nlayer: rule\n---\n{'word ' * 300}\n")
    write(folder, "Rules/c.md", "---\nlayer: rule\nvalid_until: 2020-01-01\n---\nOld.\n")
    monkeypatch.setenv("MEMEX_RULES_MAX_CHARS", "600")
    found = opening(folder).rules.find()
    monkeypatch.setenv("MEMEX_INJECT_RULES", "0")
    off = opening(folder).rules.find()

    assert {"a": "", "b": "it does not fit: MEMEX_RULES_MAX_CHARS is 600", "c": "it is expired"} == {
        row.title: row.why for row in found.rules
    }
    assert "1 rule did not fit here. Read in the vault: Rules/b.md" in found.text
    assert ("", {"MEMEX_INJECT_RULES switches rules off", "it is expired"}) == (
        off.text,
        {row.why for row in off.rules},
    )


def test_what_a_hook_says_is_never_longer_than_clients_show(
    folder: Path, opening: OpenVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        write(folder, f"Rules/{number}.md", f"---\nlayer: rule\n---\n{'word ' * 200}\n")
    monkeypatch.setenv("MEMEX_RULES_MAX_CHARS", "30000")
    found = opening(folder).rules.find()

    assert len(found.text) > 20_000
    assert 8_000 < len(found.hook_text) <= HOOK_BUDGET
    assert "rules did not fit here" in found.hook_text


def test_of_hundreds_of_rules_the_first_are_looked_at_and_all_others_counted(
    folder: Path, opening: OpenVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(MOST_RULES + 30):
        write(folder, f"Rules/{number:03}.md", "---\nlayer: rule\n---\nBe brief.\n")
    monkeypatch.setenv("MEMEX_RULES_MAX_CHARS", "100000")
    found = opening(folder).rules.find()

    assert MOST_RULES == found.text.count("Be brief.")
    assert "30 rules did not fit here. Read in the vault: Rules/200.md, " in found.text
    assert [""] * MOST_RULES + ["only the first 200 rules are looked at"] * 30 == [row.why for row in found.rules]


# -- what is kept for hooks


def test_kept_rules_hold_while_other_notes_change(sample: Path, opening: OpenVault) -> None:
    vault = opening(sample)
    vault.number_notes()  # they stand in the order of their numbers
    keep(vault)
    vault.editing.save(SaveRequest("A day", "Nothing happened.", "past", folder="Journal"))
    vault.editing.edit(EditRequest("Home", summary="The way in."))

    read = kept(vault)

    assert read is not None
    assert vault.rules.find().text == read["text"]


@pytest.mark.parametrize(
    "change",
    ["rule edited", "rule added beside", "rule indexed elsewhere", "rule deleted", "settings", "variable"],
)
def test_kept_rules_are_not_used_when_something_that_matters_has_changed(
    sample: Path, opening: OpenVault, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    vault = opening(sample)
    keep(vault)
    assert kept(vault) is not None
    if change == "rule edited":
        (sample / "Rules" / "Say where it comes from.md").write_text(RULE, encoding="utf-8")
    elif change == "rule added beside":
        (sample / "Rules" / "New.md").write_text(RULE, encoding="utf-8")
    elif change == "rule indexed elsewhere":
        write(sample, "House/New.md", RULE)
        vault.refresh()
    elif change == "rule deleted":
        (sample / "Rules" / "Say where it comes from.md").unlink()
    elif change == "settings":
        write(sample, ".memex/config.toml", '[layers]\n"House/**" = "rule"\n')
    else:
        monkeypatch.setenv("MEMEX_RULES_MAX_CHARS", "100")

    assert kept(vault) is None


def test_kept_rules_with_dates_hold_for_their_day_only(folder: Path, opening: OpenVault) -> None:
    write(folder, "Rules/a.md", "---\nlayer: rule\nvalid_until: 2999-01-01\n---\nFor now.\n")
    vault = opening(folder)
    keep(vault)

    assert kept(vault) is not None
    assert read_kept_rules(str(vault.cache), str(vault.root), "2999-01-02") is None


def test_kept_rules_that_cannot_be_read_are_put_together_anew(sample: Path, opening: OpenVault) -> None:
    vault = opening(sample)
    keep(vault)
    for text in ("", "{", "[]", '{"head": 1}', "null"):
        (vault.cache / "rules.json").write_text(text, encoding="utf-8")
        assert kept(vault) is None
    assert "### Say where it comes from" in vault.rules.tell()


@pytest.mark.parametrize(
    "damage",
    [{"notes": [1]}, {"texts": []}, {"texts": {"hook": 5, "text": ""}}, {"texts": {"hook": "\udcff", "text": ""}}],
)
def test_kept_rules_of_another_form_are_put_together_anew(
    sample: Path, opening: OpenVault, damage: dict[str, object]
) -> None:
    vault = opening(sample)
    keep(vault)
    file = vault.cache / "rules.json"
    file.write_text(json.dumps({**json.loads(file.read_text(encoding="utf-8")), **damage}), encoding="utf-8")

    assert kept(vault) is None


def test_kept_rules_that_nest_without_end_are_put_together_anew(sample: Path, opening: OpenVault) -> None:
    vault = opening(sample)
    keep(vault)
    (vault.cache / "rules.json").write_text("[" * 100_000, encoding="utf-8")

    assert kept(vault) is None


def test_while_the_index_is_made_anew_the_kept_rules_are_told_if_their_files_are_the_same(
    sample: Path, opening: OpenVault
) -> None:
    vault = opening(sample)
    keep(vault)
    told = vault.rules.tell()
    vault.catalogue.forget()
    assert ("", told) == (vault.rules.find().text, vault.rules.tell())

    (sample / "Rules" / "Say where it comes from.md").write_text(RULE, encoding="utf-8")
    assert kept(vault) is None


def test_rules_of_half_an_index_are_not_kept(sample: Path, opening: OpenVault) -> None:
    vault = opening(sample)
    vault.catalogue.forget()

    assert not vault.rules.keep(vault.rules.find())
    assert kept(vault) is None
