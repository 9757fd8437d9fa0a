"""Search quality on judged question sets, beside the figures it has to reach.

    python -m benchmarks.quality                              words only, every set
    python -m benchmarks.quality xquad-ru cmrc --vectors DIR  with meaning; vectors are kept in DIR

Sets are pairs of files, `<set>.corpus.jsonl` and `<set>.queries.jsonl`, in the folder `bench` of the test data
(VAULT_MEMEX_SHARED, else `shared` beside the repository). A document is a note here: its text goes through the
analyzer into SQLite FTS5, as in the catalogue, and fusion is the one of the search.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from vault_memex.core.analyzer import analyze
from vault_memex.core.query import Plan, build_match, parse_query
from vault_memex.core.ranking import DEPTH, MEANING_WEIGHTS, Hit, ScoredList, build_weights, fuse_scores

SHARED = Path(os.environ.get("VAULT_MEMEX_SHARED", Path(__file__).parents[2] / "shared"))
TITLE_WEIGHT = 6.0

# First figure (R@1; Cranfield: MRR@10), R@10 and nDCG@10, measured with LanceDB's keyword index and e5-small int8.
# LoCoMo was measured there on ten conversations; the set at hand has five, so it is only a rough guide.
KNOWN_WORDS: Mapping[str, tuple[float, float, float]] = {
    "xquad-en": (94.4, 99.2, 97.1),
    "xquad-ru": (90.8, 98.8, 95.3),
    "xquad-zh": (92.2, 99.4, 96.1),
    "cmrc": (97.9, 100.0, 99.1),
    "korquad": (90.5, 99.2, 95.5),
    "cranfield": (53.4, 40.0, 36.0),
    "locomo": (33.9, 63.5, 50.2),
}
KNOWN_FUSED: Mapping[str, tuple[float, float, float]] = {
    "xquad-en": (96.2, 99.9, 98.3),
    "xquad-ru": (94.2, 99.8, 97.4),
    "xquad-zh": (95.0, 99.9, 97.7),
    "cmrc": (98.0, 99.9, 99.1),
    "korquad": (91.6, 99.7, 96.1),
    "cranfield": (55.4, 43.4, 39.2),
    "locomo": (32.7, 65.3, 50.3),
}
FLOORS: Mapping[str, float] = {"korquad": 91.0, "xquad-ru": 93.0, "xquad-en": 95.5, "xquad-zh": 94.0, "cmrc": 97.0}
"""R@1 with meaning that the product must not fall below."""


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """Documents and questions; `relevant` gives, per question, the grade of each document that answers it."""

    name: str
    documents: Sequence[Mapping[str, Any]]
    questions: Sequence[Mapping[str, Any]]

    @property
    def ids(self) -> list[str]:
        return [document["id"] for document in self.documents]


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over all questions, in percent."""

    first: float  # R@1, or MRR@10 where answers are graded
    recall: float  # R@10
    ndcg: float  # nDCG@10

    def __str__(self) -> str:
        return f"{self.first:5.1f} {self.recall:5.1f} {self.ndcg:5.1f}"


def read_set(folder: Path, name: str) -> JudgedSet:
    """Return the set, without adversarial questions and those that nothing answers."""
    documents, questions = (
        [json.loads(line) for line in (folder / f"{name}.{part}.jsonl").read_text(encoding="utf-8").splitlines()]
        for part in ("corpus", "queries")
    )
    judged = [question for question in questions if question["rel"] and question.get("type") != "adversarial"]
    return JudgedSet(name, documents, judged)


def open_index(judged: JudgedSet) -> sqlite3.Connection:
    """Return a table `f` of the documents' terms, rows numbered as in the set."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE f USING fts5(title, body, tokenize='ascii')")
    database.executemany(
        "INSERT INTO f(rowid, title, body) VALUES (?, ?, ?)",
        (
            (i, " ".join(analyze(document["title"])), " ".join(analyze(document["text"])))
            for i, document in enumerate(judged.documents)
        ),
    )
    return database


def find_words(
    database: sqlite3.Connection, judged: JudgedSet, question: Mapping[str, Any], plan: Plan = "any"
) -> list[Hit]:
    """Return the best documents by words; of the question's own group, where the set has groups."""
    match = build_match(parse_query(question["text"]), plan).include
    group = question.get("group")
    rows = database.execute(
        "SELECT rowid, -bm25(f, ?, 1.0) AS score FROM f WHERE f MATCH ? ORDER BY score DESC LIMIT ?",
        (TITLE_WEIGHT, match, -1 if group else DEPTH),
    )
    documents = judged.documents
    hits = (Hit(documents[i]["id"], score) for i, score in rows if not group or documents[i]["group"] == group)
    return [hit for hit, _ in zip(hits, range(DEPTH), strict=False)]


def find_meaning(
    judged: JudgedSet, vectors: np.ndarray, question: Mapping[str, Any], vector: np.ndarray
) -> list[Hit]:
    """Return the nearest documents by cosine similarity."""
    similar = vectors @ vector
    group = question.get("group")
    if group:
        similar = np.where([document["group"] == group for document in judged.documents], similar, -2.0)
    order = np.argsort(-similar)[:DEPTH]
    return [Hit(judged.documents[i]["id"], float(similar[i])) for i in order if similar[i] > -2]


def measure(judged: JudgedSet, rank: Callable[[int], Sequence[str]]) -> Figures:
    """Return the figures of a ranking, given as a function from the number of a question to document ids."""
    graded = judged.name == "cranfield"
    rows = [_score(rank(i), question["rel"], graded) for i, question in enumerate(judged.questions)]
    return Figures(*(100 * sum(column) / len(rows) for column in zip(*rows, strict=True)))


def _score(ranked: Sequence[str], relevant: Mapping[str, int], graded: bool) -> tuple[float, float, float]:
    top = ranked[:10]
    if graded:
        first = next((1 / place for place, one in enumerate(top, 1) if one in relevant), 0.0)
    else:
        first = sum(one in relevant for one in top[:1]) / len(relevant)
    gain = _discount(2 ** relevant.get(one, 0) - 1 for one in top)
    ideal = _discount(2**grade - 1 for grade in sorted(relevant.values(), reverse=True)[:10])
    return first, sum(one in relevant for one in top) / len(relevant), gain / ideal


def _discount(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))


def measure_words(judged: JudgedSet) -> Figures:
    """Return the figures of the words alone."""
    database = open_index(judged)
    found = measure(judged, lambda i: [hit.path for hit in find_words(database, judged, judged.questions[i])])
    database.close()
    return found


def measure_fused(judged: JudgedSet, vectors: np.ndarray, questions: np.ndarray) -> Figures:
    """Return the figures of words, beginnings of words and meaning together."""
    database = open_index(judged)
    weights = build_weights(MEANING_WEIGHTS["known"])

    def rank(i: int) -> list[str]:
        question = judged.questions[i]
        scores = fuse_scores(
            [
                ScoredList("words", weights["words"], find_words(database, judged, question)),
                ScoredList("prefix", weights["prefix"], find_words(database, judged, question, "prefix")),
                ScoredList("meaning", weights["meaning"], find_meaning(judged, vectors, question, questions[i])),
            ]
        )
        return sorted(scores, key=lambda path: (-scores[path], path))

    found = measure(judged, rank)
    database.close()
    return found


def load_vectors(judged: JudgedSet, folder: Path, model_folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of documents and questions; those not in the folder are made and kept there."""
    files = (folder / f"{judged.name}.documents.npy", folder / f"{judged.name}.questions.npy")
    if not all(file.exists() for file in files):
        from vault_memex.store.embedding import find_embedder

        embedder = find_embedder("multilingual-e5-small", model_folder)
        folder.mkdir(parents=True, exist_ok=True)
        texts = [f"{document['title']}\n{document['text']}".strip() for document in judged.documents]
        batches = (texts[i : i + 64] for i in range(0, len(texts), 64))
        np.save(files[0], np.concatenate([embedder.embed_passages(batch) for batch in batches]))
        np.save(files[1], np.stack([embedder.embed_query(question["text"]) for question in judged.questions]))
    documents, questions = (np.load(file) for file in files)
    return documents, questions


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each set: figures, the known ones in brackets, and whether the floor is kept."""
    parser = argparse.ArgumentParser(prog="benchmarks.quality", description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", help="default: all that are there")
    parser.add_argument("--vectors", type=Path, help="measure with meaning; keep vectors in this folder")
    parser.add_argument("--models", type=Path, default=Path.home() / ".cache" / "vault-memex" / "models")
    options = parser.parse_args(arguments)
    folder = SHARED / "bench"
    names = options.sets or sorted(file.name.split(".")[0] for file in folder.glob("*.corpus.jsonl"))
    print(f"{'set':10} {'R@1/MRR':>7} {'R@10':>5} {'nDCG':>5}   (known)")
    for name in names:
        judged = read_set(folder, name)
        started = time.perf_counter()
        _print(name, "words", measure_words(judged), KNOWN_WORDS.get(name), None)
        if options.vectors:
            found = measure_fused(judged, *load_vectors(judged, options.vectors, options.models))
            _print(name, "fused", found, KNOWN_FUSED.get(name), FLOORS.get(name))
        print(f"{'':10} {time.perf_counter() - started:.1f} s")


def _print(name: str, run: str, found: Figures, known: Sequence[float] | None, floor: float | None) -> None:
    beside = " ".join(f"{value:5.1f}" for value in known) if known else "-"
    verdict = "" if floor is None else f"  floor {floor}: {'kept' if found.first >= floor else 'BROKEN'}"
    print(f"{name:10} {run:6} {found}   ({beside}){verdict}", flush=True)


if __name__ == "__main__":
    main()
