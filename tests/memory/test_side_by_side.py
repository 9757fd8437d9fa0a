"""Two texts side by side: both sides are whole, and what stands in a row belongs together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.diff import split_lines
from vault_memex.memory.side_by_side import Line, Row, build_side_by_side


def _show(line: Line | None) -> str:
    return "" if line is None else "".join(f"[{p.text}]" if p.changed else p.text for p in line)


def _rows(before: str, after: str) -> list[tuple[str, str]]:
    return [(_show(row.old), _show(row.new)) for row in build_side_by_side(before, after).rows if row.changed]


def test_only_the_words_that_changed_are_marked() -> None:
    assert [("Fire to [1222] degrees.", "Fire to [1240] degrees.")] == _rows(
        "# Kiln\nFire to 1222 degrees.\nDone.\n", "# Kiln\nFire to 1240 degrees.\nDone.\n"
    )


def test_a_line_that_changed_stands_beside_its_new_form_though_lines_came_in_before_it() -> None:
    before = "Tea with Anna on Monday.\n"
    after = "Buy milk.\nSow beans.\nTea with Anna on Friday.\n"

    assert [
        ("", "[Buy milk.]"),
        ("", "[Sow beans.]"),
        ("Tea with Anna on [Monday].", "Tea with Anna on [Friday]."),
    ] == _rows(before, after)


def test_far_lines_are_left_out_and_counted() -> None:
    before = "".join(f"line {n}\n" for n in range(1, 101))
    rows = build_side_by_side(before, before.replace("line 50\n", "line fifty\n")).rows

    assert Row(None, None, skipped=46) == rows[0]
    assert Row(None, None, skipped=47) == rows[-1]
    assert [47, 48, 49, 50, 51, 52, 53] == [row.old_number for row in rows[1:-1]]


def test_equal_texts_have_no_rows_and_long_ones_are_cut_and_counted() -> None:
    assert () == build_side_by_side("a\n", "a\n").rows
    assert (3, 2) == ((cut := build_side_by_side("", "a\nb\nc\nd\ne\n", most=3)).rows.__len__(), cut.cut)


TEXTS = st.lists(st.sampled_from(["a", "b", "tea", " ", ".", "\n", "\r\n", "\n\n"]), max_size=30).map("".join)


@given(TEXTS, TEXTS)
def test_both_sides_hold_every_line_in_order_with_its_number(before: str, after: str) -> None:
    old, new = split_lines(before), split_lines(after)
    at_old = at_new = 0

    for row in build_side_by_side(before, after).rows:
        if row.skipped:
            assert old[at_old : at_old + row.skipped] == new[at_new : at_new + row.skipped]
            at_old, at_new = at_old + row.skipped, at_new + row.skipped
            continue
        assert row.old is not None or row.new is not None
        if row.old is not None:
            at_old += 1
            assert (at_old, old[at_old - 1].rstrip("\r\n")) == (row.old_number, "".join(p.text for p in row.old))
        if row.new is not None:
            at_new += 1
            assert (at_new, new[at_new - 1].rstrip("\r\n")) == (row.new_number, "".join(p.text for p in row.new))
    if before != after:
        assert (len(old), len(new)) == (at_old, at_new)
