from __future__ import annotations

import threading
from pathlib import Path

import pytest

from vault_memex.store.model_folder import MARKER, build_folder, check_folder, find_model_dir


def write_model(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"weights")
    (folder / "sub").mkdir()
    (folder / "sub" / "config.json").write_text("{}")


def test_a_folder_is_built_once_per_version(tmp_path: Path) -> None:
    calls: list[Path] = []

    def build(folder: Path) -> None:
        calls.append(folder)
        write_model(folder)

    target = tmp_path / "models" / "m"
    assert target == build_folder(target, "1", build)
    build_folder(target, "1", build)
    assert 1 == len(calls)
    build_folder(target, "2", build)
    assert 2 == len(calls)
    assert check_folder(target, "2")
    assert ["m"] == [p.name for p in target.parent.iterdir() if not p.name.startswith(".")]


@pytest.mark.parametrize("damage", ["change", "truncate", "delete", "no marker", "marker not json"])
def test_a_damaged_folder_is_built_again(tmp_path: Path, damage: str) -> None:
    target = build_folder(tmp_path / "m", "1", write_model)
    if damage == "change":
        (target / "model.onnx").write_bytes(b"weighty")
    elif damage == "truncate":
        (target / "sub" / "config.json").write_bytes(b"")
    elif damage == "delete":
        (target / "model.onnx").unlink()
    elif damage == "no marker":
        (target / MARKER).unlink()
    else:
        (target / MARKER).write_text("[1")

    assert not check_folder(target, "1")
    assert check_folder(build_folder(target, "1", write_model), "1")
    assert b"weights" == (target / "model.onnx").read_bytes()


def test_a_build_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        write_model(folder)
        raise ValueError("no weights")

    with pytest.raises(ValueError, match="no weights"):
        build_folder(tmp_path / "m", "1", fail)
    assert [] == [p.name for p in tmp_path.iterdir() if p.is_dir()]


def test_two_builders_at_once_build_once(tmp_path: Path) -> None:
    calls: list[int] = []
    inside = threading.Event()

    def build(folder: Path) -> None:
        calls.append(1)
        inside.set()
        write_model(folder)

    threads = [threading.Thread(target=build_folder, args=(tmp_path / "m", "1", build)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert inside.is_set()
    assert [1] == calls


def test_the_model_folder_can_be_chosen() -> None:
    assert Path("/models") == find_model_dir({"VAULT_MEMEX_MODEL_DIR": "/models"})
    assert "models" == find_model_dir({}).name
