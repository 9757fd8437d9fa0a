"""Texts of passages for the embedding queue, and what of them waits."""

from __future__ import annotations

from tests.index.indexed_vault import IndexedVault
from vault_memex.index.embedding_queue import PassageQueue
from vault_memex.index.passage_texts import read_passage_texts


def test_texts_come_from_the_files_and_hashes_match(vault: IndexedVault) -> None:
    vault.write("a.md", "---\ntitle: Kiln log\n---\n# Firing\nFired for nine hours.\n")
    vault.write("copy/a.md", "---\ntitle: Kiln log\n---\n# Firing\nFired for nine hours.\n")
    vault.indexer.reconcile()
    queue: PassageQueue = vault.catalogue

    (passage,) = queue.find_unembedded("m", 10)
    texts = read_passage_texts(vault.root, [passage])

    assert [passage.hash] == list(texts)
    assert "Kiln log" in texts[passage.hash]
    assert "nine hours" in texts[passage.hash]
    assert (0, 1) == queue.count_embedded("m")
    queue.mark_embedded("m", [passage.hash])
    assert ((1, 1), (), {passage.hash}) == (
        queue.count_embedded("m"),
        queue.find_unembedded("m", 10),
        queue.find_hashes(),
    )
    queue.set_embedded("m", [])
    assert (0, 1) == queue.count_embedded("m")


def test_passage_whose_file_moved_on_has_no_text(vault: IndexedVault) -> None:
    vault.write("a.md", "first text")
    vault.write("b.md", "second text")
    vault.indexer.reconcile()
    passages = vault.catalogue.find_unembedded("m", 10)
    vault.write("a.md", "another text")
    (vault.root / "b.md").unlink()

    assert {} == read_passage_texts(vault.root, passages)


def test_tag_edit_and_move_to_another_folder_leave_nothing_to_embed(vault: IndexedVault) -> None:
    file = vault.write("a.md", "---\ntags: [x]\n---\nsome text")
    vault.indexer.reconcile()
    vault.catalogue.mark_embedded("m", [passage.hash for passage in vault.catalogue.find_unembedded("m", 10)])

    file.write_text("---\ntags: [x, y]\n---\nsome text", encoding="utf-8")
    (vault.root / "b").mkdir()
    file.rename(vault.root / "b/a.md")
    vault.indexer.reconcile()

    assert () == vault.catalogue.find_unembedded("m", 10)
    assert (1, 1) == vault.catalogue.count_embedded("m")
