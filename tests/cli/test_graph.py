"""`vault-memex graph show`: which file is written, what it holds, what it refuses."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from vault_memex.cli import main

HOSTILE = '</script><img src=x onerror="alert(1)"><!-- $style'


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_MEMEX_MODEL", "none")


def _show(vault: Path, *arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["graph", "show", "--vault", str(vault), *arguments])
    return int(ended.value.code or 0)


class _Page(HTMLParser):
    """The elements of a page, and the text of each script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data


def _data(file: Path) -> dict[str, Any]:
    found = re.search(r'id="data">(.*?)</script>', file.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    value: dict[str, Any] = json.loads(found[1])
    return value


def test_the_same_vault_gives_the_same_page_and_without_a_name_it_lies_outside_the_vault(
    sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = sorted(path for path in sample.rglob("*") if path.is_file())
    assert 0 == _show(sample)
    written = Path(capsys.readouterr().out.strip().rpartition(": ")[2])
    first = written.read_bytes()

    assert 0 == _show(sample, "--cache-dir", str(tmp_path / "another"), "--out", str(tmp_path / "again.html"))

    assert first == (tmp_path / "again.html").read_bytes()
    assert not written.is_relative_to(sample)
    assert files == sorted(path for path in sample.rglob("*") if path.is_file())


def test_the_page_holds_what_passes_the_filter_and_nothing_of_other_notes(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "people.html"

    assert 0 == _show(sample, "--type", "person", "--out", str(out))

    data = _data(out)
    assert ["Jisoo Han", "Tomas Brandt", "Асель Нурланова", "Мама"] == [note[1] for note in data["notes"]]
    assert (["type person"], 49) == (data["filters"], data["notesTotal"])
    assert "Lowtide Pottery" not in out.read_text(encoding="utf-8")


def test_relations_of_entities_and_links_in_properties_have_their_names(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "graph.html"

    assert 0 == _show(sample, "--out", str(out))

    data = _data(out)
    named = {
        (data["notes"][source][1], data["relations"][kind], data["notes"][target][1])
        for source, target, *kinds in data["links"]
        for kind in kinds
    }
    assert {
        ("Jisoo Han", "rows_with", "Tomas Brandt"),
        ("Tomas Brandt", "sells_at (from 2026-03-01, until 2026-10-31)", "Market pitch 2026"),
        ("Мама", "mother_of", "Nora Velling"),
        ("Kiln Berta", "up", "Lowtide Pottery"),
    } <= named


def test_relations_of_exact_names_lead_to_the_entities_that_have_them(folder: Path, tmp_path: Path) -> None:
    texts = {
        "Ada": "---\nentity_type: person\n---\n## Relations\n\n- knows [[nowhere|A&#47;B]]\n- [[a-b]]\n",
        "a-b": '---\nentity_type: team\ntitle: "A/B"\n---\nText.\n',
    }
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    out = tmp_path / "graph.html"

    assert 0 == _show(folder, "--out", str(out))

    assert (["knows"], [[0, 1, 0]]) == (_data(out)["relations"], _data(out)["links"])


def test_no_match_writes_nothing_and_has_status_1(
    sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "none.html"

    assert 1 == _show(sample, "--tag", "nosuchtag", "--out", str(out))

    assert "No note matches. The vault has 49.\n" == capsys.readouterr().out
    assert not out.exists()


def test_a_type_that_no_entity_has_is_answered_with_those_there_are(
    sample: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 1 == _show(sample, "--type", "robot")

    said = (
        "No note matches. The vault has 49. --type looks at the property `entity_type`. "
        "Its entities: person 4, organization 1.\n"
    )
    assert said == capsys.readouterr().out


@pytest.mark.parametrize(("there", "said"), [(True, ""), (False, "No web browser was found here.")])
def test_open_shows_the_page_in_the_browser_and_says_when_there_is_none(
    sample: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    there: bool,
    said: str,
) -> None:
    shown: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: shown.append(url) or there)
    out = tmp_path / "my graph.html"

    assert 0 == _show(sample, "--open", "--out", str(out))

    assert [out.as_uri()] == shown
    assert said in capsys.readouterr().out


def test_texts_of_notes_are_data_and_never_part_of_the_page(folder: Path, tmp_path: Path) -> None:
    note = {"title": HOSTILE, "entity_type": HOSTILE, "tags": [HOSTILE], HOSTILE: "[[Other]]"}
    (folder / "One.md").write_text(f"---\n{json.dumps(note)}\n---\n", encoding="utf-8")
    (folder / "Other.md").write_text("Nothing.\n", encoding="utf-8")
    vault = folder.rename(tmp_path / "a <script> & b")
    out = tmp_path / "hostile.html"

    assert 0 == _show(vault, "--out", str(out))

    page, data = _Page(out.read_text(encoding="utf-8")), _data(out)
    assert HOSTILE == data["notes"][0][1] == data["notes"][0][3]
    assert "a <script> & b" == data["vault"]
    assert [] == [element for element in page.elements if element[0] in ("img", "link", "iframe", "base")]
    assert 4 == sum(tag == "script" for tag, _ in page.elements)


def test_the_policy_lets_the_two_scripts_of_the_page_run_and_nothing_be_asked_for(
    sample: Path, tmp_path: Path
) -> None:
    out = tmp_path / "graph.html"
    assert 0 == _show(sample, "--out", str(out))

    page = _Page(out.read_text(encoding="utf-8"))
    (policy,) = (attrs["content"] or "" for tag, attrs in page.elements if tag == "meta" and "http-equiv" in attrs)
    hashes = [f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in page.scripts]
    assert f"script-src {' '.join(hashes[2:])}; " in policy
    assert policy.startswith("default-src 'none'; ")
    assert [] == [(tag, attrs) for tag, attrs in page.elements if {"src", "srcset", "onload"} & attrs.keys()]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Note.md", "Give it a name like graph.html."),
        ("mine.html", "is no picture of a vault. Name another file"),
        ("no/folder.html", "Make it first."),
    ],
)
def test_a_file_that_is_no_picture_is_not_overwritten(
    sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, said: str
) -> None:
    (tmp_path / "mine.html").write_text("<p>mine", encoding="utf-8")

    assert 2 == _show(sample, "--out", str(tmp_path / name))

    assert said in capsys.readouterr().err
    assert "<p>mine" == (tmp_path / "mine.html").read_text(encoding="utf-8")


def test_an_older_picture_is_replaced(sample: Path, tmp_path: Path) -> None:
    out = tmp_path / "graph.html"
    assert 0 == _show(sample, "--layer", "rule", "--out", str(out))

    assert 0 == _show(sample, "--out", str(out))

    assert 49 == len(_data(out)["notes"])
    assert [out] == list(tmp_path.glob("*.html"))
