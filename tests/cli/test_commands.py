"""The commands as a person and a script see them: output, exit status, errors."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from vault_memex.cli import main
from vault_memex.cli.output import print_table


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture
def run(sample: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on the sample vault, by words only unless the test says otherwise."""
    monkeypatch.setenv("VAULT_MEMEX_VAULT", str(sample))
    monkeypatch.setenv("VAULT_MEMEX_MODEL", "none")

    def run_one(*arguments: str) -> Ran:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        captured = capsys.readouterr()
        return Ran(int(ended.value.code or 0), captured.out, captured.err)

    return run_one


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "--no-vectors"),
        ("search", "kiln"),
        ("get", "Kiln Berta"),
        ("status",),
    ],
)
def test_json_is_all_there_is_on_standard_output(run: Run, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments, "--json")

    assert (0, "") == (ran.status, ran.err)
    assert isinstance(json.loads(ran.out), dict)


def test_search_prints_a_list_with_path_section_and_text(run: Run) -> None:
    ran = run("search", "front-loader", "contactor", "--limit", "1")

    assert 0 == ran.status
    assert [
        "1. 2026-10-14 Electrician about the kiln feed",
        "   Meetings/2026-10-14 Electrician about the kiln feed.md",
        "   Electrician about the kiln feed",
    ] == [ran.out.splitlines()[0].partition(" · ")[0], *ran.out.splitlines()[1:3]]
    assert "contactor outside the kiln room" in ran.out.splitlines()[3]


def test_search_ends_in_the_flashbacks_of_the_best_match(run: Run) -> None:
    ran = run("search", "damp", "drying", "room", "--limit", "1")
    as_json = json.loads(run("search", "damp", "drying", "room", "--json").out)

    head, line = ran.out.splitlines()[-2:]
    assert "Flashbacks, older notes from elsewhere:" == head
    assert line.strip().endswith(' days ago: "Damp in the pantry"')
    assert ["House/Damp in the pantry.md"] == [flashback["path"] for flashback in as_json["flashbacks"]]


def test_search_says_with_its_status_that_nothing_matches(run: Run) -> None:
    ran = run("search", "quasar")

    assert 1 == ran.status
    assert ran.out.startswith("No note matches.\nNowhere in the vault: quasar.\n")


def test_filters_that_leave_no_note_are_named_as_the_cause(run: Run) -> None:
    assert "Searched none of 49 notes (the filters leave none)." in run("search", "kiln", "--tag", "nosuchtag").out


@pytest.mark.parametrize("value", [">2", ">=2", "<2"])
def test_a_comparison_written_with_its_sign_is_answered_with_the_operators(run: Run, value: str) -> None:
    ran = run("search", "kiln", "--property", f"priority={value}")

    assert "a comparison is written priority={$gt: 2}" in ran.err


def test_the_first_look_for_signals_says_what_takes_its_time(run: Run) -> None:
    first, second = run("insights"), run("insights")

    assert "the first time takes some seconds" in first.err
    assert "" == second.err


def test_brackets_of_notes_are_printed_as_they_stand(run: Run, sample: Path) -> None:
    (sample / "Odd.md").write_text("- [x] zorb done\n- [/] half\n- [bold]not bold[/]\n", encoding="utf-8")

    assert "- [x] zorb done - [/] half - [bold]not bold[/]" in run("search", "zorb").out


def test_a_table_prints_brackets_as_they_stand(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["what"], [["[x] and [/closing]"]])

    assert "[x] and [/closing]" in capsys.readouterr().out


def test_a_terminal_gets_lines_within_its_width(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "80")

    shown = run("search", "kiln").out.splitlines()

    assert [] == [line for line in shown if len(line.rstrip()) > 80]
    assert any(line.startswith("   ") and len(line.rstrip()) > 60 for line in shown)


def test_meaning_is_not_waited_for_when_nothing_is_embedded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VAULT_MEMEX_MODEL")

    answer = json.loads(run("search", "kiln", "--json").out)

    assert "`vault-memex index`" in answer["semantic_search_unavailable"]
    assert answer["rows"]


@pytest.mark.parametrize(
    ("condition", "titles"),
    [
        ("status=active", {"Boathouse renovation", "Harbour Café tableware", "설날 여행 계획"}),
        ("priority={$gte: 2}", {"Boathouse renovation"}),
        ("decided_by=[Asel, Tomas]", {"2025-04-10 Cone 6 for the café line", "2026-09-30 Berta is retired"}),
        ("due=2026-12-15", {"Harbour Café tableware"}),
        ("permits.kiln.number=2026/31", {"Boathouse renovation"}),
    ],
)
def test_a_property_is_written_as_in_frontmatter(run: Run, condition: str, titles: set[str]) -> None:
    found = json.loads(run("search", "--property", condition, "--json").out)

    assert titles == {row["title"] for row in found["rows"]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("get", "Kiln"), "No note 'Kiln'. Near: Studio/Kiln Berta.md"),
        (("get", "Kiln Berta", "--section", "Price"), "Kiln Berta > Habits"),
        (("search", "--property", "status"), "write KEY=VALUE"),
        (("search", "--property", "a={"), "no YAML value"),
        (("search", "--since", "yesterday", "x"), "updated_after"),
        (("status", "--vault", "/nowhere/at/all"), "There is no folder"),
        (("init", "/nowhere/at/all"), "is not a folder"),
    ],
)
def test_what_the_caller_can_mend_is_said_on_standard_error(
    run: Run, arguments: tuple[str, ...], said: str
) -> None:
    ran = run(*arguments)

    assert (2, "") == (ran.status, ran.out)
    assert ran.err.startswith("vault-memex: ")
    assert said in ran.err


def test_outside_of_any_vault_the_command_says_how_to_name_one(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VAULT_MEMEX_VAULT")
    monkeypatch.chdir(tmp_path)

    ran = run("status")

    assert 2 == ran.status
    assert "--vault DIR" in ran.err


def test_a_folder_inside_the_vault_is_enough(run: Run, sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VAULT_MEMEX_VAULT")
    monkeypatch.chdir(sample / "Studio" / "Log")

    assert "vault: vault · " in run("status").out


@pytest.mark.parametrize(
    ("environment", "said", "log"),
    [
        ("auto", "committed: Set up vault-memex", "Set up vault-memex"),
        ("off", "git add .memex/config.toml .memex/.gitattributes .memex/.gitignore", ""),
    ],
)
def test_init_commits_its_files_alone_or_says_what_to_add(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: str, said: str, log: str
) -> None:
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "Note.md").write_text("Mine, and not to be committed.\n", encoding="utf-8")
    git(folder, "init", "-q")
    monkeypatch.setenv("VAULT_MEMEX_COMMIT", environment)

    ran = run("init", str(folder))

    assert said in ran.out
    assert log == git(folder, "log", "--all", "--format=%s")
    names = {".memex/.gitattributes", ".memex/.gitignore", ".memex/config.toml"} if log else set()
    assert names == set(git(folder, "ls-files").split())


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_init_says_what_it_made_and_how_to_connect(run: Run, sample: Path) -> None:
    ran = run("init", str(sample))

    assert 0 == ran.status
    assert f"claude mcp add memory -- vault-memex serve --vault {sample}" in ran.out
    assert (sample / ".memex" / "config.toml").is_file()


def test_the_command_to_connect_survives_spaces_in_the_path(run: Run, sample: Path) -> None:
    spaced = sample.rename(sample.with_name("My vault"))

    assert f"--vault '{spaced}'" in run("init", str(spaced)).out


def test_no_command_prints_the_help(run: Run) -> None:
    ran = run()

    assert 0 == ran.status
    assert "usage: vault-memex" in ran.out


def test_a_closed_pipe_is_no_error(sample: Path) -> None:
    command = f"{sys.executable} -m vault_memex get 'Kiln Berta' --vault '{sample}' | head -n 1"

    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], check=False, capture_output=True, text=True, timeout=60
    )

    assert ("# Kiln Berta\n", "") == (done.stdout, done.stderr)


# -- insights


def test_signals_are_listed_shown_and_decided(run: Run) -> None:
    listed = run("insights", "--type", "dangling_link")
    numbers = {
        signal["detail"]: str(signal["id"])
        for signal in json.loads(run("insights", "--type", "dangling_link", "--json").out)["signals"]
    }
    dismissed = run("insights", numbers["typo"], "--dismiss")
    snoozed = run("insights", numbers["forward"], "--snooze", "2999-01-31")
    left = run("insights", "--type", "dangling_link")
    shown = run("insights", numbers["typo"])
    reopened = run("insights", numbers["typo"], "--reopen")

    assert "'Loose ends' links to [[Sponge supplier]], which is not written yet." in listed.out
    assert "3 of 3 signals." in listed.out
    assert f"{numbers['typo']}. dangling link (typo) · dismissed · " in dismissed.out
    assert "dangling link (forward) · snoozed until 2999-01-31 · " in snoozed.out
    assert "1 of 1 signals." in left.out
    assert "Boathouse renovation" in shown.out
    assert "dangling link (typo) · new · " in reopened.out


def test_all_links_of_a_note_are_dismissed_and_that_is_taken_back(run: Run) -> None:
    found = json.loads(run("insights", "--type", "dangling_link", "--json").out)["signals"]
    run("insights", str(found[0]["id"]), "--dismiss", "--every-link")
    every = json.loads(run("insights", "--status", "dismissed", "--json").out)["signals"]
    number = next(str(signal["id"]) for signal in every if signal["detail"] == "every link")

    assert "Links of that note are looked for again.\n" == run("insights", number, "--reopen").out


def test_inferences_are_none_at_first_and_wrong_decisions_say_so(run: Run) -> None:
    assert (1, "0 of 0 inferences.\n") == (
        (ran := run("insights", "--inferences")).status,
        ran.out,
    )
    for arguments, fault in (
        (("insights", "--dismiss"), "Name the signal: vault-memex insights NUMBER --dismiss"),
        (("insights", "--inferences", "--archive"), "Name the inference"),
        (("insights", "1", "--archive"), "--archive goes with --inferences"),
        (("insights", "1", "--inferences", "--archive"), "There is no inference 1"),
        (("insights", "77", "--dismiss"), "There is no signal 77"),
    ):
        ran = run(*arguments)

        assert (2, "") == (ran.status, ran.out)
        assert fault in ran.err


def test_calibration_shows_each_distance_and_where_it_comes_from(run: Run, sample: Path) -> None:
    (sample / ".memex").mkdir(exist_ok=True)
    (sample / ".memex/config.toml").write_text("[distances]\nrelated = 0.07\n", encoding="utf-8")
    shown = run("doctor", "--calibration")
    report = json.loads(run("doctor", "--calibration", "--json").out)

    assert 0 == shown.status
    assert "0.0700  fixed in the settings" in shown.out
    assert "Not measured: " in shown.out
    assert {"near", "related", "duplicate", "certain", "query_weak", "query_strong"} == {
        row["name"] for row in report["thresholds"]
    }
    assert {"shipped", "fixed in the settings"} == {row["origin"] for row in report["thresholds"]}
    assert (0.07, 0.07) == (report["arc_distance"], report["stale_distance"])
