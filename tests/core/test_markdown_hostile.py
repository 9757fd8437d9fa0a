"""Texts made to slow a parser down take time in proportion to their length."""

from __future__ import annotations

import pytest

from tests.timing import cpu_seconds
from vault_memex.core.markdown import parse_note

UNITS = [
    "[", "[ ", "`", "` ``", "[[", "[[a", "]]", "[[a]", "[[#", "😀[", "<!--", "a <!-- ", "*", "*a ", "*#a ", "_#a ", "==#a",
    "|a|b|\n", "| - | - |\n", "|", "<", "<a ", '<a b="', "a <a b='", ">", "> ", ">\n", ">#a", "$", "$a ", "$$\n", "$x",
    "[a](", "[a](b", "[](", "![", "![a", '[a](b "', "[a](b '[a](b \"", "[a](b (", "[a](<b", "[a](&amp;", "[a](%41)", "](",
    "[a]: b\n", '[a]: b "\n', "[a\n", "[^1]: a\n", "#", "# a\n", "#a", "#a ", "#/", "---\n", "- ", "- a\n", "1. ", "\\",
    "\\[", "%%\n", "%% a\n\n", "a ^b\n", "```\n", "~~~a\n", "<div>\n", "<a>\n", "<![CDATA[", "<?", "a\n===\n", "a\n", "a\r\n",
    "\r", "** a", "---\na: [", "a: &a *a\n",
]  # fmt: skip
DEAREST = ["[](", "- ", "- a\n", "# a\n", "|a|b|\n", "[[a", "`", "a <!-- ", "*#a ", "[a](b \"", ">#a"]  # fmt: skip


pytestmark = pytest.mark.no_cover


def seconds_for(text: str) -> float:
    return cpu_seconds(lambda: parse_note(text))


def shapes(unit: str, size: int) -> list[str]:
    run = (unit * (size // len(unit) + 1))[:size]
    return [run, f"{run} x", f"x {run}", f"---\n{run}\n---\n"]


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_160_kb_of_anything_are_parsed_within_two_seconds(unit: str) -> None:
    assert max(map(seconds_for, shapes(unit, 160_000))) < 2


@pytest.mark.parametrize("unit", DEAREST, ids=ascii)
def test_24_kb_of_the_dearest_are_parsed_within_a_second(unit: str) -> None:
    assert seconds_for(shapes(unit, 24_000)[1]) < 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "![" * 20_000 + "a" + "](b)" * 20_000,
        "[" * 30_000 + "a" + "](b)" * 30_000,
        "[](" * 50_000 + ")",
        "".join(" " * (2 * i) + "- a\n" for i in range(400)),
        "\n".join(">" * i + " a" for i in range(1, 560)),
        "a|" * 50_000 + "\n" + "-|" * 50_000,
    ],
    ids=["nested images", "nested links", "one far bracket", "nested lists", "nested quotes", "wide table"],
)
def test_deep_nesting_is_parsed_within_two_seconds(text: str) -> None:
    assert seconds_for(text) < 2
