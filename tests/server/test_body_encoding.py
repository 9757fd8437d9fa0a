"""Texts sent as base64 arrive as they were, whatever is in them, and each that is none is named."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.server.conftest import Call, text_of
from vault_memex.errors import InvalidArgument
from vault_memex.server.body_encoding import PATCH_TEXTS, TEXTS, decode_texts
from vault_memex.server.profiles import PROFILES
from vault_memex.server.tools import ALL_TOOLS

WRITERS = {
    spec.name: spec
    for specs in (*PROFILES.values(), ALL_TOOLS)
    for spec in specs
    if not spec.read_only and TEXTS & set(spec.arguments.model_fields)
}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode("utf-8")).decode("ascii")


@given(
    st.dictionaries(st.sampled_from(sorted(TEXTS)), st.text()),
    st.dictionaries(st.sampled_from(sorted(PATCH_TEXTS)), st.text()),
)
def test_every_text_comes_out_as_it_went_in_and_nothing_else_is_touched(
    texts: dict[str, str], operation: dict[str, str]
) -> None:
    plain: dict[str, Any] = {
        "ref": "UmVm",
        "tags": ["dGFn"],
        "properties": {"title": "eA=="},
        "if_revision": "abcd",
    }
    sent = {name: encoded(text) for name, text in texts.items()}
    patch = [{"count": 2, "subsections": False, **{name: encoded(text) for name, text in operation.items()}}]

    found = decode_texts({**plain, **sent, "patch": patch, "body_encoding": "base64"}, keep=False)

    assert {**plain, **texts, "patch": [{"count": 2, "subsections": False, **operation}]} == found


@given(st.dictionaries(st.sampled_from(["title", "body", "ref", "patch"]), st.text()))
def test_without_an_encoding_nothing_is_touched(arguments: dict[str, str]) -> None:
    assert arguments == decode_texts({**arguments, "body_encoding": ""}, keep=False)


@pytest.mark.parametrize("tool", sorted(WRITERS))
@pytest.mark.parametrize(
    ("bad", "what"), [("nicht!", "base64"), ("abc", "base64"), ("/w==", "UTF-8"), ("7aCA", "UTF-8")]
)
def test_every_tool_that_writes_names_the_text_that_is_none(tool: str, bad: str, what: str) -> None:
    spec = WRITERS[tool]
    for name in sorted(TEXTS & set(spec.arguments.model_fields)):
        with pytest.raises(InvalidArgument, match=rf"^{name} is not {what}") as caught:
            spec.parse_arguments({name: bad, "body_encoding": "base64"})
        assert name == caught.value.argument


@pytest.mark.parametrize("name", sorted(PATCH_TEXTS))
def test_a_text_of_an_operation_is_named_with_its_place(name: str) -> None:
    patch = [{"append": encoded("x")}, {name: "###"}]

    with pytest.raises(InvalidArgument, match=rf"^patch\[1\]\.{name} is not base64"):
        WRITERS["edit"].parse_arguments({"ref": "a", "patch": patch, "body_encoding": "base64"})


def test_another_encoding_is_refused_and_reading_tools_have_none() -> None:
    with pytest.raises(InvalidArgument, match="write base64"):
        WRITERS["edit"].parse_arguments({"ref": "a", "body": "x", "body_encoding": "hex"})
    with pytest.raises(InvalidArgument, match="no argument 'body_encoding'"):
        next(spec for spec in ALL_TOOLS if spec.name == "get").parse_arguments(
            {"ref": "a", "body_encoding": "base64"}
        )


@pytest.mark.anyio
async def test_a_note_is_saved_changed_and_retired_by_encoded_texts(call: Call, sample: Path) -> None:
    body = 'Tabs\tand "quotes", \\n as written, 한글, 👩‍👩‍👧 \u2028 end.\n'
    saved = await call(
        "save",
        title=encoded("Odd texts"),
        body=encoded(body),
        change_title=encoded("Add odd texts"),
        layer="state",
        folder="Studio",
        tags=["odd"],
        body_encoding="base64",
    )
    changed = await call(
        "edit",
        ref="Odd texts",
        patch=[{"find": encoded("한글"), "replace": encoded("두 번째")}, {"append": encoded("- \\t\n")}],
        summary=encoded("Zwei Wörter"),
        body_encoding="base64",
    )
    text = (sample / "Studio/Odd texts.md").read_text(encoding="utf-8")
    retired = await call("retire", ref="Odd texts", reason=encoded("nur ein Versuch ✓"), body_encoding="base64")

    assert not saved.is_error, text_of(saved)
    assert not changed.is_error, text_of(changed)
    assert body.replace("한글", "두 번째") in text
    assert text.endswith("- \\t\n")
    assert "summary: Zwei Wörter" in text
    assert "#odd" in text or "- odd" in text
    assert not retired.is_error, text_of(retired)
    changes = await call("changes", limit=1)
    assert changes.structured_content is not None
    assert "nur ein Versuch ✓" == changes.structured_content["rows"][0]["reason"]
