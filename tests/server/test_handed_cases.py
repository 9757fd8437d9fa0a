"""The handed cases 1 to 59 and O1 to O14 through the tools of a real server: the file's bytes, or the error's code.

The tables are those of the tests below the server. `test_every_handed_case_is_here` holds the list complete.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest

from tests.conftest import shared
from tests.core.golden import Case
from tests.core.patch_bytes import HOME, LOG, PATCH_BYTES
from tests.core.property_cases import STATUS_DONE, TIDE
from tests.core.test_filters import PROPERTIES, PROPERTY_FILTERS, WRONG_PROPERTY_FILTERS
from tests.core.test_links import TEAM_FILES, TEAM_LINKS
from tests.core.test_markdown import TAGS_NOTE
from tests.core.test_patch import GOLDEN
from tests.server.conftest import text_of
from tests.server.handed import ServedVault, Serving, serving_vaults

NAME = re.compile(r"O\d+[a-z]?|\d+(?= )")
DRIVEN: set[str] = set()
NOT_BY_A_TOOL = {
    "27": "an editor that saves at the same moment: tests/store/test_races.py, with real processes",
    "28": "an unreadable folder or root: tests/index/test_indexer.py, under a user without rights",
    "29": "a file that comes back during a scan: tests/index/test_indexer.py, stopped in the middle",
    "35": "what is no link: tests/core/test_markdown.py; O10 drives the same grammar here",
}


def handed(*names: str) -> Callable[[Any], Any]:
    """Note that a test drives these cases."""
    DRIVEN.update(names)
    return lambda test: test


def note_name(title: str) -> None:
    DRIVEN.update(NAME.findall(title)[:1])


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with serving_vaults(tmp_path_factory.mktemp("handed")) as serve:
        yield serve


# -- patches: cases 1-25 and O1-O8 from the tables of the core


def encoded(text: str) -> bytes | None:
    """Return the text as a file holds it; None when no UTF-8 file can."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return None


@pytest.fixture(scope="module")
def patches(serving: Serving) -> ServedVault:
    golden = {f"golden {n}.md": case.note for n, case in enumerate(GOLDEN)}
    in_bytes = {f"bytes {n}.md": case[1] for n, case in enumerate(PATCH_BYTES)}
    status = {f"status {n}.md": case[1] for n, case in enumerate(STATUS_DONE)}
    notes = {path: encoded(text) for path, text in {**golden, **in_bytes, **status}.items()}
    return serving({path: data for path, data in notes.items() if data is not None})


def edit_arguments(vault: ServedVault, path: str, operation: dict[str, Any]) -> dict[str, Any]:
    """Return the core's operation as a call: a body needs its revision, a layer has its own argument."""
    sent = dict(operation.get("properties", {}))
    layer = {"layer": sent.pop("layer")} if "layer" in sent else {}
    revision = {"if_revision": vault.revision(path)} if "body" in operation else {}
    return {"ref": path, **operation, **({"properties": sent} if sent or layer else {}), **layer, **revision}


@pytest.mark.parametrize("number", range(len(GOLDEN)), ids=[case.title for case in GOLDEN])
def test_golden_case(patches: ServedVault, number: int) -> None:
    case: Case = GOLDEN[number]
    path = f"golden {number}.md"
    if case.error is None:
        patches.done("edit", **edit_arguments(patches, path, case.operation))
        assert case.result.encode() == patches.bytes_of(path)
        return
    before = (patches.root / path).stat()
    said = patches.refused("edit", **edit_arguments(patches, path, case.operation))

    # The tool refuses a blank body before anything is planned.
    code, words = ("EMPTY_BODY", "empty") if case.title == "a blank body" else case.error
    assert code == said.partition(":")[0]
    assert words in said.replace("\\\\n", "\\n")
    assert (case.note.encode(), before.st_mtime_ns) == (
        patches.bytes_of(path),
        (patches.root / path).stat().st_mtime_ns,
    )


@pytest.mark.parametrize("number", range(len(PATCH_BYTES)), ids=[case[0] for case in PATCH_BYTES])
def test_patch_in_bytes(patches: ServedVault, number: int) -> None:
    _, text, patch, expected = PATCH_BYTES[number]
    path = f"bytes {number}.md"
    if re.fullmatch("[A-Z_]+", expected):
        assert expected == patches.refused("edit", ref=path, patch=patch).partition(":")[0]
        assert text.encode() == patches.bytes_of(path)
    else:
        patches.done("edit", ref=path, patch=patch)
        assert expected.encode() == patches.bytes_of(path)


@pytest.mark.parametrize("number", range(len(STATUS_DONE)), ids=[case[0] for case in STATUS_DONE])
def test_one_property_in_many_blocks(patches: ServedVault, number: int) -> None:
    name, text, expected = STATUS_DONE[number]
    path, data = f"status {number}.md", encoded(text)
    if data is None:
        assert "body with a half character" == name  # no UTF-8 file holds one
        return
    refusal = "FRONTMATTER_INVALID" if expected is None else "NOT_WRITABLE" if "\0" in text else None
    result = patches.call("edit", ref=path, properties={"status": "done"})

    assert refusal == (text_of(result).partition(":")[0] if result.is_error else None)
    assert (data if refusal else str(expected).encode()) == patches.bytes_of(path)


for _title in [*(case.title for case in GOLDEN), *(case[0] for case in PATCH_BYTES)]:
    note_name(_title)


@handed("O1c", "O2a", "O3a", "O3b", "O3e", "10")
def test_reading_and_writing_agree_on_sections(serving: Serving) -> None:
    heron = GOLDEN[0].note
    shell = next(case.note for case in GOLDEN if case.title.startswith("O2b"))
    vault = serving({"Heron.md": heron, "Shell habits.md": shell, "Home.md": HOME})

    assert vault.refused("get", ref="Heron", section="Log").startswith("SECTION_NOT_UNIQUE: ")
    assert [("Shell habits", 1), ("Backup", 2), ("Restore", 2)] == outline(vault, "Shell habits")
    assert [("Garden", 2), ("Deep note", 4), ("Kitchen", 2), ("Shelf", 2)] == outline(vault, "Home")
    deep = vault.done("get", ref="Home", section="Garden > Deep note")
    assert "three rows" in deep
    assert "Shelf" not in deep
    assert vault.refused("get", ref="Home", section="Kitchen > Shelf").startswith("SECTION_NOT_FOUND: ")


def outline(vault: ServedVault, ref: str) -> list[tuple[str, int]]:
    text = vault.done("get", ref=ref, max_chars=5)
    rows = re.findall(r"^  (#+) (.*) \(\d+, \d+\)$", text, re.MULTILINE)
    return [(name, len(marks)) for marks, name in rows]


@handed("O6a", "O6b", "O6c", "O6d", "O6e", "O6f", "O6g", "22")
def test_one_property_changes_and_nothing_else_does(serving: Serving) -> None:
    vault = serving({f"Tide {n}.md": TIDE for n in "abcdefg"})
    changes: list[tuple[str, dict[str, Any], tuple[str, str]]] = [
        ("a", {"due": "2031-07-01"}, ("due: 2031-06-01\n", "due: 2031-07-01\n")),
        ("b", {"ratio": 1.75}, ("ratio: 1.50\n", "ratio: 1.75\n")),
        (
            "c",
            {"aliases": ["Ebb", "Flow: high", "Spring"]},
            ('- "Flow: high"\n', '- "Flow: high"\n- Spring\n'),
        ),
        ("d", {"owner": "Mina"}, ("width.\n---\n", "width.\nowner: Mina\n---\n")),
        ("e", {"code": None}, ('code: "007"\n', "")),
    ]
    for name, properties, (old, new) in changes:
        vault.done("edit", ref=f"Tide {name}.md", properties=properties)
        assert TIDE.replace(old, new).encode() == vault.bytes_of(f"Tide {name}.md")
    shown = vault.done("get", ref="Tide f.md")
    values = json.loads(re.findall(r"^properties: (.*)$", shown, re.MULTILINE)[0])
    before = vault.state()["Tide g.md"]
    assert vault.refused("edit", ref="Tide g.md", properties={"due": "2031-06-01"}).startswith("PATCH_NOOP")

    assert before == vault.state()["Tide g.md"]
    assert ("007", 1.5, ["b", "a"]) == (values["code"], values["ratio"], values["flags"])
    assert "# Tide table" in shown
    assert "created: 2031-05-06" in shown


@handed("O7c", "O7d", "O7e", "23")
def test_broken_frontmatter_is_shown_and_the_body_is_found(serving: Serving) -> None:
    vault = serving({"Reef.md": next(case.note for case in GOLDEN if case.title.startswith("O7a"))})
    shown = vault.done("get", ref="Reef")

    assert "\ntags: survey\n" in shown
    assert "notice: " in shown
    assert "title: Reef: a report\ntags: [diving\n" in shown
    assert ["Reef.md"] == vault.found(query="Depth")


@handed("O8a", "O8d", "O8e")
def test_a_file_with_bom_and_crlf_keeps_both(serving: Serving) -> None:
    vault = serving({"Log.md": LOG.encode()})

    assert ["sea"] == [
        tag["name"]
        for tag in vault.call("vocabulary", kind="tags").structured_content["tags"]  # type: ignore[index]
    ]
    assert [("Log", 1)] == outline(vault, "Log")
    vault.done("edit", ref="Log", layer="past")
    assert LOG.replace("state", "past").encode() == vault.bytes_of("Log.md")
    vault.put("Log.md", LOG)
    shown = vault.done("get", ref="Log").split(" ---\n", 1)[1].partition("--- end of")[0]
    vault.done("edit", ref="Log", patch=[{"find": shown.rstrip("\n"), "replace": "- all"}])
    assert LOG[: LOG.index("# Log")].encode() == vault.bytes_of("Log.md").partition(b"- all")[0]


# -- tags and links


@handed("O9a", "O9b", "O9c", "O9d", "O9e", "O9f")
def test_which_tags_a_note_has(serving: Serving) -> None:
    listed = 'tags:\n  - Alpha\n  - "#delta/x"\n'
    vault = serving(
        {
            "Tags.md": TAGS_NOTE,
            "e.md": TAGS_NOTE.replace(listed, "tags: Alpha, delta\n").replace("#alpha ", ""),
            "f.md": TAGS_NOTE.replace(listed, "tags: Alpha\n").replace("#alpha ", ""),
        }
    )
    line = re.findall(r"^tags: (.*)$", vault.done("get", ref="Tags.md"), re.MULTILINE)[0]
    expected = "alpha delta/x beta/gamma-1 inbox linktag y2031 한국어/메모 заметка_2 日本語 hidden one two end"

    assert expected.split() == [tag.casefold() for tag in line.split(", ")]
    for tag, count in (("beta", 3), ("BETA/GAMMA-1", 3), ("gamma-1", 0)):
        assert count == len(vault.found(tags=[tag]))
    assert ["Tags.md", "f.md"] == sorted(vault.found(tags=["alpha"]))
    assert "notice: " in vault.done("get", ref="e.md")


@handed("O10")
def test_which_links_a_note_has(serving: Serving) -> None:
    cases = shared("cases/obsidian.md").read_text(encoding="utf-8")
    start = cases.index("`````markdown\n", cases.index("## O10")) + len("`````markdown\n")
    names = (
        "World",
        "Sea",
        "Rivers",
        "Lakes",
        "Comment",
        "Lake list",
        "Callout",
        "Foot",
        "Nowhere",
        "Bare",
        "Code",
    )
    vault = serving(
        {"Atlas.md": cases[start : cases.index("`````", start)], "map.png": b"x"}
        | {f"{name}.md": "x\n" for name in (*names, "Code2", "Esc", "Html", "Fence")}
    )

    assert {
        *("World.md", "Sea.md", "Rivers.md", "Lakes.md", "Atlas.md", "map.png", "Comment.md"),
        *("Lake list.md", "Callout.md", "Foot.md"),
    } == set(vault.links("Atlas"))


@handed("O11", "31", "32")
def test_which_file_a_link_means(serving: Serving) -> None:
    vault = serving(dict.fromkeys(TEAM_FILES, "x\n"))
    for target, source, path in TEAM_LINKS:
        link = f"[x]({target})" if target.endswith("Index.md") else f"[[{target}]]"
        vault.put(source, f"{link}\n")

        assert [path or f"{target} (no such note)"] == [
            name.removesuffix(" (one of several)") for name in vault.links(source)
        ], (target, source)
    vault.put("Solo.md", "[[Index]]\n")
    assert ["logs/2031/Index.md (one of several)"] == vault.links("Solo.md")
    assert vault.refused("edit", ref="Index", patch=[{"append": "x"}]).startswith("AMBIGUOUS_TITLE: ")


@handed("33", "34")
def test_eleven_ways_to_link_to_one_note(serving: Serving) -> None:
    ways = "[[Num]] [[Num|alias]] ![[Num]] [[a/Num]] [[Num#Heading]] [[Num#^block]] [[NUM]] [[Num.md]] [md](../a/Num.md)"
    files = {
        "a/Num.md": "---\naliases: [Alias]\n---\n# Heading\n\nText ^block\n",
        "a/file-name.md": "---\ntitle: Another\n---\n",
        "My-Note.md": "x\n",
    }
    links = {f"b/{n}.md": f"{way}\n" for n, way in enumerate(ways.split())}
    vault = serving(
        {**files, **links, "b/f.md": "[[file-name]]", "b/al.md": "[[Alias]]", "b/my.md": "[[my_note]]"}
    )

    for path in links:
        assert ["a/Num.md"] == vault.links(path)
    assert ["a/file-name.md"] == vault.links("b/f.md")
    assert ["Alias (no such note)"] == vault.links("b/al.md")  # Obsidian: an alias is a hint, never an edge
    assert "a/Num.md" in vault.done("get", ref="Alias")
    assert ["my_note (no such note)"] == vault.links("b/my.md")  # Obsidian folds no separators


@handed("36")
def test_a_link_waits_for_its_note_and_follows_its_name(serving: Serving) -> None:
    vault = serving({"From.md": "See [[Later]] and [[Later#Part|that]].\n"})

    assert ["Later (no such note)"] == vault.links("From")
    vault.done("save", title="Later", body="# Part\n\nHere it is.", layer="state")
    assert ["Later.md"] == vault.links("From")
    vault.done("retire", ref="Later", reason="test")
    assert ["Later (no such note)"] == vault.links("From")
    vault.done("save", title="Later", body="# Part\n\nHere it is again.", layer="state")
    vault.done("edit", ref="Later", title="Sooner")
    assert b"See [[Sooner]] and [[Sooner#Part|that]].\n" == vault.bytes_of("From.md")
    assert ["Sooner.md"] == vault.links("From")


# -- property filters: cases 37 to 58


@pytest.fixture(scope="module")
def filtered(serving: Serving) -> ServedVault:
    known = {**PROPERTIES, "tags": ["100%", "a_c", "back\\slash", "Area/Work"], "aliases": ["The Plan"]}
    note = f"---\n{json.dumps(known, ensure_ascii=False)}\n---\nThe plan.\n"
    return serving(
        {
            "n/Plan.md": note,
            "o/Other.md": "---\ntags: [100-percent, abc]\n---\nAnother plan.\n",
            "n/scan.pdf": b"%PDF",
        }
    )


@handed(*(str(n) for n in range(37, 58)))
@pytest.mark.parametrize(("properties", "expected"), PROPERTY_FILTERS)
def test_a_property_filter(filtered: ServedVault, properties: Any, expected: bool) -> None:
    assert (["n/Plan.md"] if expected else []) == filtered.found(folder="n", properties=properties)


@pytest.mark.parametrize(
    "properties",
    [p for p in WRONG_PROPERTY_FILTERS if repr(p) != "{'x': nan}"],  # JSON has no such number
)
def test_a_wrong_property_filter(filtered: ServedVault, properties: Any) -> None:
    said = filtered.refused("search", folder="n", properties=properties)

    assert said.startswith("INVALID_ARGUMENT: ")
    assert "properties" in said


@handed("58", "59")
def test_words_and_filters_are_both_met_and_the_total_counts_notes_alone(filtered: ServedVault) -> None:
    both = filtered.call("search", query="plan", properties={"priority": 3}).structured_content
    absent = filtered.call("search", properties={"owner": None}).structured_content
    assert both is not None
    assert absent is not None

    assert (1, ["n/Plan.md"]) == (both["total"], [row["path"] for row in both["rows"]])
    assert (2, {"n/Plan.md", "o/Other.md"}) == (absent["total"], {row["path"] for row in absent["rows"]})


# -- the disk


@handed("O12")
def test_nothing_outside_and_nothing_hidden(serving: Serving) -> None:
    hidden = {
        ".obsidian/app.json": "{}",
        ".git/config": "[x]\n",
        ".trash/old.md": "secret\n",
        "Notes/.hidden.md": "secret\n",
    }
    vault = serving({"Notes/ok.md": "ok words\n", **hidden})
    beside = vault.root.parent / f"{vault.root.name}-beside"
    beside.mkdir()
    (beside / "x.md").write_bytes(b"secret\n")
    for name, target in (("link.md", beside / "x.md"), ("linkdir", beside), ("inner.md", "Notes/ok.md")):
        os.symlink(target, vault.root / name)
    up = f"../{beside.name}/x.md"
    refs = [
        *(up, f"Notes/../{up}", str(beside / "x.md"), up.replace("/", "\\"), "link.md", "linkdir/x.md", "linkdir/new.md"),
        *(".obsidian/app.json", ".OBSIDIAN/app.json", ".git/config", ".trash/old.md", "Notes/.hidden.md"),
        *("Notes/./../.git/config", "Notes/a\0b.md", "Notes/", "x" * 300 + ".md", f"%2e%2e/{beside.name}/x.md"),
    ]  # fmt: skip
    before = vault.state()
    for ref in refs:
        for said in (
            vault.refused("get", ref=ref),
            vault.refused("edit", ref=ref, patch=[{"append": "x"}]),
            vault.refused("retire", ref=ref, reason="test"),
            vault.refused("save", title="new", body="x", layer="state", folder=ref if ref != "Notes/" else up),
        ):
            assert str(beside) not in said.replace(ref, "")

    assert before == vault.state()
    assert b"secret\n" == (beside / "x.md").read_bytes()
    assert [] == vault.found(query="secret")
    assert ["Notes/ok.md"] == vault.found(query="ok words")


PLAN = "# Plan\n\n- ask Ravi\n- book hall\n"
SAVED = "# Plan\n\n- ask Ravi\n- book hall (done)\n- order cake\n"
ASK = [{"find": "- ask Ravi", "replace": "- ask Ravi and Noor"}]


@handed("O13a", "O13b", "O13d", "O13e", "O13f", "24")
def test_somebody_else_saved_in_between(serving: Serving) -> None:
    vault = serving({"Plan.md": PLAN})
    read = vault.revision("Plan")
    vault.put("Plan.md", SAVED)
    before = vault.state()

    stale = vault.refused("edit", ref="Plan", patch=ASK, if_revision=read)
    assert stale.startswith("STALE_REVISION: ")
    assert vault.revision("Plan") in stale
    assert vault.refused("edit", ref="Plan", body="# Plan\n").startswith("REVISION_REQUIRED: ")
    assert before == vault.state()
    vault.put("Plan.md", SAVED)
    vault.done("edit", ref="Plan", patch=ASK)
    assert SAVED.replace("Ravi", "Ravi and Noor").encode() == vault.bytes_of("Plan.md")
    (vault.root / "Plan.md").unlink()
    assert "gone" in vault.refused("edit", ref="Plan", patch=ASK)
    assert {} == vault.state()


@handed("O14a", "O14b", "O14c", "O14d", "O14e", "O14g")
def test_names_in_decomposed_form(serving: Serving) -> None:
    composed = "회의록"
    decomposed = unicodedata.normalize("NFD", composed)
    vault = serving(
        {f"{decomposed}.md": "# 회의록\n\n결정: 3월 개장\n", "목차.md": "[[회의록]]\n", "d/INDEX.md": "x\n"}
    )

    assert [f"{decomposed}.md"] == vault.links("목차")
    for ref in (composed, f"{composed}.md", f"{decomposed}.md"):
        assert "결정: 3월 개장" in vault.done("get", ref=ref)
    assert vault.refused("save", title=composed, body="Other text.", layer="state").startswith(
        "DUPLICATE_SUSPECTED"
    )
    vault.done("edit", ref=composed, patch=[{"find": "3월", "replace": "4월"}])
    assert "# 회의록\n\n결정: 4월 개장\n".encode() == vault.bytes_of(f"{decomposed}.md")
    for word in ("회의", "개장", "결정"):
        assert f"{decomposed}.md" in vault.found(query=word)
    assert vault.refused("save", title="index", body="Other.", layer="state", folder="d").startswith(
        ("DUPLICATE_SUSPECTED", "ALREADY_EXISTS")
    )
    assert 3 == len(vault.state())


@handed("25")
def test_a_record_of_the_past_is_guarded_in_every_way(serving: Serving) -> None:
    past = "---\nlayer: past\n---\nIt rained.\n"
    vault = serving({"Day.md": past, "Next.md": "x\n"})
    revision = vault.revision("Day")

    for change in ({"patch": [{"append": "x"}]}, {"body": "x", "if_revision": revision}, {"title": "Night"}):
        assert vault.refused("edit", ref="Day", **change).startswith("PAST_IMMUTABLE: ")
    assert past.encode() == vault.bytes_of("Day.md")


@handed("26")
def test_appends_at_the_same_moment_all_land_or_are_refused(serving: Serving) -> None:
    vault = serving({"Shared.md": "# Shared\n"})

    async def append(number: int, done: list[str]) -> None:
        result = await vault.client.call_tool("edit", {"ref": "Shared", "patch": [{"append": f"- n{number}"}]})
        if not result.is_error:  # type: ignore[union-attr]
            done.append(f"- n{number}")

    async def all_at_once() -> list[str]:
        done: list[str] = []
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(append, number, done)
        return done

    done = vault.portal.call(all_at_once)
    assert sorted(done) == sorted(vault.bytes_of("Shared.md").decode().splitlines()[1:])
    assert done


@handed("30")
def test_what_happens_on_the_disk_is_seen(serving: Serving) -> None:
    vault = serving(
        {"a/One.md": "one apple\n", "Two.md": "two pears\n", "Case.md": "three plums\n", "L.md": "[[One]]\n"}
    )
    (vault.root / "a/One.md").rename(vault.root / "Two.md")
    (vault.root / "Case.md").rename(vault.root / "CASE.md")
    vault.put(".hidden/x.md", "four figs\n")
    os.symlink("Two.md", vault.root / "linked.md")

    assert "one apple" in vault.done("get", ref="Two.md")
    assert "three plums" in vault.done("get", ref="CASE.md")
    assert vault.refused("get", ref="a/One.md").startswith("NOT_FOUND: ")
    assert vault.refused("get", ref=".hidden/x.md").startswith("RESERVED_FOLDER: ")
    vault.vault.refresh()  # what the watcher does within a second
    assert ["Two.md"] == vault.found(query="apple")
    assert ["CASE.md"] == vault.found(query="plums")
    assert [] == vault.found(query="pears")
    assert [] == vault.found(query="figs")


def test_every_handed_case_is_here() -> None:
    """Each case of the two handed lists is driven above, or named with the reason why not."""
    obsidian = shared("cases/obsidian.md").read_text(encoding="utf-8")
    listed = {str(n) for n in range(1, 60)}
    for part in re.split(r"^## (?=O\d)", obsidian, flags=re.MULTILINE)[1:]:
        name = part.partition(".")[0]
        letters = re.findall(r"^\| ([a-z]) \|", part, re.MULTILINE) if name not in {"O10", "O11"} else []
        listed |= {name + letter for letter in letters} or {name}

    assert set() == listed - DRIVEN - set(NOT_BY_A_TOOL)
    assert set() == set(NOT_BY_A_TOOL) & DRIVEN
