"""One property changed in many kinds of frontmatter: (name, text, expected text or None for a refusal).

The change is always `status` set to `done`. Written as Python because line endings and marks matter.
"""

from __future__ import annotations

TIDE = """---
title: 'Tide table'   # keep the quotes
layer: state
created: 2031-05-06
code: "007"
ratio: 1.50
flags: [b, a]
aliases:
- Ebb
- "Flow: high"
# reviewed by Ines
due: 2031-06-01
long: This is one long line that must not be folded although it is well past eighty characters in width.
---

Body with ---
and more.
"""

STATUS_DONE: tuple[tuple[str, str, str | None], ...] = (
    ("one above", "---\ntitle: A\nstatus: open\n---\n\nbody\n", "---\ntitle: A\nstatus: done\n---\n\nbody\n"),
    (
        "comments beside and above",
        "---\ntitle: A  # keep\n# a line of its own\nstatus: open  # why\n---\nbody\n",
        "---\ntitle: A  # keep\n# a line of its own\nstatus: done  # why\n---\nbody\n",
    ),
    (
        "quotes of neighbours",
        '---\nstatus: open\na: \'x\'\nb: "y"\nc: "tab\\t"\n---\nbody\n',
        '---\nstatus: done\na: \'x\'\nb: "y"\nc: "tab\\t"\n---\nbody\n',
    ),
    (
        "order of keys",
        "---\nzeta: 1\nstatus: open\nalpha: 2\n---\n",
        "---\nzeta: 1\nstatus: done\nalpha: 2\n---\n",
    ),
    ("flow list", "---\ntags: [b, a]\nstatus: open\n---\n", "---\ntags: [b, a]\nstatus: done\n---\n"),
    ("list, no indent", "---\ntags:\n- b\n- a\nstatus: open\n---\n", "---\ntags:\n- b\n- a\nstatus: done\n---\n"),
    (
        "list, four spaces",
        "---\ntags:\n    - b\n    - a\nstatus: open\n---\n",
        "---\ntags:\n    - b\n    - a\nstatus: done\n---\n",
    ),
    ("date", "---\ncreated: 2031-01-05\nstatus: open\n---\n", "---\ncreated: 2031-01-05\nstatus: done\n---\n"),
    (
        "moments",
        "---\na: 2031-01-05T10:00:00\nb: 2031-01-05T10:00:00+09:00\nc: 2031-01-05 10:00\nstatus: open\n---\n",
        "---\na: 2031-01-05T10:00:00\nb: 2031-01-05T10:00:00+09:00\nc: 2031-01-05 10:00\nstatus: done\n---\n",
    ),
    (
        "numbers in odd spellings",
        "---\nzip: 0123\nat: 12:30\nver: 1.10\nn: 1_000\nstatus: open\n---\n",
        "---\nzip: 0123\nat: 12:30\nver: 1.10\nn: 1_000\nstatus: done\n---\n",
    ),
    (
        "yes and no",
        "---\npublish: yes\nno: on\nstatus: open\n---\n",
        "---\npublish: yes\nno: on\nstatus: done\n---\n",
    ),
    (
        "kinds of null",
        "---\na:\nb: ~\nc: null\nstatus: open\n---\n",
        "---\na:\nb: ~\nc: null\nstatus: done\n---\n",
    ),
    (
        "literal block above",
        "---\nabout: |\n  l1\n\n  l2\nstatus: open\n---\n",
        "---\nabout: |\n  l1\n\n  l2\nstatus: done\n---\n",
    ),
    (
        "folded block above",
        "---\nabout: >-\n  l1\n  l2\nstatus: open\n---\n",
        "---\nabout: >-\n  l1\n  l2\nstatus: done\n---\n",
    ),
    (
        "long line",
        f"---\nabout: {'word ' * 40}end\nstatus: open\n---\n",
        f"---\nabout: {'word ' * 40}end\nstatus: done\n---\n",
    ),
    ("anchor and alias", "---\nbase: &b {x: 1}\nuse: *b\nstatus: open\n---\n", None),
    ("anchor on the value", "---\nstatus: &s open\nother: *s\n---\n", None),
    ("tag", "---\nx: !foo bar\nstatus: open\n---\n", None),
    ("tag that runs code", '---\nx: !!python/object/apply:os.system ["true"]\nstatus: open\n---\n', None),
    ("key twice", "---\nstatus: open\ntags: [a]\nstatus: draft\n---\n", None),
    ("key `content`", "---\ncontent: x\nstatus: open\n---\n", "---\ncontent: x\nstatus: done\n---\n"),
    ("key `handler`", "---\nhandler: x\nstatus: open\n---\n", "---\nhandler: x\nstatus: done\n---\n"),
    ("key that is a number", "---\n2031: x\nstatus: open\n---\n", "---\n2031: x\nstatus: done\n---\n"),
    ("bare link", "---\nup: [[Home]]\nstatus: open\n---\n", "---\nup: [[Home]]\nstatus: done\n---\n"),
    ("quoted link", '---\nup: "[[Home]]"\nstatus: open\n---\n', '---\nup: "[[Home]]"\nstatus: done\n---\n'),
    ("colon in a bare value", "---\ntitle: Re: plan\nstatus: open\n---\n", None),
    ("indent by tab", "---\ntags:\n\t- a\nstatus: open\n---\n", None),
    ("mention", "---\nby: @bob\nstatus: open\n---\n", None),
    ("template", "---\ndate: {{date}}\nstatus: open\n---\n", None),
    (
        "three scripts",
        "---\ntitle: 기억 🧠 память\nstatus: open\n---\nтело\n",
        "---\ntitle: 기억 🧠 память\nstatus: done\n---\nтело\n",
    ),
    (
        "blank lines in the block",
        "---\n\ntitle: A\n\n\nstatus: open\n\n---\n",
        "---\n\ntitle: A\n\n\nstatus: done\n\n---\n",
    ),
    ("no space after the colon", "---\ntitle:A\nstatus: open\n---\n", None),
    (
        "CRLF",
        "---\r\ntitle: A\r\nstatus: open\r\n---\r\n\r\nbody\r\n",
        "---\r\ntitle: A\r\nstatus: done\r\n---\r\n\r\nbody\r\n",
    ),
    (
        "mixed line endings",
        "---\r\ntitle: A\nstatus: open\r\n---\nbody\r\nx\n",
        "---\r\ntitle: A\nstatus: done\r\n---\nbody\r\nx\n",
    ),
    ("CR only", "---\rtitle: A\rstatus: open\r---\rbody\r", "---\rtitle: A\rstatus: done\r---\rbody\r"),
    ("BOM", "\ufeff---\ntitle: A\nstatus: open\n---\nbody\n", "\ufeff---\ntitle: A\nstatus: done\n---\nbody\n"),
    ("no final newline", "---\nstatus: open\n---\nbody", "---\nstatus: done\n---\nbody"),
    ("closing fence ends the file", "---\nstatus: open\n---", "---\nstatus: done\n---"),
    ("many final newlines", "---\nstatus: open\n---\n\n\nbody\n\n\n", "---\nstatus: done\n---\n\n\nbody\n\n\n"),
    (
        "blank line first: not a block",
        "\n---\nstatus: open\n---\nbody\n",
        "---\nstatus: done\n---\n\n---\nstatus: open\n---\nbody\n",
    ),
    (
        "trailing blanks",
        "---\ntitle: A   \nstatus: open  \n---\n\tbody  \n",
        "---\ntitle: A   \nstatus: done  \n---\n\tbody  \n",
    ),
    ("blanks after the fences", "--- \nstatus: open\n---\t\nbody\n", "--- \nstatus: done\n---\t\nbody\n"),
    (
        "five dashes: not a block",
        "-----\nstatus: open\n-----\nbody\n",
        "---\nstatus: done\n---\n-----\nstatus: open\n-----\nbody\n",
    ),
    ("closed by dots", "---\nstatus: open\n...\nbody\n---\n", None),
    (
        "dashes inside a value",
        "---\nabout: |\n  a\n  ---\n  b\nstatus: open\n---\nbody\n",
        "---\nabout: |\n  a\n  ---\n  b\nstatus: done\n---\nbody\n",
    ),
    (
        "a rule in the body",
        "# T\n\n---\n\nstatus: open\n\n---\n",
        "---\nstatus: done\n---\n# T\n\n---\n\nstatus: open\n\n---\n",
    ),
    ("prose between rules", "---\n\nJust text: not yaml\nat all\n\n---\nx\n", None),
    ("never closed", "---\nstatus: open\nbody with no end\n", None),
    ("empty block", "---\n---\nbody\n", "---\nstatus: done\n---\nbody\n"),
    ("only a comment", "---\n# todo\n---\nbody\n", "---\n# todo\nstatus: done\n---\nbody\n"),
    ("no block", "# body\n", "---\nstatus: done\n---\n# body\n"),
    ("no block, CRLF and BOM", "\ufeff# body\r\n", "\ufeff---\r\nstatus: done\r\n---\r\n# body\r\n"),
    ("empty file", "", "---\nstatus: done\n---\n"),
    (
        "same name deeper",
        "---\nx:\n  status: inner\nstatus: open\n---\n",
        "---\nx:\n  status: inner\nstatus: done\n---\n",
    ),
    (
        "same name in a text",
        "---\nabout: |\n  status: not me\nstatus: open\n---\n",
        "---\nabout: |\n  status: not me\nstatus: done\n---\n",
    ),
    ("quoted key", '---\n"status": open\nb: 1\n---\n', '---\n"status": done\nb: 1\n---\n'),
    ("block in braces", "---\n{status: open, b: 1}\n---\n", "---\n{status: done, b: 1}\n---\n"),
    ("JSON", '---\n{"status": "open", "b": 1}\n---\n', '---\n{"status": "done", "b": 1}\n---\n'),
    (
        "list becomes text",
        "---\nstatus:  # mine\n  - a\n  - b\nb: 1\n---\n",
        "---\nstatus: done  # mine\nb: 1\n---\n",
    ),
    ("value over two lines", "---\nstatus: one\n  two\nb: 1\n---\n", "---\nstatus: done\nb: 1\n---\n"),
    ("value on the next line", "---\nstatus:\n  open\nb: 1\n---\n", "---\nstatus: done\nb: 1\n---\n"),
    (
        "literal block becomes text",
        "---\nstatus: |-  # long\n  one\n\n  two\n\nb: 1\n---\n",
        "---\nstatus: done  # long\n\nb: 1\n---\n",
    ),
    ("empty value", "---\nstatus:\nb: 1\n---\n", "---\nstatus: done\nb: 1\n---\n"),
    ("empty value with a comment", "---\nstatus: # soon\nb: 1\n---\n", "---\nstatus: done # soon\nb: 1\n---\n"),
    (
        "aligned values",
        "---\nid:     1\nstatus: open\nn:      2\n---\n",
        "---\nid:     1\nstatus: done\nn:      2\n---\n",
    ),
    ("wide gap", "---\nstatus:    open\n---\n", "---\nstatus:    done\n---\n"),
    ("single quotes", "---\nstatus: 'in work'\n---\n", "---\nstatus: done\n---\n"),
    ("indented block", "---\n  a: 1\n  status: open\n---\n", "---\n  a: 1\n  status: done\n---\n"),
    ("explicit key", "---\n? status\n: open\n---\n", None),
    ("body with a NUL", "---\nstatus: open\n---\na\x00b\n", "---\nstatus: done\n---\na\x00b\n"),
    ("body with a half character", "---\nstatus: open\n---\n\ud800\n", "---\nstatus: done\n---\n\ud800\n"),
    ("JSON file", '{\n"a": 1\n}\n\nstatus: open\n', '---\nstatus: done\n---\n{\n"a": 1\n}\n\nstatus: open\n'),
)
