"""Markdown of notes as HTML: what Obsidian has is there, and no text becomes an element that the note may not make."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memex.web.note_html import render_note_html

FILES = {"Tea": "/n/Tea.md", "Tea.md": "/n/Tea.md", "cup.png": "/f/cup.png", "plan.pdf": "/f/plan.pdf"}


def render(text: str, title: str = "") -> str:
    return str(render_note_html(text, FILES.get, "/s?tag=", title).html).strip()


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("[[Tea]]", '<p><a class="link" href="/n/Tea.md">Tea</a></p>'),
        ("[[Tea#How to#Pour|so]]", '<p><a class="link" href="/n/Tea.md#h-pour">so</a></p>'),
        ("[[#Pour]]", '<p><a class="link" href="#h-pour">Pour</a></p>'),
        ("[[Nobody]]", '<p><span class="missing" title="No note has this name">Nobody</span></p>'),
        ("[t](Tea.md#Pour)", '<p><a class="link" href="/n/Tea.md#h-pour">t</a></p>'),
        ("`[[Tea]] #a`", "<p><code>[[Tea]] #a</code></p>"),
        ("![[cup.png|120]]", '<p><img src="/f/cup.png" alt="cup.png" loading="lazy"></p>'),
        ("![a cup](cup.png)", '<p><img src="/f/cup.png" alt="a cup" loading="lazy"></p>'),
        ("![[Tea]]", '<p><a class="embed" href="/n/Tea.md">Tea</a></p>'),
        ("![[plan.pdf]]", '<p><a class="embed" href="/f/plan.pdf">plan.pdf</a></p>'),
        ("#a/b #1 x#c", '<p><a class="tag" href="/s?tag=a%2Fb">#a/b</a> #1 x#c</p>'),
        (
            "==so== %%not%%",
            '<p><mark>so</mark> <span class="comment" title="a comment: Obsidian does not show it">not</span></p>',
        ),
        ("see[^1]", '<p>see<sup><a href="#h-footnote-1">1</a></sup></p>'),
        ("[^1]: there", '<p><span class="footnote" id="h-footnote-1">1</span> there</p>'),
        ("a\nb", "<p>a<br />\nb</p>"),
        ("# Tea\n\n# Pour", '<h2 id="h-pour">Pour</h2>'),
        ("<b>x</b> &amp; <!-- c -->", "<p>&lt;b&gt;x&lt;/b&gt; &amp; &lt;!-- c --&gt;</p>"),
    ],
)
def test_what_obsidian_has_is_shown(text: str, html: str) -> None:
    assert html == render(text, title="Tea")


def test_tasks_and_callouts_begin_with_their_mark() -> None:
    tasks = render("- [ ] open\n- [x] done\n- [[Tea]]")
    callout = render("> [!warning]- Hot\n> Wait.")

    assert ["open", "done"] == [word for word in ("open", "done") if f'aria-label="{word}"' in tasks]
    assert '<li><a class="link"' in tasks
    assert '<strong class="callout-kind">warning</strong> Hot' in callout


def test_each_heading_is_in_the_contents_and_an_anchor_stands_once() -> None:
    found = render_note_html("# A\n\n## B\n\n# A\n\n###### C", FILES.get, "/s?tag=", "")

    assert [(1, "A", "h-a"), (2, "B", "h-b"), (1, "A", "h-a"), (6, "C", "h-c")] == [
        (one.level, one.text, one.anchor) for one in found.headings
    ]
    assert (1, 1) == (found.html.count('id="h-a"'), found.html.count("<h6"))


class Elements(HTMLParser):
    """The elements of a page with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


TAGS = {
    "a",
    "blockquote",
    "br",
    "code",
    "del",
    "em",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "img",
    "li",
    "mark",
    "ol",
    "p",
    "pre",
    "s",
    "span",
    "strong",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
}
ATTRIBUTES = {
    "class",
    "id",
    "href",
    "title",
    "src",
    "alt",
    "loading",
    "target",
    "rel",
    "role",
    "aria-label",
    "start",
}
PARTS = [
    *"[]()!<>\"'`*_~=%#|\\ \n&:;/-^.",
    *(
        "[[",
        "]]",
        "![[",
        "](",
        "==",
        "%%",
        "[^1]",
        "]: ",
        "> ",
        "> [!",
        "- [x] ",
        "1. ",
        "```",
        "    ",
        "\r\n",
        "\0",
    ),
    *(
        "<script>",
        "</script>",
        "<img src=x onerror=alert(1)>",
        "onload=",
        "javascript:alert(1)",
        "JAVA\tSCRIPT:x",
        "data:text/html,",
    ),
    *(
        "http://a",
        "//evil",
        "mailto:a@b",
        "file:///etc",
        "Tea",
        "cup.png",
        "&#106;avascript:x",
        "&lt;",
        "%3Cb%3E",
        "|-|-|",
        "é",
        "𝒳",
    ),
]


@given(st.lists(st.sampled_from(PARTS), max_size=25).map("".join))
def test_no_text_makes_other_elements_attributes_or_addresses(text: str) -> None:
    for tag, attributes in Elements(render(text)).found:
        assert tag in TAGS
        assert set(attributes) <= ATTRIBUTES
        address = attributes.get("href") or attributes.get("src") or "#"
        inside = address.startswith(("#", "/n/", "/f/", "/s?tag="))
        assert inside or (
            tag == "a" and address.startswith(("http://", "https://", "mailto:")) and attributes["rel"]
        )
