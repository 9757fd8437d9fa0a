"""Recall through a client: labels, sources, packs within their tokens."""

from __future__ import annotations

import pytest

from tests.server.conftest import Call, text_of
from vault_memex.core.budget import count_tokens

pytestmark = pytest.mark.anyio


async def test_each_note_is_labelled_and_comes_with_its_ref_and_section(call: Call) -> None:
    text = text_of(await call("recall", query="liner soak pinholes", limit=3))

    first, second = (next(line for line in text.splitlines() if f"] {n}. " in line) for n in (1, 2))
    assert "strong · Decisions/2025-09-02 The liner needs a longer soak.md" in first
    assert "weak · " in second
    assert "in: The liner needs a longer soak" in text
    assert "25 minutes at the top temperature" in text
    assert text.splitlines()[-2].split("] ")[1].startswith("refs: Decisions/2025-09-02")


async def test_a_forgiving_question_finds_what_strict_does_not_and_says_it_is_weak(call: Call) -> None:
    strict = (await call("search", query="liner zanzibar", mode="strict")).structured_content
    text = text_of(await call("recall", query="liner zanzibar"))

    assert "no_match" == strict["outcome"]
    assert "Nothing matches strongly" in text
    assert "Nowhere in the vault: zanzibar." in text
    assert ". weak · " in text
    assert ". strong · " not in text


async def test_what_no_longer_holds_is_shown_after_what_does_and_named(call: Call) -> None:
    text = text_of(await call("recall", query="clay body shrinkage stoneware delivery cone 6", limit=10))

    fallen = next(line for line in text.splitlines() if "Clay body S-20.md ·" in line)
    assert "superseded, read Studio/Clay body M-14.md" in fallen
    assert text.index("Clay body M-14.md ·") < text.index("Clay body S-20.md ·")


async def test_an_expired_note_says_so(call: Call) -> None:
    text = text_of(await call("recall", query="harbour market pitch B-17", limit=1))

    assert "Projects/Market pitch 2026.md" in text
    assert " · expired" in text


async def test_a_pack_never_exceeds_its_tokens(call: Call) -> None:
    for query in ("kiln firing Berta", "мама дача крыльцо", "청자 시편 김치"):
        for tokens in (256, 600, 2_000):
            text = text_of(await call("recall", query=query, max_tokens=tokens))

            assert count_tokens(text) <= tokens
            assert ". strong · " in text


async def test_a_pack_ends_with_its_refs_and_what_was_left_out(call: Call) -> None:
    lines = text_of(await call("recall", query="kiln", max_tokens=1_000, max_items=2)).splitlines()

    assert lines[-2].split("] ")[1].startswith("refs: ")
    assert "left out: " in lines[-1]


async def test_filters_narrow_what_is_recalled(call: Call) -> None:
    text = text_of(await call("recall", query="kiln", path_filter="Studio/Log/%", limit=10))

    refs = next(line for line in text.splitlines() if "refs: " in line).split("refs: ")[1].split("; ")
    assert refs
    assert all(ref.startswith("Studio/Log/") for ref in refs)


async def test_working_memory_that_holds_leads_a_pack_and_a_list_where_it_is_preferred(call: Call) -> None:
    for title, until in (("Thursday", "2999-01-01"), ("A year ago", "2025-01-01")):
        body = f"{title}: ask when the rope for the old kiln comes."
        saved = await call("save", title=title, body=body, layer="state", valid_until=until, allow_duplicate=True)
        assert not saved.is_error

    async def find_first(**more: object) -> str:
        text = text_of(await call("recall", query="kiln", **more))
        return next(line.split("] 1. ")[1] for line in text.splitlines() if "] 1. " in line)

    assert "Thursday.md" not in await find_first()
    assert (await find_first(prefer_working=True)).startswith("strong · working · #")
    assert "Thursday.md" in await find_first(max_tokens=2_000)


WRONG: tuple[tuple[dict[str, object], str], ...] = (
    ({}, "query"),
    ({"query": "…"}, "query"),
    ({"query": "x" * 2_049}, "query"),
    ({"query": "kiln", "limit": 0}, "limit"),
    ({"query": "kiln", "limit": 26}, "limit"),
    ({"query": "kiln", "max_tokens": 255}, "max_tokens"),
    ({"query": "kiln", "max_items": 51}, "max_items"),
    ({"query": "kiln", "path_filter": "a\\"}, "path_filter"),
    ({"query": "kiln", "memory_type": "dream"}, "memory_type"),
)


async def test_wrong_arguments_are_refused_by_name(call: Call) -> None:
    for arguments, names in WRONG:
        result = await call("recall", **arguments)

        assert result.is_error, arguments
        assert text_of(result).startswith("INVALID_ARGUMENT: ")
        assert names in text_of(result)
