"""What `.memex/connections.toml` may say, what a scope holds, and edits that leave the person's bytes alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.errors import Forbidden, InvalidArgument, NotFound
from vault_memex.memory.connections import (
    GIVEN_ROLES,
    ROLES,
    Connection,
    Role,
    find_connection,
    lower_role,
    parse_connections,
)
from vault_memex.memory.connections_edit import plan_connection, plan_removal
from vault_memex.memory.scope import Scope

FILE = """\
# the two of them
[claude-code]
role   = "curator"    # trusted
scopes = [
  "Work/**",  # and nothing private
  "Journal",
]

["my.bot"]
role = 'reader'
"""


def test_a_file_is_read_with_its_defaults() -> None:
    text = '[a]\n[b]\nrole = "curator"\nscopes = ["Work/**", "Journal"]\nhidden_skills = ["tidy"]\n'

    assert {
        "a": Connection("a"),
        "b": Connection("b", "curator", ("Work/**", "Journal"), ("tidy",)),
    } == parse_connections(text)
    assert {} == parse_connections("")


@pytest.mark.parametrize(
    ("text", "argument", "said"),
    [
        ("[a", "connections.toml", "does not parse"),
        ("a = 1", "a", "is a table"),
        ('[a]\nrights = "all"', "rights", "Known: role, scopes, hidden_skills"),
        ('[a]\nrole = "owner"', "role", "write one of reader, agent, curator"),
        ('[a]\nrole = "admin"', "role", "write one of reader, agent, curator"),
        ("[a]\nrole = 1", "role", "write one of reader, agent, curator"),
        ('[a]\nscopes = "Work"', "scopes", "is a list of texts"),
        ("[a]\nscopes = [1]", "scopes", "is a list of texts"),
        ('[a]\nscopes = [""]', "scopes", "write a folder or a pattern"),
        ('[a]\nscopes = ["../x"]', "scopes", "write a folder or a pattern"),
        ('["a/b"]', "name", "names no connection"),
        ('[" a"]', "name", "names no connection"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_may_be_written(text: str, argument: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said) as caught:
        parse_connections(text)

    assert argument == caught.value.argument


@given(st.sampled_from(ROLES), st.sampled_from(ROLES))
def test_the_lower_role_never_rises_and_does_not_depend_on_the_order(one: Role, other: Role) -> None:
    lower = lower_role(one, other)

    assert lower in (one, other)
    assert ROLES.index(lower) <= min(ROLES.index(one), ROLES.index(other))
    assert lower == lower_role(other, one)


@pytest.mark.parametrize("asked", [None, *ROLES])
@pytest.mark.parametrize("listed", [None, *GIVEN_ROLES])
def test_a_connection_has_the_lower_of_what_it_asks_for_and_what_the_file_gives(
    asked: Role | None, listed: Role | None
) -> None:
    connections = {"bot": Connection("bot", listed, ("Work",))} if listed else {}
    given_role = listed or "agent"

    found = find_connection(connections, "bot", asked)

    assert (given_role if asked is None else lower_role(asked, given_role)) == found.role
    assert (("Work",) if listed else ()) == found.scopes
    assert "owner" != found.role


@pytest.mark.parametrize(
    ("patterns", "inside", "outside"),
    [
        (("Work",), ("Work/a.md", "Work/b/c.md", "Work.md"), ("Workshop/a.md", "x/Work/a.md", "work/a.md")),
        (("Work/**",), ("Work/a.md", "Work/b/c.md"), ("Work.md", "a.md")),
        (("Work/*.md", "/Home/"), ("Work/a.md", "Home/x.md"), ("Homes/x.md",)),
        (("Caf\u00e9",), ("Cafe\u0301/a.md",), ("Cafe/a.md",)),
        (("*/Log",), ("a/Log.md", "a/Log/b.md"), ("Log.md", "a/Logs.md")),
        (("No [12]",), ("No 1/a.md", "No 2.md"), ("No 3/a.md", "No [12]/a.md")),
    ],
)
def test_a_scope_holds_folders_and_patterns_and_nothing_beside_them(
    patterns: tuple[str, ...], inside: tuple[str, ...], outside: tuple[str, ...]
) -> None:
    scope = Scope(patterns)

    assert [] == [path for path in inside if not scope.holds(path)]
    assert [] == [path for path in outside if scope.holds(path)]
    for path in outside:
        with pytest.raises(Forbidden) as caught:
            scope.check(path)
        assert path not in caught.value.message
    assert all(Scope().holds(path) for path in (*inside, *outside))


def test_setting_a_role_changes_nothing_else() -> None:
    assert FILE.replace('"curator"', '"agent"') == plan_connection(FILE, "claude-code", role="agent")


def test_setting_a_scope_leaves_the_other_connections_and_comments() -> None:
    planned = plan_connection(FILE, "my.bot", scopes=["Journal/2026*"])

    assert FILE + 'scopes = ["Journal/2026*"]\n' == planned


def test_taking_a_scope_away_and_adding_and_removing_a_connection() -> None:
    without = plan_connection(FILE, "claude-code", scopes=[])
    added = plan_connection(FILE, "third", scopes=["A", "B/**"])

    assert () == parse_connections(without)["claude-code"].scopes
    assert 'role   = "curator"    # trusted\n' in without
    assert added.startswith(FILE)
    assert Connection("third", "agent", ("A", "B/**")) == parse_connections(added)["third"]
    assert parse_connections(FILE) == parse_connections(plan_removal(added, "third"))
    assert Connection("first", "reader") == parse_connections(plan_connection("", "first", role="reader"))["first"]


def test_tables_written_in_one_line_are_edited_where_they_stand() -> None:
    assert 'a = {role = "reader"} # short\n' == plan_connection(
        'a = {role = "agent"} # short\n', "a", role="reader"
    )


@pytest.mark.parametrize("bad", [{"role": "owner"}, {"scopes": ["../"]}])
def test_an_edit_that_makes_no_sense_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        plan_connection(FILE, "claude-code", **bad)  # type: ignore[arg-type]


def test_removing_one_that_is_not_listed_names_those_that_are() -> None:
    with pytest.raises(NotFound, match=r"Listed: claude-code, my\.bot"):
        plan_removal(FILE, "nobody")
