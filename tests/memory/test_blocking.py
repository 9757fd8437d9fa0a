"""Units of a text, and which two changes touch the same one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.memory.blocking import find_blocked, find_units
from vault_memex.memory.hunks import plan_hunks

TEXT = """# Garden

Tomatoes need sun. Peas do not! Water them daily.

- sow in March
  under glass
- plant out in May

| crop | when |
| peas | June |

```python
x = 1. + 2
y = 3
```
The end
"""
PIECES = ("a b. ", "\n", "- x\n", "```\n", "| a |\n", "# h\n", "~~~\n", " ", "c!", "\r\n")


def test_units_are_sentences_items_rows_headings_and_fenced_blocks() -> None:
    assert [
        "# Garden",
        "Tomatoes need sun.",
        "Peas do not!",
        "Water them daily.",
        "- sow in March\n  under glass",
        "- plant out in May",
        "| crop | when |",
        "| peas | June |",
        "```python\nx = 1. + 2\ny = 3\n```",
        "The end",
    ] == [TEXT[u.start : u.end] for u in find_units(TEXT)]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_units_cover_all_but_white_space_and_do_not_overlap(text: str) -> None:
    units = find_units(text)

    assert list(units) == sorted(units)
    assert all(one.end <= other.start for one, other in pairwise(units))
    assert "".join(text.split()) == "".join("".join(text[u.start : u.end] for u in units).split())


@pytest.mark.parametrize(
    ("mine", "other", "blocked"),
    [
        (("sun", "shade"), ("Tomatoes", "Beans"), "Tomatoes need sun."),
        (("sun", "shade"), ("Peas", "Beans"), None),
        (("under glass", "indoors"), ("March", "April"), "- sow in March\n  under glass"),
        (("y = 3", "y = 4"), ("x = 1", "x = 9"), "```python\nx = 1. + 2\ny = 3\n```"),
        (("June", "July"), ("crop", "plant"), None),
        (("do not!", "do not! Not at all!"), ("Peas", "Beans"), None),
        (("The end\n", "The end\n\nMore.\n"), ("The end", "The beginning"), None),
        (("The end\n", "The end of it\n"), ("The end", "A end"), "The end"),
        (("The end\n", "The end\n\nMore.\n"), ("The end\n", "The end\n\nOther.\n"), "The end"),
    ],
)
def test_two_changes_of_one_unit_block_each_other(
    mine: tuple[str, str], other: tuple[str, str], blocked: str | None
) -> None:
    changes = [plan_hunks(TEXT, TEXT.replace(*pair)) for pair in (mine, other)]

    found = find_blocked(TEXT, changes[0], changes[1:])

    assert blocked == (found and found[1][-len(blocked or "") :])
