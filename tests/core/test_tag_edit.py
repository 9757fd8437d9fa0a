"""Taking a tag out of a note: the tag goes or becomes another, and nothing else is touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.core.markdown import parse_note
from vault_memex.core.tag_edit import plan_tag
from vault_memex.core.tags import merge_tags
from vault_memex.core.text import name_key
from vault_memex.errors import FrontmatterInvalid, NotWritable


@pytest.mark.parametrize(
    ("text", "retired", "merged"),
    [
        (
            "---\ntags: [a, Draft, b] # mine\n---\n",
            "---\ntags: [a, b] # mine\n---\n",
            "---\ntags: [a, idea, b] # mine\n---\n",
        ),
        (
            "---\ntags:\n  - draft\n  - idea\n---\nx",
            "---\ntags:\n  - idea\n---\nx",
            "---\ntags:\n  - idea\n---\nx",
        ),
        ("---\ntags: draft\n---\n", "---\ntags: []\n---\n", "---\ntags: idea\n---\n"),
        ('---\ntags: ["#draft", 7]\n---\n', "---\ntags: [7]\n---\n", "---\ntags: [idea, 7]\n---\n"),
        (
            "A #Draft, no #draft/two #drafts\r\n",
            "A Draft, no #draft/two #drafts\r\n",
            "A #idea, no #draft/two #drafts\r\n",
        ),
        (
            "`#draft` [x](y#draft) \\#draft #draft",
            "`#draft` [x](y#draft) \\#draft draft",
            "`#draft` [x](y#draft) \\#draft #idea",
        ),
        ("none here", "none here", "none here"),
        ("---\ntitle: draft\n---\ndraft", "---\ntitle: draft\n---\ndraft", "---\ntitle: draft\n---\ndraft"),
    ],
)
def test_a_tag_is_taken_out_or_replaced_where_it_is_a_tag(text: str, retired: str, merged: str) -> None:
    assert retired == plan_tag(text, "draft")
    assert merged == plan_tag(text, "draft", "idea")


@pytest.mark.parametrize(
    "text", ["---\ntags: [draft\n---\n#draft\n", "---\ntags: &a [draft]\nb: *a\n---\n#draft\n"]
)
def test_a_block_that_cannot_be_edited_is_refused_or_has_no_tags_to_change(text: str) -> None:
    try:
        after = plan_tag(text, "draft", "idea")
    except (FrontmatterInvalid, NotWritable):
        return

    assert text.replace("#draft", "#idea") == after


PIECES = st.sampled_from(
    [
        *(
            "#draft",
            "#Draft",
            "#draft/x",
            "#idea",
            "#ok",
            "draft",
            "`#draft`",
            "[[#draft]]",
            "http://a/#draft",
            "# draft",
        ),
        *(" ", "\n", "\r\n", ", ", "- ", "> ", "\n```\n", "%%", "<!-- ", " -->", "(", ")", "é", "🙂"),
    ]
)
LISTS = st.lists(st.sampled_from(["draft", "Draft", "idea", "draft/x", "a b", "7", '"#draft"']), max_size=4)


@given(st.lists(PIECES, max_size=14), LISTS, st.sampled_from(["", "idea", "new/one"]))
def test_the_tags_of_any_note_are_those_that_were_meant(pieces: list[str], tags: list[str], into: str) -> None:
    head = f"---\nkept: [draft, '#draft']  # draft\ntags: [{', '.join(tags)}]\n---\n"
    text = head + "".join(pieces)
    before = parse_note(text).tags
    try:
        after = plan_tag(text, "draft", into)
    except NotWritable:
        return
    kept = [tag for tag in before if name_key(tag) != "draft"]
    wanted = merge_tags(kept, [into] if into and len(kept) < len(before) else ())

    assert set(map(name_key, wanted)) == set(map(name_key, parse_note(after).tags))
    assert after.startswith("---\nkept: [draft, '#draft']  # draft\n")
    plain = after.replace(f"#{into}", "") if into else after
    assert len(plain) <= len(text) + len(tags) * len(into)
