from __future__ import annotations

from vault_memex.core.text import render_subject


def test_what_a_change_is_called_is_one_line_and_no_longer_than_a_subject() -> None:
    assert r"Delete two\nlines" == render_subject("Delete two\nlines")
    assert "x" * 120 == render_subject("x" * 121)
