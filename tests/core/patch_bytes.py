"""Patches where bytes matter that Markdown cannot show: (name, text, operations, expected text or error code)."""

from __future__ import annotations

from typing import Any

HOME = (
    "Intro line.\n\n## Garden\n\ntomatoes\n\n#### Deep note\n\nthree rows\n\n## Kitchen\n\nShelf\n-----\n\nflour"
)
LOG = "\ufeff---\r\ntags:\r\n  - sea\r\nlayer: state\r\n---\r\n# Log\r\n\r\n- one\r\n- two\r\n"

PATCH_BYTES: tuple[tuple[str, str, list[dict[str, Any]], str], ...] = (
    ("O3c no final newline", HOME, [{"append": "- salt", "section": "Shelf"}], HOME + "\n- salt"),
    (
        "O3d skipped level",
        HOME,
        [{"append": "four rows", "section": "Deep note"}],
        HOME.replace("three rows\n", "three rows\nfour rows\n"),
    ),
    ("O3 sibling is not inside", HOME, [{"append": "x", "section": ["Kitchen", "Shelf"]}], "SECTION_NOT_FOUND"),
    ("10 last section, no final newline", "# A\n\nold", [{"section": "A", "replace": "new\n"}], "# A\n\nnew"),
    ("10 last section, final newline", "# A\n\nold\n\n", [{"section": "A", "replace": "new"}], "# A\n\nnew\n\n"),
    (
        "O8b LF in the call",
        LOG,
        [{"find": "- one\n- two", "replace": "- one\n- two\n- three"}],
        LOG + "- three\r\n",
    ),
    (
        "O8c append after that",
        LOG,
        [{"find": "- one\n- two", "replace": "- one\n- two\n- three"}, {"append": "- four", "section": "Log"}],
        LOG + "- three\r\n- four\r\n",
    ),
    ("19 CRLF in the call, LF in the file", "a\nb\n", [{"find": "a\r\nb", "replace": "c\r\nd"}], "c\nd\n"),
    (
        "mixed endings: equal lines keep theirs",
        "a\r\nb\nc\r\n",
        [{"find": "a\nb\nc", "replace": "a\nb\nx\nc"}],
        "a\r\nb\nx\r\nc\r\n",
    ),
    ("mixed endings: the neighbour's", "a\r\nb\nc\n", [{"find": "b", "replace": "b\nb2"}], "a\r\nb\nb2\nc\n"),
    ("mixed endings: only the tail differs", "a\r\nb\nc\n", [{"find": "a\nb", "replace": "a\nz"}], "a\r\nz\nc\n"),
    ("14 carriage returns alone", "one\rtwo\r", [{"append": "---"}], "one\rtwo\r\r---\r"),
    (
        "13 CRLF before a heading",
        "a\r\n# B\r\n",
        [{"before": "n\nm", "section": "B"}],
        "a\r\n\r\nn\r\nm\r\n\r\n# B\r\n",
    ),
    (
        "emptied section in CRLF",
        "# A\r\na\r\n## B\r\nb\r\n",
        [{"section": "B", "replace": ""}],
        "# A\r\na\r\n## B\r\n",
    ),
    ("append to nothing", "", [{"append": "x"}], "x\n"),
    ("append to a BOM", "\ufeff", [{"append": "x"}], "\ufeffx\n"),
    ("append to blank lines", "\n\n", [{"append": "x\ny"}], "\n\nx\ny\n"),
    ("append under frontmatter", "---\na: 1\n---\n\n", [{"append": "x"}], "---\na: 1\n---\n\nx\n"),
    ("append to a fence that ends the file", "---\na: 1\n---", [{"append": "x"}], "---\na: 1\n---\nx"),
    ("prepend to nothing", "", [{"prepend": "x"}], "x\n"),
    ("append to a heading that ends the file", "# A", [{"append": "x", "section": "A"}], "# A\nx"),
    (
        "prepend to a heading that ends the file",
        "# A\n\n## B",
        [{"prepend": "x", "section": "B"}],
        "# A\n\n## B\nx",
    ),
    ("emptied section at the end", "# A\n\nb\n\n## B\n\nc", [{"section": "B", "replace": ""}], "# A\n\nb\n\n## B"),
    (
        "blank lines at the end of added text go",
        "a\n\n## B\n",
        [{"before": "\nx  \n \t\n", "section": "B"}],
        "a\n\nx  \n\n## B\n",
    ),
    (
        "a section replaced by itself",
        "# A\n\na\n \n## B\n",
        [{"section": "A", "replace": "\na\n \n## B\n"}],
        "PATCH_NOOP",
    ),
    ("trailing blanks of the last line stay", "a  \n\n", [{"append": "b"}], "a  \nb\n\n"),
    (
        "O14f decomposed text",
        "# \u1112\u116c\n\n3\u110b\u116f\u11af\n",
        [{"find": "3월", "replace": "4월"}],
        "ANCHOR_NOT_FOUND",
    ),
    ("no-break space", "a\u00a0b\n", [{"find": "a b", "replace": "c"}], "ANCHOR_NOT_FOUND"),
    ("line separators are text", "a\u2028b\x85c\x0c\n", [{"find": "b", "replace": "d"}], "a\u2028d\x85c\x0c\n"),
)
