"""`vault-memex search`."""

from __future__ import annotations

import argparse

from vault_memex.cli.opening import opened
from vault_memex.cli.output import Line, print_block, print_json, waiting
from vault_memex.core.filters import parse_filters
from vault_memex.core.frontmatter import split_frontmatter
from vault_memex.core.note import PropertyValue
from vault_memex.errors import InvalidArgument
from vault_memex.memory.flashbacks import render_flashback
from vault_memex.services.retrieval import SearchRequest
from vault_memex.services.rows import SearchRow
from vault_memex.vault import Vault

CLI_PATIENCE = 20.0  # seconds to wait for the model: a person asked for meaning and waits for it


def run(options: argparse.Namespace) -> int:
    """Print what matches; status 1 when nothing does."""
    filters = parse_filters(
        tags=options.tag,
        folder=options.folder,
        layer=options.layer,
        properties=_parse_properties(options.property),
        updated_after=options.since,
    )
    with opened(options) as vault:
        vault.refresh()
        request = SearchRequest(
            query=" ".join(options.query),
            mode=options.mode,
            filters=filters,
            limit=options.limit,
            offset=options.offset,
            order=options.order,
            explain=options.explain,
            flashbacks=True,
            patience=CLI_PATIENCE,
            words_only=_why_words_only(vault),
        )
        with waiting("Searching"):
            answer = vault.retrieval.search(request)
    if options.json:
        print_json(answer)
        return 0 if answer.rows else 1
    for number, row in enumerate(answer.rows, answer.offset + 1):
        print_block(_describe(number, row))
    least = "at least " if answer.total_is_least else ""
    head = f"{answer.returned} of {least}{answer.total} notes." if answer.rows else "No note matches."
    for line in (head, *answer.remarks()):
        print_block([("dim", line)])
    if answer.flashbacks:
        lines = [("", render_flashback(flashback)) for flashback in answer.flashbacks]
        print_block([("bold", "Flashbacks, older notes from elsewhere:"), *lines])
    return 0 if answer.rows else 1


def _describe(number: int, row: SearchRow) -> list[Line]:
    facts = (row.title, f"changed {row.updated[:10]}", row.layer or "", ", ".join(row.tags[:6]))
    lines = [
        ("bold", f"{number}. {' · '.join(fact for fact in facts if fact)}"),
        ("cyan", row.path),
        ("italic", " > ".join(row.matched_section)),
        ("", " ".join((row.matched_text or row.summary or "").split())),
        ("dim", f"why: {row.why}" if row.why else ""),
    ]
    return [(style, text) for style, text in lines if text]


def _why_words_only(vault: Vault) -> str:
    """Return why there is no use in loading the model, if so: a one-off command does not embed a vault."""
    embedded, passages = vault.meaning.count_embedded(vault.catalogue)
    if vault.meaning.enabled and passages and not embedded:
        return "no passage has been embedded yet; `vault-memex index` does it, and so does a server."
    return ""


def _parse_properties(given: list[str]) -> dict[str, PropertyValue]:
    """Return the conditions; a value means what it means in the frontmatter of a note."""
    values: dict[str, PropertyValue] = {}
    for item in given:
        name, sign, value = item.partition("=")
        if not sign:
            raise InvalidArgument("property", f"--property {item}: write KEY=VALUE, for example status=active.")
        if value.startswith((">", "<")):
            raise InvalidArgument(
                "property",
                f"--property {item}: a comparison is written {name}={{$gt: 2}}, $gte, $lt or $lte; text in quotes.",
            )
        block = split_frontmatter(f"---\nvalue: {value}\n---\n")
        if block.error or set(block.properties) != {"value"}:
            raise InvalidArgument("property", f"--property {item}: {value!r} is no YAML value. Put it in quotes.")
        values[name] = block.properties["value"]
    return values
