"""What the embedding queue is given."""

from __future__ import annotations

from tests.index.indexed_vault import IndexedVault
from vault_memex.index.embedding_queue import PassageSource
from vault_memex.index.passage_source import VaultPassages


def test_texts_come_from_the_files_and_hashes_match(vault: IndexedVault) -> None:
    vault.write("a.md", "---\ntitle: Kiln log\n---\n# Firing\nFired for nine hours.\n")
    vault.write("copy/a.md", "---\ntitle: Kiln log\n---\n# Firing\nFired for nine hours.\n")
    vault.indexer.reconcile()
    source: PassageSource = VaultPassages(vault.root, vault.catalogue)

    (key,) = source.next_passages("m", 10)
    texts = source.passage_texts([key])

    assert [key.hash] == list(texts)
    assert "Kiln log" in texts[key.hash]
    assert "nine hours" in texts[key.hash]
    assert (0, 1) == source.counts("m")
    source.mark_embedded("m", [key.hash])
    assert ((1, 1), [], {key.hash}) == (
        source.counts("m"),
        list(source.next_passages("m", 10)),
        source.current_hashes(),
    )
    source.set_embedded("m", [])
    assert (0, 1) == source.counts("m")


def test_passage_whose_file_moved_on_has_no_text(vault: IndexedVault) -> None:
    vault.write("a.md", "first text")
    vault.write("b.md", "second text")
    vault.indexer.reconcile()
    source = VaultPassages(vault.root, vault.catalogue)
    keys = source.next_passages("m", 10)
    vault.write("a.md", "another text")
    (vault.root / "b.md").unlink()

    assert {} == source.passage_texts(keys)


def test_tag_edit_and_move_to_another_folder_leave_nothing_to_embed(vault: IndexedVault) -> None:
    file = vault.write("a.md", "---\ntags: [x]\n---\nsome text")
    vault.indexer.reconcile()
    source = VaultPassages(vault.root, vault.catalogue)
    source.mark_embedded("m", [key.hash for key in source.next_passages("m", 10)])

    file.write_text("---\ntags: [x, y]\n---\nsome text", encoding="utf-8")
    (vault.root / "b").mkdir()
    file.rename(vault.root / "b/a.md")
    vault.indexer.reconcile()

    assert [] == source.next_passages("m", 10)
    assert (1, 1) == source.counts("m")
