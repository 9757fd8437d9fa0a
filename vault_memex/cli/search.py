"""`vault-memex search`."""

from __future__ import annotations

import argparse
from typing import Any

import yaml

from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json, print_table
from vault_memex.core.filters import parse_filters
from vault_memex.errors import InvalidArgument
from vault_memex.services.retrieval import SearchRequest

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
        answer = vault.retrieval.search(
            SearchRequest(
                query=" ".join(options.query),
                mode=options.mode,
                filters=filters,
                limit=options.limit,
                offset=options.offset,
                order=options.order,
                explain=options.explain,
                patience=CLI_PATIENCE,
            )
        )
    if options.json:
        print_json(answer)
        return 0 if answer.rows else 1
    columns = ["note", "changed", "section", "text"] + (["why"] if options.explain else [])
    rows = [
        [
            row.path.removesuffix(".md"),
            row.updated[:10],
            " > ".join(row.matched_section),
            row.matched_text or row.summary or "",
            *([row.why or ""] if options.explain else []),
        ]
        for row in answer.rows
    ]
    if rows:
        print_table(columns, rows)
    print(f"{answer.returned} of {answer.total}. " + " ".join(answer.remarks()))
    return 0 if answer.rows else 1


def _parse_properties(given: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for item in given:
        name, sign, value = item.partition("=")
        if not sign:
            raise InvalidArgument("property", f"--property {item}: write KEY=VALUE, for example status=active.")
        values[name] = yaml.safe_load(value)
    return values
