"""A note's Markdown as HTML. What the note says is shown and never acted on: HTML in it appears as the text it is.

Links lead only to notes and pictures of the vault, and to http, https and mailto addresses; nothing else is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markupsafe import Markup, escape

from vault_memex.core.links import WIKILINK, parse_wikilink
from vault_memex.core.text import Span, name_key

MOST_CHARS = 60_000  # of a note at once; the page leads to the rest
PICTURES = ("png", "jpg", "jpeg", "gif", "webp", "avif", "bmp")
_OUTSIDE = ("http", "https", "mailto")
_TAG = re.compile(r"#([^\W\d][\w/-]*|\d[\w/-]*[^\W\d][\w/-]*)")
_CALLOUT = re.compile(r"\[!([a-zA-Z-]{1,30})\][+-]?[ \t]*")
_TASK = re.compile(r"\[([ xX/-])\] ")
_FOOTNOTE = re.compile(r"\[\^([^\s\[\]^]{1,80})\](:[ \t]*)?")
_SLUG = re.compile(r"[^\w]+")

FindUrl = Callable[[str], str | None]
"""Returns the address of what a link target of the note means; None when it leads nowhere."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the page, for its table of contents."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class NoteHtml:
    """What was rendered."""

    html: Markup
    headings: tuple[Heading, ...] = ()


def render_note_html(body: str, find_url: FindUrl, tag_url: str, title: str) -> NoteHtml:
    """Return the HTML of a note's body. `tag_url` is where a tag leads, which is appended to it encoded.

    The page's own heading is the note's title: headings in it are one level lower, and a first one that only repeats
    the title is left out.
    """
    env: dict[str, object] = {"find_url": find_url, "tag_url": tag_url}
    tokens = _PARSER.parse(body.replace("\0", "\ufffd"), env)
    if tokens and tokens[0].type == "heading_open" and name_key(_read_heading(tokens[1])) == name_key(title):
        del tokens[:3]
    headings = tuple(_name_headings(tokens))
    return NoteHtml(Markup(_PARSER.renderer.render(tokens, _PARSER.options, env)), headings)  # noqa: S704 -- escaped


def render_value_html(text: str, find_url: FindUrl, tag_url: str) -> Markup:
    """Return the HTML of a property's text, links in it as links."""
    if "[" not in text:
        return escape(text)
    env: dict[str, object] = {"find_url": find_url, "tag_url": tag_url}
    return Markup(_PARSER.renderInline(text, env))  # noqa: S704 -- escaped


def find_slug(heading: str) -> str:
    """Return the anchor of a heading, however it is written in a link."""
    return "h-" + _SLUG.sub("-", name_key(heading)).strip("-")


def _read_heading(inline: Token) -> str:
    parts = (child.content or (" " if child.type.endswith("break") else "") for child in inline.children or ())
    return "".join(parts)


def _name_headings(tokens: Sequence[Token]) -> list[Heading]:
    found: list[Heading] = []
    anchors: set[str] = set()
    for place, token in enumerate(tokens):
        style = str(token.attrs.pop("style", ""))  # the page allows no element a style of its own
        if style.startswith("text-align:"):
            token.attrSet("class", style.removeprefix("text-align:"))
        if token.type == "heading_open":
            text, level = _read_heading(tokens[place + 1]), int(token.tag[1:])
            anchor = find_slug(text)
            if anchor not in anchors:
                token.attrSet("id", anchor)
            anchors.add(anchor)
            found.append(Heading(level, text, anchor))
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + 1)}"
    return found


# -- what Obsidian's notes have beside CommonMark


def _wikilink_rule(state: StateInline, silent: bool) -> bool:
    start = state.pos
    embed = state.src.startswith("![[", start)
    if not embed and not state.src.startswith("[[", start):
        return False
    found = WIKILINK.match(state.src, start + embed, state.posMax)
    link = parse_wikilink(state.src, Span(start, found.end()), "embed" if embed else "wiki") if found else None
    if found is None or link is None:
        return False
    if not silent:
        token = state.push("wikilink", "", 0)
        token.content = link.display or link.target + (f" › {link.subpath.lstrip('#')}" if link.subpath else "")
        token.content = token.content.removeprefix(" › ")
        token.meta = {"target": link.target, "part": link.subpath, "embed": embed}
    state.pos = found.end()
    return True


def _tag_rule(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] != "#" or (state.pos and not state.src[state.pos - 1].isspace()):
        return False
    found = _TAG.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("tag", "", 0).content = found[1].rstrip("/")
    state.pos = found.end() - (found[1].endswith("/"))
    return True


def _reference_rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Find reference definitions, but not footnotes, which CommonMark takes for such and hides."""
    at = state.bMarks[start] + state.tShift[start]
    return not state.src.startswith("[^", at) and reference(state, start, end, silent)


def _footnote_rule(state: StateInline, silent: bool) -> bool:
    found = _FOOTNOTE.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    starts = found[2] is not None and (state.pos == 0 or state.src[state.pos - 1] == "\n")
    if not silent:
        state.push("footnote" if starts else "footnote_ref", "", 0).content = found[1]
    state.pos = found.end() if starts else found.end(1) + 1
    return True


def _between_rule(mark: str, kind: str) -> Callable[[StateInline, bool], bool]:
    def rule(state: StateInline, silent: bool) -> bool:
        if not state.src.startswith(mark, state.pos):
            return False
        end = state.src.find(mark, state.pos + 2, state.posMax)
        if end <= state.pos + 2 or state.src[state.pos + 2].isspace():
            return False
        if not silent:
            state.push(kind, "", 0).content = state.src[state.pos + 2 : end]
        state.pos = end + 2
        return True

    return rule


def _callout_rule(state: StateCore) -> None:
    """Find callouts and tasks: the first words of a quote or list item."""
    for place, token in enumerate(state.tokens[:-2]):
        inline = state.tokens[place + 2]
        if token.type not in ("blockquote_open", "list_item_open") or inline.type != "inline":
            continue
        wanted = _CALLOUT if token.type == "blockquote_open" else _TASK
        found = wanted.match(inline.content)
        if found is None:
            continue
        token.attrSet("class", "callout" if wanted is _CALLOUT else "task")
        mark = Token("callout" if wanted is _CALLOUT else "task", "", 0, content=found[1])
        inline.content = inline.content[found.end() :]
        inline.meta = {"first": mark}


def _first_rule(state: StateCore) -> None:
    for token in state.tokens:
        if token.type == "inline" and token.meta and token.children is not None:
            token.children.insert(0, token.meta["first"])


# -- rendering

Rendered = Callable[[Sequence[Token], int, object, Mapping[str, object]], str]


def _find_url(env: Mapping[str, object], target: str) -> str | None:
    find_url = env["find_url"]
    assert callable(find_url)
    found = find_url(target)
    assert found is None or isinstance(found, str)
    return found


def _render_wikilink(tokens: Sequence[Token], place: int, _: object, env: Mapping[str, object]) -> str:
    token = tokens[place]
    target, part, shown = token.meta["target"], token.meta["part"], token.content
    anchor = f"#{find_slug(part.rpartition('#')[2])}" if part and "^" not in part else ""
    url = _find_url(env, target) if target else ""
    if url is None:
        return Markup('<span class="missing" title="No note has this name">{}</span>').format(shown)
    if token.meta["embed"] and _is_picture(url):
        return Markup('<img src="{}" alt="{}" loading="lazy">').format(url, target)
    kind = "embed" if token.meta["embed"] else "link"
    return Markup('<a class="{}" href="{}">{}</a>').format(kind, url + anchor, shown)


def _render_tag(tokens: Sequence[Token], place: int, _: object, env: Mapping[str, object]) -> str:
    name = tokens[place].content
    return Markup('<a class="tag" href="{}{}">#{}</a>').format(env["tag_url"], quote(name, safe=""), name)


def _render_as(html: str) -> Rendered:
    def render(tokens: Sequence[Token], place: int, _: object, __: Mapping[str, object]) -> str:
        return Markup(html).format(tokens[place].content)  # noqa: S704 -- one of the constants below

    return render


def _render_footnote(tokens: Sequence[Token], place: int, _: object, __: Mapping[str, object]) -> str:
    name = tokens[place].content
    anchor = find_slug(f"footnote {name}")
    if tokens[place].type == "footnote":
        return Markup('<span class="footnote" id="{}">{}</span> ').format(anchor, name)
    return Markup('<sup><a href="#{}">{}</a></sup>').format(anchor, name)


def _render_task(tokens: Sequence[Token], place: int, _: object, __: Mapping[str, object]) -> str:
    done = tokens[place].content in "xX"
    word, sign = ("done", "☑") if done else ("open", "☐")
    return f'<span class="box {word}" role="img" aria-label="{word}">{sign}</span> '


def _render_link_open(tokens: Sequence[Token], place: int, _: object, env: Mapping[str, object]) -> str:
    href = str(tokens[place].attrGet("href") or "")
    scheme = _find_scheme(href)
    if scheme in _OUTSIDE:
        return Markup('<a class="outside" href="{}" target="_blank" rel="noopener noreferrer">').format(href)
    path, _hash, part = unquote(href).partition("#")
    url = None if scheme else _find_url(env, path) if path else ""
    if url is None:
        return '<a class="missing">'
    return Markup('<a class="link" href="{}">').format(
        url + (f"#{find_slug(part.rpartition('#')[2])}" if part else "")
    )


def _render_image(tokens: Sequence[Token], place: int, _: object, env: Mapping[str, object]) -> str:
    token = tokens[place]
    source, shown = str(token.attrGet("src") or ""), token.content
    scheme = _find_scheme(source)
    if scheme in _OUTSIDE:
        label = shown or source
        return Markup(
            '<a class="outside" href="{}" target="_blank" rel="noopener noreferrer">picture: {}</a>'
        ).format(source, label)
    url = None if scheme else _find_url(env, unquote(source).partition("#")[0])
    if url is None or not _is_picture(url):
        return Markup('<span class="missing">picture: {}</span>').format(shown or source)
    return Markup('<img src="{}" alt="{}" loading="lazy">').format(url, shown)


def _find_scheme(url: str) -> str:
    """Return the scheme in lower case; a mark for an address that cannot be read or names a host without one."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "?"
    return parts.scheme or ("?" if parts.netloc else "")


def _is_picture(url: str) -> bool:
    return url.rpartition(".")[2].lower() in PICTURES


def _build_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 60, "breaks": True})
    parser.enable(["table", "strikethrough"])
    parser.block.ruler.at("reference", _reference_rule)
    inline = parser.inline.ruler
    inline.before("link", "wikilink", _wikilink_rule)
    inline.before("link", "footnote", _footnote_rule)
    inline.before("emphasis", "tag", _tag_rule)
    inline.before("emphasis", "marked", _between_rule("==", "marked"))
    inline.before("emphasis", "comment", _between_rule("%%", "comment"))
    parser.core.ruler.before("inline", "callout", _callout_rule)
    parser.core.ruler.after("inline", "first", _first_rule)
    rules: dict[str, Rendered] = {
        "wikilink": _render_wikilink,
        "tag": _render_tag,
        "marked": _render_as("<mark>{}</mark>"),
        "comment": _render_as('<span class="comment" title="a comment: Obsidian does not show it">{}</span>'),
        "callout": _render_as('<strong class="callout-kind">{}</strong> '),
        "task": _render_task,
        "footnote": _render_footnote,
        "footnote_ref": _render_footnote,
        "link_open": _render_link_open,
        "image": _render_image,
    }
    for name, rule in rules.items():
        parser.renderer.rules[name] = rule  # type: ignore[attr-defined]
    return parser


_PARSER = _build_parser()
