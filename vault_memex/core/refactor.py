"""Renames, moves and merges, planned: which notes cite the file, and their texts afterwards.

A link is rewritten when it would no longer mean the file it meant, or when it has become ambiguous. Only its path,
and a display text that repeated the old name, change; subpath, form, table escapes and everything else stay.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from vault_memex.core.frontmatter import split_frontmatter
from vault_memex.core.link_text import LinkSettings, encode_target, render_target
from vault_memex.core.links import FindFiles, resolve_link
from vault_memex.core.note import Link, ParsedNote, PropertyValue
from vault_memex.core.property_block import same_value
from vault_memex.core.property_edit import plan_properties
from vault_memex.core.text import Span, TextEdit, apply_text_edits, base_of, name_key, stem_of

__all__ = ["LinkSettings", "plan_moves", "plan_rename", "plan_retarget"]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What every link of one planning is checked against."""

    moves: Mapping[str, str]  # path before -> path after; for a merge both exist before
    before: FindFiles
    after: FindFiles
    settings: LinkSettings
    kept_names: Collection[str]  # display texts (as name keys) that stay although they are a moved file's old name


@dataclass(frozen=True, slots=True)
class _Rewrite:
    """One link's new texts, and the edits that put them in."""

    link: Link
    target: str  # as written
    display: str | None  # None when the old one stays
    edits: tuple[TextEdit, ...]


def plan_rename(
    old: str,
    new: str,
    sources: Mapping[str, ParsedNote],
    find_files: FindFiles,
    settings: LinkSettings | None = None,
) -> dict[str, str]:
    """Return the new text of each note that has to change when `old` becomes `new`, by its path before the rename.

    `sources` are the notes to look at: those with a link under the `link_key` of the old or the new name, and the
    renamed note itself, whose relative links may need another text. `find_files` tells of the vault before.
    """
    return plan_moves({old: new}, sources, find_files, settings)


def plan_moves(
    moves: Mapping[str, str],
    sources: Mapping[str, ParsedNote],
    find_files: FindFiles,
    settings: LinkSettings | None = None,
) -> dict[str, str]:
    """Return what `plan_rename` returns, for several files that move at once (a folder, for example)."""
    aliases = {name_key(alias) for path in moves if path in sources for alias in sources[path].aliases}
    return _plan_texts(moves, sources, find_files, settings or LinkSettings(), aliases)


def plan_retarget(
    old: str,
    new: str,
    sources: Mapping[str, ParsedNote],
    find_files: FindFiles,
    settings: LinkSettings | None = None,
) -> dict[str, str]:
    """Return the new text of each note whose links to `old` become links to `new`, a note that exists; `old` goes.

    Display texts stay: the merged note is known by the old name too. With `old` among the sources, its text as it
    reads at the place of `new`.
    """
    kept = {name_key(stem_of(old)), name_key(base_of(old))}
    return _plan_texts({old: new}, sources, find_files, settings or LinkSettings(), kept)


def _plan_texts(
    moves: Mapping[str, str],
    sources: Mapping[str, ParsedNote],
    find_files: FindFiles,
    settings: LinkSettings,
    kept_names: Collection[str],
) -> dict[str, str]:
    plan = _Plan(moves, find_files, _files_after(moves, find_files), settings, kept_names)
    texts: dict[str, str] = {}
    for path, note in sources.items():
        links = (*note.links, *note.definitions)
        rewrites = [found for link in links if (found := _plan_link(plan, path, note.text, link))]
        if rewrites:
            texts[path] = _rewritten(note, rewrites)
    return {path: text for path, text in texts.items() if text != sources[path].text}


def _files_after(moves: Mapping[str, str], find_files: FindFiles) -> FindFiles:
    def find(key: str) -> Sequence[str]:
        kept = [path for path in find_files(key) if path not in moves]
        new = {path for path in moves.values() if name_key(base_of(path)) == key}
        return [*kept, *sorted(new.difference(kept))]

    return find


def _plan_link(plan: _Plan, source: str, text: str, link: Link) -> _Rewrite | None:
    """Return the edits that keep the link on its file; None when it needs none, or meant no file before."""
    if not link.target:
        return None
    before = resolve_link(link.target, source, plan.before)
    if before.path is None:
        return None
    meant = plan.moves.get(before.path, before.path)
    source_after = plan.moves.get(source, source)
    after = resolve_link(link.target, source_after, plan.after)
    if after.path == meant and (not after.candidates or before.candidates):
        return None
    target = render_target(meant, source_after, link.target, plan.after, plan.settings, markdown=link.markdown)
    written = target
    if link.markdown:
        written = encode_target(target, angle=text[link.target_span.start - 1 : link.target_span.start] == "<")
    display = _find_new_display(plan, before.path, meant, link, target)
    edits = [TextEdit(link.target_span, written)]
    if display is not None and (span := _find_display_span(text, link)):
        edits.append(TextEdit(span, display))
    return _Rewrite(link, written, display, tuple(edits))


def _find_new_display(plan: _Plan, old: str, new: str, link: Link, target: str) -> str | None:
    """Return the new display text where the old one only repeated the name or path; None when it stays."""
    shown = link.display
    if shown is None or stem_of(old) == stem_of(new) or name_key(shown) in plan.kept_names:
        return None
    names = {stem_of(old): stem_of(new), base_of(old): base_of(new), link.target: target}
    return names.get(shown)


def _find_display_span(text: str, link: Link) -> Span | None:
    """Return where the display text stands: before the path in a Markdown link, behind the pipe in a wikilink.

    None where it is written otherwise than it reads, as `it''s` in a quoted property.
    """
    assert link.display is not None
    first = link.span.start if link.markdown else text.find("|", link.target_span.end, link.span.end)
    start = text.find(link.display, first, link.target_span.start if link.markdown else link.span.end)
    return None if min(first, start) < 0 else Span(start, start + len(link.display))


def _rewritten(note: ParsedNote, rewrites: Sequence[_Rewrite]) -> str:
    """Return the note's text with all links rewritten; values in the frontmatter read as meant afterwards."""
    body = [edit for found in rewrites if found.link.kind != "frontmatter" for edit in found.edits]
    inner = [found for found in rewrites if found.link.kind == "frontmatter"]
    text = apply_text_edits(note.text, [*body, *(edit for found in inner for edit in found.edits)])
    if not inner:
        return text
    wanted = dict(note.properties)
    for found in inner:
        assert found.link.key is not None
        wanted = _with_value(wanted, found.link.key, note.text, found)
    written = split_frontmatter(text)
    if written.error is None and same_value(written.properties, wanted):
        return text
    # The new name has a character that the value's own quotes do not take: let the property be written anew.
    changed = {key: value for key, value in wanted.items() if not same_value(value, note.properties[key])}
    return plan_properties(apply_text_edits(note.text, body), changed)


def _with_value(
    properties: Mapping[str, PropertyValue], key: str, text: str, found: _Rewrite
) -> dict[str, PropertyValue]:
    """Return the properties with the link at a dotted key (`up`, `near.0`) rewritten."""
    wanted = dict(properties)
    for name, value in properties.items():
        if key == name or key.startswith(f"{name}."):
            wanted[name] = _with_leaf(value, key[len(name) + 1 :], text, found)
    return wanted


def _with_leaf(value: PropertyValue, key: str, text: str, found: _Rewrite) -> PropertyValue:
    if isinstance(value, Mapping):
        return _with_value(value, key, text, found)
    if isinstance(value, list):
        number, _, rest = key.partition(".")
        at = int(number) if number.isdigit() else len(value)
        return [_with_leaf(item, rest, text, found) if i == at else item for i, item in enumerate(value)]
    if key or not isinstance(value, str) or found.link.target not in value:
        return value
    return _rewritten_value(value, text, found)


def _rewritten_value(value: str, text: str, found: _Rewrite) -> str:
    """Return a frontmatter value with its link rewritten: the value is the link and nothing else."""
    link, span = found.link, found.link.span
    if text[span.start : span.end] == value:
        edits = [TextEdit(Span(e.span.start - span.start, e.span.end - span.start), e.text) for e in found.edits]
        return apply_text_edits(value, edits)
    # Written with escapes: the places in the file are not those in the value.
    display = found.display if found.display is not None else link.display
    if link.markdown:
        return f"[{display or ''}]({found.target}{link.subpath})"
    return f"[[{found.target}{link.subpath}{'' if display is None else '|' + display}]]"
