"""Whatever happened to the files, and in whatever order: the catalogue says what a new one would say."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.index.indexed_vault import IndexedVault, dump, put_back_mtime
from vault_memex.core.changes import Signature
from vault_memex.index.indexer import OwnWrite
from vault_memex.store import catalogue_write

FOLDERS = ("", "a", "a/b", "é")
NAMES = ("x", "y", "X", "note.md", "ü", "ü")  # the last two differ in Unicode form alone
PATHS = st.builds(lambda f, n: f"{f}/{n}.md".lstrip("/"), st.sampled_from(FOLDERS), st.sampled_from(NAMES))
TARGETS = st.sampled_from(
    (
        "x",
        "X",
        "a/x",
        "./y",
        "../x",
        "/a/b/y",
        "note.md",
        "ü",
        "x.md",
        "pic.png",
        "nowhere",
        "b/x",
        "#part",
        "x#^id",
    )
)
WORDS = st.sampled_from(("kiln", "glaze", "도자기", "печь", "ash"))


@st.composite
def texts(draw: st.DrawFn) -> str:
    head = draw(
        st.sampled_from(
            (
                "",
                "---\ntitle: Other name\n---\n",
                "---\naliases: [x, Z]\ntags: [p/q]\nup: '[[y]]'\n---\n",
                "---\nid: 7\n---\n",
                "---\nbroken: [\n---\n",
                "---\ncreated: 2024-05-06\nlayer: state\n---\n",
            )
        )
    )
    links = draw(st.lists(TARGETS, max_size=3))
    words = draw(st.lists(WORDS, max_size=3))
    body = "# H\n" + " ".join(words) + "\n\n" + "\n".join(f"[[{link}]] ![[{link}|shown]]" for link in links)
    return head + body + "".join(f"\n\n[r]: {link}" for link in links[:1])


class Files(RuleBasedStateMachine):
    """Outside and inside changes in any order; passes, hints and own writes between them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(catalogue_write, "LARGE_BATCH", 1)  # names are kept from any batch to the next
        self.vault = IndexedVault(self.folder, clock=iter(range(0, 10**9, 60)).__next__)
        self.settled = True

    def teardown(self) -> None:
        self.vault.close()
        self.patch.undo()
        shutil.rmtree(self.folder)

    @initialize()
    def index_nothing(self) -> None:
        self.vault.indexer.reconcile()

    @rule(path=PATHS, text=texts())
    def write_outside(self, path: str, text: str) -> None:
        if not (self.vault.root / path).parent.is_file():
            self.vault.write(path, text)
            self.settled = False

    @rule(path=PATHS, text=texts())
    def write_with_hint(self, path: str, text: str) -> None:
        self.vault.write(path, text)
        self.vault.indexer.index_paths([path])

    @rule(path=PATHS, text=texts())
    def write_own(self, path: str, text: str) -> None:
        file = self.vault.write(path, text)
        self.vault.indexer.index_writes([OwnWrite(path, text.encode(), Signature.of(file.stat()))])

    @rule(path=PATHS)
    def edit_and_put_mtime_back(self, path: str) -> None:
        file = self.vault.root / path
        if file.is_file():
            put_back_mtime(file, file.read_bytes()[::-1].replace(b"\r", b"\n"))
            self.settled = False

    @rule(old=PATHS, new=PATHS, hint=st.booleans())
    def rename(self, old: str, new: str, hint: bool) -> None:
        if (self.vault.root / old).is_file():
            (self.vault.root / new).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self.vault.root / old, self.vault.root / new)
            if hint:
                self.vault.indexer.index_paths([old, new])
            else:
                self.settled = False

    @rule(old=PATHS, new=PATHS)
    def rename_own(self, old: str, new: str) -> None:
        source, target = self.vault.root / old, self.vault.root / new
        if source.is_file() and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
            write = OwnWrite(new, target.read_bytes(), Signature.of(target.stat()))
            self.vault.indexer.index_writes([write], moves=[(old, new)])

    @rule(old=st.sampled_from(("a", "a/b", "é")), new=st.sampled_from(("c", "a/d", "é")))
    def move_folder(self, old: str, new: str) -> None:
        source, target = self.vault.root / old, self.vault.root / new
        if source.is_dir() and not target.exists() and not new.startswith(old + "/"):
            target.parent.mkdir(parents=True, exist_ok=True)
            source.rename(target)
            self.settled = False

    @rule(path=PATHS, hint=st.booleans())
    def delete(self, path: str, hint: bool) -> None:
        (self.vault.root / path).unlink(missing_ok=True)
        if hint:
            self.vault.indexer.index_paths([path])
        else:
            self.settled = False

    @rule(path=PATHS)
    def delete_own(self, path: str) -> None:
        (self.vault.root / path).unlink(missing_ok=True)
        self.vault.indexer.index_writes([], deletes=[path])

    @rule(folder=st.sampled_from(FOLDERS), present=st.booleans(), hint=st.booleans())
    def attachment(self, folder: str, present: bool, hint: bool) -> None:
        path = f"{folder}/pic.png".lstrip("/")
        if present:
            self.vault.write(path, "png")
        else:
            (self.vault.root / path).unlink(missing_ok=True)
        if hint:
            self.vault.indexer.index_paths([path])
        else:
            self.settled = False

    @rule()
    def forget_a_hidden_and_a_linked_note(self) -> None:
        self.vault.write(".hidden/x.md", "hidden")
        link = self.vault.root / "linked.md"
        if not link.is_symlink():
            link.symlink_to("x.md")
        self.vault.indexer.index_paths([".hidden/x.md", "linked.md"])

    @rule()
    def reopen(self) -> None:
        self.vault.reopen()

    @rule()
    def pass_over_all(self) -> None:
        self.vault.indexer.reconcile()
        self.settled = True

    @precondition(lambda self: self.settled)
    @invariant()
    def equals_rebuild(self) -> None:
        fresh = IndexedVault(self.folder / "fresh")
        fresh.root.rmdir()
        fresh.root.symlink_to(self.vault.root)
        fresh.indexer.reconcile()
        loaded = fresh.catalogue.load_snapshot()
        fresh.close()
        expected = dump(fresh.cache)
        shutil.rmtree(self.folder / "fresh")

        assert expected == dump(self.vault.cache)
        assert loaded.notes == self.vault.catalogue.load_snapshot().notes

    @invariant()
    def snapshot_by_steps_equals_whole_snapshot(self) -> None:
        previous = getattr(self, "snapshot", None)
        self.snapshot = self.vault.catalogue.load_snapshot(previous)
        whole = self.vault.catalogue.load_snapshot()

        assert list(whole.notes.items()) == list(self.snapshot.notes.items())
        assert whole.attachments == self.snapshot.attachments


Files.TestCase.settings = settings(
    max_examples=8, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
test_any_history_ends_in_what_a_new_index_says = Files.TestCase


class ManyFiles(Files):
    pass


ManyFiles.TestCase.settings = settings(
    max_examples=150, stateful_step_count=50, deadline=None, suppress_health_check=list(HealthCheck)
)
ManyFiles.TestCase.pytestmark = [pytest.mark.slow, pytest.mark.no_cover]
test_any_long_history_ends_in_what_a_new_index_says = ManyFiles.TestCase
