"""The file of an inference: frontmatter that the program reads, and a text that people read in Obsidian."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vault_memex.core.frontmatter import split_frontmatter
from vault_memex.core.note import PropertyValue
from vault_memex.core.property_edit import plan_properties, render_note
from vault_memex.core.text import BOM, without_md
from vault_memex.errors import FrontmatterInvalid
from vault_memex.memory.inferences import (
    EVIDENCE_ROLES,
    INFERENCE_STATUSES,
    Evidence,
    Inference,
    InferenceStatus,
)

_SOURCES = "## Sources"
_SUMMARY_END = re.compile(r"^## Sources[ \t]*$", re.MULTILINE)
_TITLE_LINE = re.compile(r"\s*# [^\n]*(?:\n|\Z)")
_LINKABLE = re.compile(r"[^\[\]|#^]+")


def render_inference(inference: Inference) -> str:
    """Return the whole file."""
    optional: Mapping[str, PropertyValue] = {
        "confidence": inference.confidence,
        "from_signal": inference.from_signal,
        "model_id": inference.model_id or None,
        "prompt_version": inference.prompt_version or None,
        "minted_by": inference.minted_by or None,
        "superseded_by": inference.superseded_by,
    }
    properties: dict[str, PropertyValue] = {
        "inference": inference.number,
        "title": inference.title,
        "status": inference.status,
        **{key: value for key, value in optional.items() if value is not None},
        "created": inference.created,
        "updated": inference.updated,
        "evidence": [_render_evidence(evidence) for evidence in inference.evidence],
    }
    return render_note(properties, _render_body(inference))


def _render_evidence(evidence: Evidence) -> dict[str, PropertyValue]:
    fields: dict[str, PropertyValue] = {"path": evidence.path}
    if evidence.note_id is not None:
        fields["note"] = evidence.note_id
    return {
        **fields,
        "title": evidence.title,
        "role": evidence.role,
        "hash": evidence.hash,
        "excerpt": evidence.excerpt,
    }


def _render_body(inference: Inference) -> str:
    """Return the text; a line of the summary that would end it is indented so that it does not."""
    summary = _SUMMARY_END.sub(" " + _SOURCES, inference.summary)
    parts = [f"# {inference.title}", summary, _SOURCES]
    parts += [f"- {_render_source(e)} ({e.role})\n  > {e.excerpt}" for e in inference.evidence]
    return "\n\n".join(parts) + "\n"


def _render_source(evidence: Evidence) -> str:
    number = f"#{evidence.note_id} " if evidence.note_id is not None else ""
    if _LINKABLE.fullmatch(evidence.path):
        title = re.sub(r"[\[\]|]", "", evidence.title)
        return f"[[{without_md(evidence.path)}|{number}{title}]]"
    return f"{number}{evidence.title}"


def parse_inference(text: str) -> Inference:
    """Return the inference in a file. Raises FrontmatterInvalid saying what is missing.

    The summary is what stands between the heading and `## Sources`, so it may be edited.
    """
    block = split_frontmatter(text)
    if block.error is not None:
        raise FrontmatterInvalid(f"The inference cannot be read: {block.error}.", line=block.error_line)
    values = block.properties
    number, title, status = _count(values, "inference"), values.get("title"), values.get("status")
    known = next((s for s in INFERENCE_STATUSES if s == status), None)
    raw = values.get("evidence")
    evidence = [_parse_evidence(item) for item in raw] if isinstance(raw, list) else []
    if number is None or not isinstance(title, str) or known is None or not evidence or None in evidence:
        wanted = f"inference (a number), title, status ({', '.join(INFERENCE_STATUSES)}) and evidence"
        raise FrontmatterInvalid(f"The inference cannot be read: it needs {wanted}.", line=1)
    confidence = values.get("confidence")
    return Inference(
        number=number,
        title=title,
        summary=_find_summary(text[max(block.span.end, 1 if text.startswith(BOM) else 0) :]),
        status=known,
        evidence=tuple(e for e in evidence if e is not None),
        created=_text(values, "created"),
        updated=_text(values, "updated") or _text(values, "created"),
        confidence=_number(confidence),
        from_signal=_count(values, "from_signal"),
        model_id=_text(values, "model_id"),
        prompt_version=_text(values, "prompt_version"),
        minted_by=_text(values, "minted_by"),
        superseded_by=_count(values, "superseded_by"),
    )


def _parse_evidence(item: PropertyValue) -> Evidence | None:
    if not isinstance(item, Mapping):
        return None
    path, digest = item.get("path"), item.get("hash")
    role = next((r for r in EVIDENCE_ROLES if r == item.get("role")), EVIDENCE_ROLES[0])
    if not isinstance(path, str) or not isinstance(digest, str):
        return None
    return Evidence(path, _count(item, "note"), _text(item, "title"), role, digest, _text(item, "excerpt"))


def _count(values: Mapping[str, PropertyValue], key: str) -> int | None:
    value = values.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _number(value: PropertyValue) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(values: Mapping[str, PropertyValue], key: str) -> str:
    value = values.get(key)
    return "" if value is None or isinstance(value, Mapping | list) else str(value)


def _find_summary(body: str) -> str:
    text = body.replace("\r\n", "\n").replace("\r", "\n")
    heading = _TITLE_LINE.match(text)
    if heading is not None:
        text = text[heading.end() :]
    end = _SUMMARY_END.search(text)
    return text[: end.start() if end else len(text)].strip()


def plan_status(text: str, status: InferenceStatus, now: str, superseded_by: int | None = None) -> str:
    """Return the file's text with another status; nothing else in it changes. The same status changes nothing."""
    if split_frontmatter(text).properties.get("status") == status and superseded_by is None:
        return text
    values: dict[str, PropertyValue] = {"status": status, "updated": now}
    if superseded_by is not None:
        values["superseded_by"] = superseded_by
    return plan_properties(text, values)
