"""The list of retired tags: read as people write it, changed line by line."""

from __future__ import annotations

import pytest

from vault_memex.memory.retired_tags import (
    RetiredTag,
    find_successor,
    find_warnings,
    parse_retired,
    plan_restored,
    plan_retired,
)

DRAFT = RetiredTag("draft", "idea", "2026-11-30", "one word for one thing")
MISC = RetiredTag("misc", "", "2026-11-30")


def test_what_is_written_is_read_back_and_the_first_line_says_what_the_file_is() -> None:
    text = plan_retired(plan_retired("", DRAFT), MISC)

    assert [DRAFT, MISC] == list(parse_retired(text).values())
    assert text.startswith("---\nabout: tags")
    assert "- `draft` → `idea` (2026-11-30): one word for one thing\n- `misc` (2026-11-30)\n" in text


def test_whatever_else_stands_there_stays_and_a_restored_tag_alone_goes() -> None:
    mine = "My list\r\n\r\n- `a`\r\n- **bold** `b` is no line\r\n* `#Draft` -> `#idea`: mine\r\nend"
    text = plan_retired(mine, MISC)

    assert f"{mine}\r\n- `misc` (2026-11-30)\r\n" == text
    assert ["a", "draft", "misc"] == list(parse_retired(text))
    assert RetiredTag("Draft", "idea", "", "mine") == parse_retired(text)["draft"]
    assert text.replace("* `#Draft` -> `#idea`: mine\r\n", "") == plan_restored(text, "DRAFT")
    assert text == plan_restored(text, "b")


@pytest.mark.parametrize(
    ("lines", "name", "successor"),
    [
        ("- `a` → `b`\n- `b` → `c`\n", "A", "c"),
        ("- `a` → `b`\n- `b`\n", "a", ""),
        ("- `a` → `b`\n- `b` → `a`\n", "a", ""),
        ("- `a` → `a`\n", "a", ""),
        ("- `a`\n", "a", ""),
        ("- `a` → `b`\n", "b", ""),
    ],
)
def test_what_to_write_instead_is_the_end_of_the_chain(lines: str, name: str, successor: str) -> None:
    assert successor == find_successor(parse_retired(lines), name)


def test_each_retired_tag_is_warned_of_once() -> None:
    retired = parse_retired("- `draft` → `idea`\n- `misc`\n")

    assert (
        "The tag 'draft' is retired: write 'idea' instead.",
        "The tag 'misc' is retired: the person took it out of use.",
    ) == find_warnings(retired, ["Draft", "kiln", "misc", "draft"])
