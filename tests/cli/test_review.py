"""The review on the command line, by letters and by numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tests.cli.test_commands import Run, run  # noqa: F401 -- a fixture
from tests.conftest import OpenVault
from tests.services.test_editing import edit
from tests.services.test_review import BOOKED, MOVED, PLAN, inbox_of, plan, read  # noqa: F401 -- a fixture
from vault_memex.cli.review_talk import talk
from vault_memex.services.requests import EditRequest, SaveRequest
from vault_memex.vault import Vault


@pytest.fixture
def waiting(plan: Path, opening: OpenVault) -> Vault:  # noqa: F811
    """The owner's vault with two proposals and a new note that wait."""
    agent = opening(plan, policy="reviewed")
    agent.editing.edit(edit("Plan", MOVED, comment="Anna said so."))
    other = opening(plan, policy="reviewed", connection="other")
    other.editing.edit(edit("Plan", BOOKED))
    agent.editing.save(SaveRequest("Idea", "A thought.", "state"))
    return opening(plan, role="owner", connection="owner")


def say(vault: Vault, *answers: str) -> str:
    """Answer one after the other; return what was shown, without colours."""
    left: Iterator[str] = iter(answers)
    shown = StringIO()

    def ask(_: str) -> str:
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    assert 0 == talk(vault, ask, Console(file=shown, width=100, highlight=False))
    assert [] == list(left)
    return shown.getvalue()


def test_letters_approve_reject_and_comment(waiting: Vault) -> None:
    shown = say(waiting, "c", "Right.", "p", "a", "r", "a")

    assert "Proposal 1: edit of Plan" in shown
    assert "Anna said so." in shown
    assert "We meet on MondayTuesday. Bring cake." in shown
    assert "approved: proposal 1" in shown
    assert "rejected: proposal 2" in shown
    assert "New note: Idea" in shown
    assert "3 decided." in shown
    assert PLAN.replace("Monday", "Tuesday") == read(waiting.root)
    assert "review" not in read(waiting.root, "Idea.md")
    first = next(e for e in waiting.transactor.stores.journal.read() if e.kind == "approved")
    assert ("Right.", True) == (first.details["comment"], first.details["precedent"])


def test_the_last_decision_is_undone_and_asked_again(waiting: Vault) -> None:
    shown = say(waiting, "a", "u", "s", "x", "q")

    assert 2 == shown.count("Proposal 1: edit")
    assert "Type one of the letters." in shown
    assert "0 decided." in shown
    assert (PLAN, ["0001-edit-1.md", "0002-edit-1.md"]) == (read(waiting.root), inbox_of(waiting.root))


def test_a_text_changed_in_the_editor_is_what_is_approved(waiting: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import sys; p = sys.argv[1]; t = open(p).read(); open(p, 'w').write(t.replace('text\\nTuesday', 'text\\nFriday'))"
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f'{sys.executable} -c "{code}"')

    shown = say(waiting, "e", "a", "q")

    assert "You changed the proposed text." in shown
    assert PLAN.replace("Monday", "Friday") == read(waiting.root)


def test_what_does_not_fit_any_more_is_shown_and_not_applied(waiting: Vault) -> None:
    (waiting.root / "Plan.md").write_text(PLAN.replace("Monday", "Sunday"), encoding="utf-8")

    shown = say(waiting, "a", "s", "a", "q")

    assert "does not fit any more: 'Monday' → 'Tuesday'" in shown
    assert "Nothing of proposal 1 fits the note any more" in shown
    assert PLAN.replace("Monday", "Sunday").replace("book hall", "hall is booked") == read(waiting.root)


def test_scripts_list_decide_and_apply_what_is_in_the_files(
    run: Run,  # noqa: F811
    sample: Path,
    opening: OpenVault,
) -> None:
    agent = opening(sample, policy="reviewed")
    agent.editing.edit(EditRequest("Kiln Berta", summary="A kiln.", comment="short"))
    agent.editing.edit(EditRequest("Kitchen/Ideas.md", comment="Old."))
    agent.editing.save(SaveRequest("Idea", "A thought.", "state"))

    listed = json.loads(run("review", "--json").out)
    table = run("review")
    approved = json.loads(run("review", "approve", "1", "--comment", "ok", "--precedent", "--json").out)
    (file,) = (sample / "_memex" / "inbox").glob("0002-*.md")
    file.write_text(
        file.read_text(encoding="utf-8").replace('decision: ""', "decision: approve"), encoding="utf-8"
    )
    applied = run("review", "--apply")
    rejected = run("review", "reject", "Idea", "--comment", "no")

    assert ["new note", "edit", "report"] == [row["kind"] for row in listed["rows"]]
    assert ("short", 1) == (listed["rows"][1]["reason"], listed["rows"][1]["number"])
    assert "Kiln Berta" in table.out
    assert ["approved"] == [one["outcome"] for one in approved["decided"]]
    assert "acknowledged: proposal 2" in applied.out
    assert "rejected: note, Idea" in rejected.out
    assert "Nothing waits." in run("review").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("approve",), "Name what to decide on"),
        (("approve", "7"), "No proposal 7 waits"),
        (("--comment", "x"), "go with approve or reject"),
        (("approve", "Kiln Berta"), "does not wait"),
        (("approve", "Kiln Berta", "--precedent"), "goes with a proposal"),
    ],
)
def test_what_cannot_be_decided_is_said(run: Run, words: tuple[str, ...], said: str) -> None:  # noqa: F811
    ran = run("review", *words)

    assert ran.status
    assert said in ran.err


def test_a_file_that_cannot_be_acted_on_is_named_with_what_to_write(
    run: Run,  # noqa: F811
    sample: Path,
    opening: OpenVault,
) -> None:
    opening(sample, policy="reviewed").editing.edit(EditRequest("Kiln Berta", summary="A kiln."))
    (file,) = (sample / "_memex" / "inbox").glob("*.md")
    decided = file.read_text(encoding="utf-8").replace('decision: ""', "decision: maybe", 1)
    file.write_text(decided, encoding="utf-8")

    shown = run("review", "--apply")
    as_json = run("review", "--apply", "--json")

    assert (1, 1) == (shown.status, as_json.status)
    assert f"not acted on: _memex/inbox/{file.name}: decision is 'maybe'. Write approve or reject." in shown.out
    assert ([], 1) == (json.loads(as_json.out)["decided"], len(json.loads(as_json.out)["unreadable"]))
    assert decided == file.read_text(encoding="utf-8")


def test_at_a_terminal_it_asks(waiting: Vault) -> None:
    pty = pytest.importorskip("pty")  # not on Windows
    waiting.close(patient=False)
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "vault_memex", "review", "--vault", str(waiting.root)]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.STDOUT) as process:
        os.close(theirs)
        os.write(ours, b"a\nq\n")
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            shown += part
    os.close(ours)

    assert (0, True) == (process.returncode, b"approved: proposal 1" in shown)
    assert PLAN.replace("Monday", "Tuesday") == read(waiting.root)
