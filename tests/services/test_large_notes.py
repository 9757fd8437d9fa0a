"""Very large notes: their words are found, they are read by parts, and no call takes long over them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.services.test_editing import edit
from tests.timing import cpu_seconds
from vault_memex.errors import TooLarge
from vault_memex.services.edit_plan import MOST_PARSED
from vault_memex.services.reading import ReadRequest
from vault_memex.services.requests import EditRequest, RetireRequest
from vault_memex.services.retrieval import SearchRequest
from vault_memex.vault import Vault, open_vault

ONE_LINE = "start " + "kiln glaze бисквит 거북선 " * 150_000 + "zanzibarend"
MANY_LINES = "# First\n\n" + "word [[Link]] text\n" * (MOST_PARSED // 19) + "\n## Last\n\nquaggaend\n"


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    base = tmp_path_factory.mktemp("large")
    (base / "vault").mkdir()
    (base / "vault" / "One line.md").write_text(ONE_LINE, encoding="utf-8")
    (base / "vault" / "Many lines.md").write_text(MANY_LINES, encoding="utf-8")
    (base / "vault" / "Edited.md").write_text(ONE_LINE.replace("zanzibarend", "walrusend"), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VAULT_MEMEX_CACHE_DIR", str(base / "cache"))
        opened = open_vault(base / "vault", flags={"model": "none", "commit": "off"})
        opened.refresh()
        yield opened
        opened.close(patient=False)


def find(vault: Vault, query: str) -> list[tuple[str, str]]:
    rows = vault.retrieval.search(SearchRequest(query=query)).rows
    return [(row.path, row.matched_text or "") for row in rows]


def test_the_last_word_of_a_large_note_is_found_and_shown(vault: Vault) -> None:
    ((path, text),) = find(vault, "zanzibarend")
    ((other, shown),) = find(vault, "quaggaend")

    assert ("One line.md", "Many lines.md") == (path, other)
    assert text.endswith("거북선 zanzibarend")
    assert "quaggaend" in shown


@pytest.mark.no_cover
def test_no_read_of_a_large_note_takes_long(vault: Vault) -> None:
    last = ReadRequest(offset=len(MANY_LINES) - 20)

    assert 2 > cpu_seconds(lambda: find(vault, "kiln text"))
    assert 2 > cpu_seconds(lambda: vault.reading.get("Many lines", last))
    assert "quaggaend\n" == vault.reading.get("Many lines", last).text[-10:]


def test_sections_and_edits_are_for_notes_of_a_size_that_can_be_parsed(vault: Vault) -> None:
    with pytest.raises(TooLarge, match="offset"):
        vault.reading.get("Many lines", ReadRequest(section="Last"))
    for request in (edit("Many lines", {"append": "x"}), EditRequest("Many lines", title="Other")):
        with pytest.raises(TooLarge, match="Split it"):
            vault.editing.edit(request)

    assert MANY_LINES == (vault.root / "Many lines.md").read_text(encoding="utf-8")


def test_a_note_of_five_megabytes_on_one_line_is_edited_and_retired(vault: Vault) -> None:
    vault.editing.edit(edit("Edited", {"find": "walrusend", "replace": "quokkaend"}))

    assert ["Edited.md"] == [path for path, _ in find(vault, "quokkaend")]
    vault.editing.retire(RetireRequest("Edited", "test"))
    assert [] == find(vault, "quokkaend")


def test_the_whole_text_is_there_by_parts(vault: Vault) -> None:
    first = vault.reading.get("Many lines", ReadRequest(max_chars=1_000))
    second = vault.reading.get("Many lines", ReadRequest(offset=first.next_offset or 0, max_chars=1_000))

    assert MANY_LINES[:2_000] == first.text + second.text
    assert len(MANY_LINES) == first.body_chars
    assert any("links, tags, outline and meaning" in notice for notice in first.notices)
