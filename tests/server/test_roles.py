"""Who may do what: each write by each role, cell by cell, through a real client and a real process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import serve_command
from tests.server.test_stdio import RawServer
from vault_memex.errors import InvalidArgument
from vault_memex.memory.connections import GIVEN_ROLES, Role
from vault_memex.session import open_session

NOTES = {
    "Plain.md": "A plain note.\n",
    "State.md": "---\nlayer: state\n---\nThe plan is north.\n",
    "Past.md": "---\nlayer: past\n---\nIt rained.\n",
    "Rule.md": "---\nlayer: rule\n---\nBe brief.\n",
    "Locked.md": "---\nlocked: true\n---\nLeave it.\n",
    "Skill.md": "---\nlayer: state\ntags: [skill]\n---\nHow to fish.\n",
    "Me.md": "---\ntags: [user-profile]\n---\nI am Ada.\n",
}
ROLES = (*GIVEN_ROLES, "stranger")
APPLIED = "applied"


def cell(tool: str, outcome: str, **arguments: Any) -> tuple[str, dict[str, Any], str]:
    return tool, arguments, outcome


CELLS: Mapping[str, tuple[str, dict[str, Any], str]] = {  # by what is written: the call, and its outcome
    "new note": cell("save", "created", title="New", body="Something about boats.", layer="state"),
    "new record": cell("save", "created", title="New record", body="They sailed at dawn.", layer="past"),
    "new rule": cell("save", "created", title="New rule", body="Whisper at night.", layer="rule"),
    "anchored edit of a plain note": cell("edit", APPLIED, ref="Plain.md", patch=[{"append": "more"}]),
    "anchored edit of a state": cell(
        "edit", APPLIED, ref="State.md", patch=[{"find": "north", "replace": "south"}]
    ),
    "field of a state": cell("edit", APPLIED, ref="State.md", summary="A plan"),
    "title of a state": cell("edit", "renamed", ref="State.md", title="Plan"),
    "whole body of a plain note": cell(
        "edit", APPLIED, ref="Plain.md", body="Quite another text.", if_revision="{}"
    ),
    "text of a record": cell("edit", "PAST_IMMUTABLE", ref="Past.md", patch=[{"append": "more"}]),
    "whole body of a record": cell("edit", "PAST_IMMUTABLE", ref="Past.md", body="Sun shone.", if_revision="{}"),
    "title of a record": cell("edit", "PAST_IMMUTABLE", ref="Past.md", title="Sun"),
    "layer of a record": cell("edit", "PAST_IMMUTABLE", ref="Past.md", layer="state"),
    "tags and summary of a record": cell("edit", APPLIED, ref="Past.md", tags=["rain"], summary="Rain"),
    "text of a rule": cell("edit", "RULE_USER_ONLY", ref="Rule.md", patch=[{"append": "more"}]),
    "tags of a rule": cell("edit", "RULE_USER_ONLY", ref="Rule.md", tags=["x"]),
    "a note made a rule": cell("edit", "RULE_USER_ONLY", ref="Plain.md", layer="rule"),
    "a rule made a state": cell("edit", "RULE_USER_ONLY", ref="Rule.md", layer="state"),
    "a locked note": cell("edit", "NOT_WRITABLE", ref="Locked.md", patch=[{"append": "more"}]),
    "deleted without a reason": cell("retire", "INVALID_ARGUMENT", ref="Plain.md"),
    "deleted with a reason": cell("retire", "deleted", ref="Plain.md", reason="It is empty."),
    "a rule deleted": cell("retire", "RULE_USER_ONLY", ref="Rule.md", reason="No use."),
    "a rule deleted, held": cell("retire", "held", ref="Rule.md", reason="No use.", hold=True),
    "new note, held": cell("save", "pending", title="New held", body="About nets.", layer="state", hold=True),
    "new skill": cell("save", "pending", title="New skill", body="How to row.", layer="state", tags=["skill"]),
    "edit, held": cell("edit", "held", ref="Plain.md", patch=[{"append": "more"}], hold=True),
    "text of a skill": cell("edit", "held", ref="Skill.md", patch=[{"append": "more"}]),
    "a skill that loses its tag": cell("edit", "held", ref="Skill.md", tags=["x"]),
    "field of the profile": cell("edit", "held", ref="Me.md", summary="Ada"),
    "a note made a skill": cell("edit", "held", ref="Plain.md", tags=["skill"]),
    "a note made the profile by its text": cell(
        "edit", "held", ref="Plain.md", patch=[{"append": "#user-profile"}]
    ),
    "a skill deleted": cell("retire", "held", ref="Skill.md", reason="No use."),
    "merged": cell("retire", "held", ref="Plain.md", action="merge", into="Skill.md", reason="The same."),
    "merged into a record": cell(
        "retire", "held", ref="Plain.md", action="merge", into="Past.md", reason="The same."
    ),
    "merged into a record, new text": cell(
        "retire",
        "PAST_IMMUTABLE",
        ref="Plain.md",
        action="merge",
        into="Past.md",
        merged_body="New.",
        reason="No.",
    ),
    "deleted, held": cell("retire", "held", ref="Plain.md", reason="It is empty.", hold=True),
    "report": cell("edit", "reported", ref="Rule.md", comment="Nobody does this."),
    "inference not confirmed": cell(
        "insight_decide", "CONFIRMATION_REQUIRED", action="mint", title="T", summary="S", evidence=["State.md"]
    ),
    "inference confirmed": cell(
        "insight_decide", "minted", action="mint", title="T", summary="S", evidence=["State.md"], confirmed=True
    ),
    "a signal decided that is none": cell("insight_decide", "NOT_FOUND", action="dismiss", id=99),
    "run record": cell("curation_record", "recorded", kind="run_summary", body="Looked.", examined=["Plain.md"]),
    "a flag closed where there is none": cell(
        "curation_record", "NOT_FOUND", kind="flag_resolution", ref="Plain.md", resolution="Done."
    ),
    "entity": cell(
        "graph_edit", "created", entities=[{"name": "Ada", "entityType": "person", "observations": []}]
    ),
}
FOR_CURATORS = dict.fromkeys(("run record", "a flag closed where there is none"), "FORBIDDEN")
WAITS = {  # what differs: under the policy `reviewed` for an agent, for a curator, for a curator under `reviewed`
    "agent personal": FOR_CURATORS,
    "agent reviewed": {
        **FOR_CURATORS,
        **dict.fromkeys(("new note", "new record", "new rule"), "pending"),
        **dict.fromkeys(
            (
                "anchored edit of a plain note",
                "anchored edit of a state",
                "field of a state",
                "title of a state",
                "whole body of a plain note",
                "tags and summary of a record",
                "deleted with a reason",
            ),
            "held",
        ),
        "entity": "ROLE_REQUIRED",
    },
    "curator personal": {"whole body of a plain note": "held"},
    "curator reviewed": {"whole body of a plain note": "held", "deleted with a reason": "held"},
}
WRITTEN = ("created", APPLIED, "renamed", "deleted", "minted", "pending", "held", "reported", "recorded")
NEVER = ("approve", "reject", "amend", "flag", "purge", "restore", "set_role", "connections", "token", "review")


@dataclass(frozen=True)
class Connected:
    role: str
    policy: str
    root: Path
    server: RawServer

    def find_expected(self, what: str, outcome: str) -> str:
        role = "agent" if self.role == "stranger" else self.role
        return "FORBIDDEN" if role == "reader" else WAITS.get(f"{role} {self.policy}", {}).get(what, outcome)


@pytest.fixture(scope="module", params=[(r, p) for r in ROLES for p in ("personal", "reviewed")], ids="-".join)
def connected(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connected]:
    """One process a role and policy: its vault is brought back to what it was before each cell."""
    role, policy = request.param
    root = tmp_path_factory.mktemp(role)
    (root / ".memex").mkdir()
    listed = "".join(f'[{one}-bot]\nrole = "{one}"\n' for one in GIVEN_ROLES)
    (root / ".memex/connections.toml").write_text(listed, encoding="utf-8")
    (root / ".memex/config.toml").write_text(f'policy = "{policy}"\n', encoding="utf-8")
    put_back(root)
    more = ("--model", "none", "--tools", "full", "--role", "curator", "--as", f"{role}-bot")
    server = RawServer([*serve_command(root, *more), "--cache-dir", str(tmp_path_factory.mktemp("cache"))])
    server.start()
    yield Connected(role, policy, root, server)
    server.close()


def put_back(root: Path) -> None:
    for file in root.rglob("*.md"):
        if file.name not in NOTES:
            file.unlink()
    for name, text in NOTES.items():
        (root / name).write_text(text, encoding="utf-8")


def read_all(root: Path) -> dict[str, str]:
    """Return the texts of notes, and of what is written beside them but for proposals."""
    return {str(file.relative_to(root)): file.read_text("utf-8") for file in sorted(root.rglob("*.md"))}


def find_outcome(result: Mapping[str, Any]) -> str:
    if result.get("isError"):
        return str(result["content"][0]["text"]).partition(":")[0]
    value = result["structuredContent"]
    if "outcome" in value:
        return str(value["outcome"])
    return "created" if value.get("created") else str(value.get("action"))


@pytest.mark.parametrize("what", CELLS)
def test_each_write_by_each_role(connected: Connected, what: str) -> None:
    root, server = connected.root, connected.server
    put_back(root)
    before = read_all(root)
    tool, arguments, outcome = CELLS[what]
    if "if_revision" in arguments:
        text = server.call("get", ref=arguments["ref"])
        arguments = {**arguments, "if_revision": text.partition("revision: ")[2].split()[0].rstrip("·")}
    result = server.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
    expected = connected.find_expected(what, outcome)

    assert expected == find_outcome(result), result
    assert (read_all(root) != before) == (expected in WRITTEN)
    if expected in ("held", "reported"):
        assert before == {name: text for name, text in read_all(root).items() if not name.startswith("_memex")}
    if what == "new rule" and connected.role != "reader":
        assert "rule_status: provisional" in (root / "New rule.md").read_text(encoding="utf-8")


def test_tools_that_a_role_may_not_use_are_not_listed(connected: Connected) -> None:
    role, server = connected.role, connected.server
    tools = server.ask("tools/list")["result"]["tools"]
    writing = {tool["name"] for tool in tools if not tool["annotations"]["readOnlyHint"]}

    expected = set() if role == "reader" else {"save", "edit", "retire", "insight_decide", "graph_edit"}

    assert expected | ({"curation_record"} if role == "curator" else set()) == writing
    assert [] == [tool["name"] for tool in tools for word in NEVER if word in tool["name"]]
    assert (
        "role curator" if role == "curator" else "role reader" if role == "reader" else "role agent"
    ) in server.call("status")
    assert f"connected as: {role}-bot" in server.call("status")


@pytest.mark.parametrize("name", NEVER)
def test_what_only_the_person_does_is_no_tool_for_any_role(connected: Connected, name: str) -> None:
    root, server = connected.root, connected.server
    before = (root / ".memex/connections.toml").read_bytes()

    assert "UNKNOWN_TOOL" in server.call(name, ref="Plain.md", role="owner")
    assert before == (root / ".memex/connections.toml").read_bytes()


@pytest.mark.parametrize("path", [".memex/connections.toml", "_memex/x.md", ".memex/x"])
def test_no_tool_reads_or_writes_the_file_of_connections(connected: Connected, path: str) -> None:
    role, server = connected.role, connected.server
    folder, _, name = path.rpartition("/")
    answers = [
        server.call("get", ref=path),
        server.call("save", title=name, folder=folder, body="x", layer="state"),
        server.call("edit", ref="Plain.md", folder=folder),
    ]

    assert [] == [answer for answer in answers if not answer.startswith(("RESERVED", "NOT_FOUND", "FORBIDDEN"))], (
        role
    )


@pytest.mark.parametrize("asked", [None, *GIVEN_ROLES])
@pytest.mark.parametrize("listed", [None, *GIVEN_ROLES])
def test_the_role_is_the_lower_of_what_is_asked_for_and_what_the_file_gives(
    folder: Path, asked: Role | None, listed: Role | None
) -> None:
    if listed:
        (folder / ".memex").mkdir()
        (folder / ".memex/connections.toml").write_text(f'[bot]\nrole = "{listed}"\n', encoding="utf-8")
    flags = {"connection": "bot", "model": "none", **({"role": asked} if asked else {})}
    session = open_session(folder, flags=flags)
    try:
        given = listed or "agent"
        expected = given if asked is None else min(asked, given, key=GIVEN_ROLES.index)

        assert expected == session.config.role
        assert expected == session.status.check().role
    finally:
        session.close(patient=False)


def test_asking_for_the_owners_role_gives_what_the_file_gives(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_MEMEX_ROLE", "owner")
    monkeypatch.setenv("VAULT_MEMEX_CONNECTION", "bot")
    session = open_session(folder, flags={"model": "none"})
    try:
        assert ("bot", "agent") == (session.config.connection, session.config.role)
    finally:
        session.close(patient=False)


def test_a_client_that_calls_itself_by_a_listed_name_has_no_more_rights(sample: Path) -> None:
    (sample / ".memex").mkdir(exist_ok=True)
    (sample / ".memex/connections.toml").write_text('[raw-client]\nrole = "curator"\n', encoding="utf-8")
    server = RawServer(serve_command(sample, "--model", "none"))
    try:
        server.start()

        assert "connected as: raw-client · role agent" in server.call("status")
    finally:
        server.close()


def test_a_file_that_makes_no_sense_stops_the_start(folder: Path) -> None:
    (folder / ".memex").mkdir()
    (folder / ".memex/connections.toml").write_text('[bot]\nrole = "admin"\n', encoding="utf-8")

    with pytest.raises(InvalidArgument, match="write one of reader, agent, curator"):
        open_session(folder, flags={"connection": "other", "model": "none"})
