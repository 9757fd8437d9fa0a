"""docs/tools.md and docs/cli.md, rendered from the code they describe: `make docs` writes them, a test compares."""

from __future__ import annotations

import argparse
import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

from vault_memex import errors
from vault_memex.cli.parser import build_parser
from vault_memex.errors import MemexError
from vault_memex.server.profiles import PROFILES
from vault_memex.server.tool import ToolSpec
from vault_memex.server.tools import ALL_TOOLS, MINIMAL, find_tools

DOCS = Path(__file__).parents[1] / "docs"
GENERATED = "<!-- Made by `make docs` from the code. Change the code, not this file. -->"

TOOLS_HEAD = f"""\
{GENERATED}
# Tools

What an assistant sees: {len(ALL_TOOLS)} tools, of which {len(find_tools("core", "agent"))} are advertised by default. \
`--tools minimal` advertises {", ".join(f"`{name}`" for name in MINIMAL)}; `--tools core,insights,graph` adds the others, \
`--tools core,-retire` leaves one out, `--tools full` lists all. Every tool stays callable, advertised or not, unless \
the connection is a reader: then only those that read.

Each answer is text to read; where a table of answer fields is given, the same comes as a structured value, without
fields that hold their default, and with `skills_version`: another when there are other skills ([skills.md](skills.md)). An unknown argument is refused by name. A note is named by its title, path, `[[link]]`
or `#number`; for reading also by alias or former title.
"""
ERRORS_HEAD = """\
## Errors

An error is an answer like any other, marked as one. It begins with its code, says what to do next, and adds as JSON
what can be chosen from. After an error of a writing tool nothing was written.

| Code | When |
|---|---|
"""
SURFACE_ERRORS = {
    "FORBIDDEN": "The role of the connection does not allow the tool.",
    "UNKNOWN_TOOL": "There is no tool of that name. The message lists those that exist.",
    "DEADLINE": "The call took longer than a minute. A write goes on and is done whole or not at all: read the note first.",
    "INTERNAL_ERROR": "A fault in this program. The server's log (standard error) has the details.",
}
PROFILES_HEAD = f"""\
{GENERATED}
# Compatibility profiles

Assistants that were taught the tools of another memory server find them here under their own names:

```sh
vault-memex serve --tools memex
```

A profile is advertised alone, and the instructions speak of its tools. Whatever is advertised, every tool of every profile
and every tool of [tools.md](tools.md) can be called by name, as far as the role allows. All of them do their work through the
same services, so rules for writing, limits and errors are the same.
"""
PROFILE_NOTES = {
    "memex": """\
The thirteen tools of memex. Notes are named by number there: the first call gives one to every note that has none, in
`.memex/ids.tsv`. Arguments named `...Id` or `...Ids` are accepted under the names of [tools.md](tools.md) too. `update_note`
replaces the whole text, so the note must have been read before, with `get_note`; when somebody changed it since, the
call is refused. Dates, filters and the order of results are those of `search`.""",
    "memex-tools": """\
The tools of memex.tools, those of curators for curators only. Every answer is a structured value as well as text. Notes are named
by number there, as in the profile `memex`. `propose` is `save` without `note_id` (a record of the past unless `layer` says
otherwise) and `edit` with it; whether a change waits is told in [review.md](review.md), but a deletion or a merge that is proposed here
always waits. A whole new text replaces the note as it was last shown.""",
    "knowledge-graph": """\
The nine tools of the reference memory server, with its names, schemas, answers and error texts. Entities are notes: how,
and where an answer differs on purpose, is told in [knowledge-graph.md](knowledge-graph.md).""",
    "xmemo": """\
The four tools of XMemo. `search_memory` is `search` with `mode: strict` ([search.md](search.md#modes)); `recall` and
`recall_context` are the two forms of [recall.md](recall.md); `forget` moves one exactly named note to the trash. `bucket` is a
top-level folder. `agent_boundary` names the assistant that wrote a note: a label, no right. Notes that wait for approval are
no answer of `search_memory`. Teams do not exist in a vault of your own. With the setting `search_profile = "generic"` the
arguments `path_filter`, `memory_type` and `prefer_working` are refused.""",
}
CLI_HEAD = f"""\
{GENERATED}
# Command line

`vault-memex COMMAND --help` says the same. Results are on standard output, progress and errors on standard error.
Status 0: done. 1: `search` or `graph show` found nothing, `graph import` skipped lines, or `doctor` found something to mend. 2: an error you can
mend; it is one line. 130: interrupted.

```sh
vault-memex init
vault-memex index --no-vectors
vault-memex search front-loader contactor
vault-memex search --tag project --property 'priority={{$gte: 2}}'
vault-memex search --since 2026-11-01 --limit 5 --json
vault-memex get 'Kiln Berta' --section Habits
vault-memex insights --type dangling_link
vault-memex rules
vault-memex connections list
vault-memex graph show --tag studio
vault-memex status
vault-memex doctor
vault-memex doctor --calibration
```
"""


# --- tools


def render_tools() -> str:
    """Return docs/tools.md."""
    parts = [TOOLS_HEAD, *(_render_tool(spec) for spec in ALL_TOOLS), ERRORS_HEAD + _render_errors()]
    return "\n".join(parts)


def render_profiles() -> str:
    """Return docs/profiles.md."""
    parts = [PROFILES_HEAD]
    for name, specs in PROFILES.items():
        parts += [f"# Profile `{name}`", "", PROFILE_NOTES[name], "", *(_render_tool(spec) for spec in specs)]
    return "\n".join(parts)


def _render_tool(spec: ToolSpec[Any]) -> str:
    nature = "Only reads." if spec.read_only else "Writes."
    if spec.destructive:
        nature = "Writes, and is announced as destructive."
    lines = [f"## `{spec.name}`: {spec.title}", "", spec.description, "", nature, ""]
    lines += _render_arguments(spec)
    lines += [""]
    if spec.output is not None:
        lines += _render_answer(spec.output)
    elif spec.listed.output_schema is not None:
        fields = ", ".join(f"`{name}`" for name in spec.listed.output_schema["properties"])
        lines += [f"The answer is JSON with {fields}.", ""]
    else:
        lines += ["The answer is text only.", ""]
    return "\n".join(lines)


def _render_arguments(spec: ToolSpec[Any]) -> Iterator[str]:
    schema = spec.listed.input_schema
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    if not properties:
        yield "No arguments."
        return
    required = set(schema.get("required", ()))
    yield "| Argument | Type | Default | Meaning |"
    yield "|---|---|---|---|"
    for name, shape in properties.items():
        default = "needed" if name in required else _shown(shape.get("default"))
        others = [f"`{other}`" for other, real in spec.arguments.also.items() if real == name]
        meaning = [shape.get("description", ""), f"Also accepted as {', '.join(others)}." if others else ""]
        yield f"| `{name}` | {_type_of(shape)} | {default} | {_cell(' '.join(filter(None, meaning)))} |"


def _type_of(shape: Mapping[str, Any]) -> str:
    if "enum" in shape:
        return " or ".join(f"`{value}`" for value in shape["enum"] if value != "")
    kinds = _kinds(shape)
    if len(kinds) > 1:
        return " or ".join(dict.fromkeys(_type_of({"type": one}) for one in kinds))
    kind = kinds[0]
    if kind == "array":
        items = " or ".join(_kinds(shape.get("items", {})))
        names = {"string": "texts", "object": "objects", "integer or string": "numbers or texts", "": "values"}
        return f"list of {names[items]}"
    if kind in ("integer", "number"):
        low, high = shape.get("minimum"), shape.get("maximum")
        span = f" {low} to {high}" if high is not None else f" from {low}" if low is not None else ""
        return f"number{span}"
    return {"string": "text", "boolean": "true or false", "object": "object"}.get(kind, kind)


def _kinds(shape: Mapping[str, Any]) -> Sequence[str]:
    """Return the JSON types of a value, without the one that says there may be none."""
    kind = shape.get("type", "")
    return [one for one in kind if one != "null"] if isinstance(kind, list) else [kind]


def _shown(default: object) -> str:
    if default in ("", [], {}, None):
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _render_answer(output: type) -> list[str]:
    lines = ["| Answer field | Type | Meaning |", "|---|---|---|"]
    later: list[type] = []
    for name, field, kind, comment in _answer_fields(output):
        shown, nested = _describe_type(kind)
        later += nested
        absent = "" if field.default is MISSING and field.default_factory is MISSING else ", optional"
        lines.append(f"| `{name}` | {shown}{absent} | {_cell(comment)} |")
    lines.append("")
    for one in later:
        lines += [f"Each `{one.__name__}`:", "", *_render_answer(one)]
    return lines


def _answer_fields(output: type) -> Iterator[tuple[str, Field[Any], Any, str]]:
    """Yield name, field, type and the comment beside the field."""
    hints = get_type_hints(output)
    source = textwrap.dedent(inspect.getsource(output))
    lines = source.splitlines()
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    comments = {}
    for node in definition.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            _, _, comment = lines[(node.end_lineno or node.lineno) - 1][node.end_col_offset or 0 :].partition("#")
            comments[node.target.id] = comment.strip()
    assert is_dataclass(output)
    for field in fields(output):
        yield field.name, field, hints[field.name], comments[field.name]


def _describe_type(kind: Any) -> tuple[str, list[type]]:
    """Return a type in words, and the dataclasses inside it."""
    if is_dataclass(kind) and isinstance(kind, type):
        return f"`{kind.__name__}`", [kind]
    parts = [part for part in get_args(kind) if part not in (type(None), Ellipsis)]
    if str(kind).startswith(("tuple", "list")) and parts:
        inner, nested = _describe_type(parts[0])
        return f"list of {inner if nested else inner + 's'}", nested
    if str(kind).startswith("dict"):
        return "object", []
    if parts:
        return _describe_type(parts[0])
    return {str: "text", int: "number", float: "number", bool: "true or false"}.get(kind, "value"), []


def _render_errors() -> str:
    rows = {error.code: inspect.getdoc(error) or "" for error in find_errors()} | SURFACE_ERRORS
    return "".join(f"| `{code}` | {_cell(when)} |\n" for code, when in rows.items())


def find_errors() -> list[type[MemexError]]:
    """Return every error that a surface may show, in the order of errors.py."""
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, MemexError)]
    return [c for c in classes if c is not MemexError]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# --- commands


def render_cli() -> str:
    """Return docs/cli.md."""
    parts = [CLI_HEAD]
    for name, command in find_commands().items():
        actions = [action for action in command._actions if action.dest != "help"]
        words = [action for action in actions if not action.option_strings]
        options = [action for action in actions if action.option_strings]
        usage = " ".join([f"vault-memex {name}", *map(_usage, words), "[options]"])
        rows = ["| Argument or option | Meaning |", "|---|---|", *map(_row, [*words, *options])]
        parts.append("\n".join([f"## `{usage}`", "", command.description or "", "", *rows, ""]))
    return "\n".join(parts)


def find_commands() -> Mapping[str, argparse.ArgumentParser]:
    """Return the parser of each command, by name; those of a group as `group part`."""
    return dict(_find_parsers(build_parser(), ""))


def _find_parsers(parser: argparse.ArgumentParser, prefix: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield prefix.strip(), parser
    for group in groups:
        for name, part in group.choices.items():
            yield from _find_parsers(part, f"{prefix} {name}")


def _usage(action: argparse.Action) -> str:
    name = str(action.dest).upper()
    return {"?": f"[{name}]", "*": f"[{name} ...]"}.get(str(action.nargs), name)


def _row(action: argparse.Action) -> str:
    value = ""
    if action.choices is not None:
        value = " " + "|".join(map(str, action.choices))
    elif action.nargs != 0 and action.option_strings:
        value = f" {action.metavar or str(action.dest).upper()}"
    names: Sequence[str] = action.option_strings or [str(action.dest).upper()]
    return f"| {_cell(', '.join(f'`{name}{value}`' for name in names))} | {_cell(action.help or '')} |"


PAGES = {"tools.md": render_tools, "profiles.md": render_profiles, "cli.md": render_cli}


def main() -> None:
    """Write the pages."""
    for name, render in PAGES.items():
        (DOCS / name).write_text(render(), encoding="utf-8")


if __name__ == "__main__":
    main()
