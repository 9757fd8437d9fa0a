"""One tool as a value: its arguments as a model, its answer as a value, the function between them.

The SDK's own argument handling decodes JSON inside strings and drops unknown names silently (both corrupt or lose
what a model meant), so arguments are validated here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, TypeVar

from mcp.types import Tool, ToolAnnotations
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from vault_memex.errors import InvalidArgument
from vault_memex.server.body_encoding import ARGUMENT, MEANING, decode_texts
from vault_memex.server.lines import LONGEST_NAME, cut, render_names

MOST_FAULTS = 10
LONGEST_MEANING = 300  # code points of what an argument means
_CHOOSING = frozenset(("missing", "literal_error"))  # faults whose mending takes knowing what may be written
GRAPH_URI = "memory://knowledge-graph"  # of the resource that the graph can be read and watched as


class Arguments(BaseModel):
    """Base of all argument models. `also` maps other names that models guess to the real ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    also: ClassVar[Mapping[str, str]] = {}

    def sent(self, name: str) -> bool:
        """Return whether the caller sent the argument at all; an empty text is a value, absence is not."""
        return name in self.model_fields_set


class WriteArguments(Arguments):
    """Base of the arguments of tools that write texts. They arrive decoded."""

    body_encoding: Literal["", "base64"] = Field("", description=MEANING)


A = TypeVar("A", bound=Arguments)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: text to read and, for tools with an output type, the same as a value."""

    text: str
    value: object | None = None
    names_tools: bool = False  # the text is ours and speaks of tools by their unified names


@dataclass(frozen=True)
class ToolSpec(Generic[A]):
    """A tool that can be listed and called."""

    name: str
    title: str
    description: str
    arguments: type[A]
    run: Callable[[Any, A], Answer]  # (session, arguments)
    toolset: str = "core"
    output: Any = None  # the type of Answer.value
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    curators_only: bool = False
    lists_skills: bool = False  # its description names those that there are
    plain_errors: bool = False  # an error is its sentence alone, as the server whose tools these are says it
    meta: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def listed(self) -> Tool:
        """The tool as `tools/list` shows it."""
        return Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=_plain_schema(self.arguments.model_json_schema()),
            output_schema=None
            if self._adapter is None
            else _plain_schema(self._adapter.json_schema(), ("title", "description", "default")),
            annotations=ToolAnnotations(
                title=self.title,
                read_only_hint=self.read_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.idempotent or self.read_only,
                open_world_hint=False,
            ),
            _meta=dict(self.meta) or None,
        )

    @cached_property
    def _adapter(self) -> TypeAdapter[Any] | None:
        return None if self.output is None else TypeAdapter(self.output)

    def parse_arguments(self, raw: Mapping[str, Any]) -> A:
        """Return the arguments, or raise InvalidArgument with one line per fault."""
        optional = {key for key, info in self.arguments.model_fields.items() if not info.is_required()}
        optional |= {other for other, real in self.arguments.also.items() if real in optional}
        # Some clients send null for whatever they leave out.
        named = {key: value for key, value in raw.items() if value is not None or key not in optional}
        for other, real in self.arguments.also.items():
            if other in named and real not in named:
                named[real] = named.pop(other)
        for key, value in named.items():
            if isinstance(value, str) and self._wants_json(key):
                named[key] = _decoded(key, value)
        known = self.arguments.model_fields
        if not self.read_only:
            named = decode_texts(named, keep=ARGUMENT in known)
        unknown = [key for key in named if key not in known]
        if unknown:
            raise InvalidArgument(
                cut(unknown[0], LONGEST_NAME),
                f"{self.name} has no argument {render_names([*map(repr, unknown)])}. It takes: {', '.join(known)}.",
            )
        try:
            return self.arguments.model_validate(named)
        except ValidationError as error:
            raise _as_invalid_argument(self.name, self.arguments, error) from error

    def _wants_json(self, key: str) -> bool:
        """Return whether JSON sent as text is read here: for lists and objects, never for texts."""
        info = self.arguments.model_fields.get(key)
        return info is not None and any(
            str(info.annotation).startswith(kind) for kind in ("list", "dict", "typing.List", "typing.Dict")
        )

    def render_value(self, value: object) -> dict[str, Any]:
        """Return the answer's value as JSON, without what equals its default."""
        assert self._adapter is not None
        shown: dict[str, Any] = self._adapter.dump_python(value, mode="json", exclude_defaults=True)
        return shown


def _decoded(key: str, value: str) -> Any:
    text = value.strip()
    if text[:1] in "[{":
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidArgument(key, f"{key} looks like JSON but does not parse: {error}") from error
    return [value] if value else []


def _as_invalid_argument(tool: str, arguments: type[Arguments], error: ValidationError) -> InvalidArgument:
    lines = []
    faults = error.errors(include_url=False, include_input=False)
    for fault in faults[:MOST_FAULTS]:
        place = ".".join(str(part) for part in fault["loc"]) or tool
        said = f"{fault['msg'][:1].lower()}{fault['msg'][1:]}"
        known = arguments.model_fields.get(place)
        if fault["type"] in _CHOOSING and known is not None and known.description:
            said += f" ({cut(known.description, LONGEST_MEANING)})"
        lines.append(f"{cut(place, LONGEST_NAME)}: {said}")
    more = f"; {len(faults) - MOST_FAULTS} more" if len(faults) > MOST_FAULTS else ""
    first = str(faults[0]["loc"][0]) if faults[0]["loc"] else tool
    return InvalidArgument(first, f"{tool}: {'; '.join(lines)}{more}.")


def _plain_schema(schema: dict[str, Any], dropped: Collection[str] = ("title",)) -> dict[str, Any]:
    """Return the schema without what only costs the reader tokens: pydantic's titles; of answers all but the form."""

    def clean(node: Any, *, names: bool = False) -> Any:
        if isinstance(node, dict):
            shown = {
                key: clean(value, names=key in {"properties", "$defs"})
                for key, value in node.items()
                if names or key not in dropped or isinstance(value, dict)
            }
            return shown if names else _with_one_type(shown)
        return [clean(item) for item in node] if isinstance(node, list) else node

    shown: dict[str, Any] = clean(schema)
    return shown


def _with_one_type(node: dict[str, Any]) -> dict[str, Any]:
    """Return the node with `anyOf` plain types written as one list of types."""
    choices = node.get("anyOf", [])
    if not choices or not all(set(choice) == {"type"} for choice in choices):
        return node
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    return {**rest, "type": [choice["type"] for choice in choices]}
