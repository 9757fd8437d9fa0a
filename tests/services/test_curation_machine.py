"""Whatever happens to the notes, by whomever: a queue that was followed is the one that a fresh look finds."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memex.core.patch import parse_patch
from vault_memex.errors import MemexError
from vault_memex.services.curation import QueueAnswer, QueueRequest
from vault_memex.services.requests import EditRequest, RetireRequest
from vault_memex.services.runs import Finding, RunRequest
from vault_memex.vault import Vault, open_vault

NAMES = ("Stove", "Sink", "Lamp", "Door")
ACTS = ("look", "append", "tag", "link", "rename", "retire", "hold", "outside", "wait")
Steps = st.lists(
    st.tuples(st.sampled_from(ACTS), st.sampled_from(NAMES), st.sampled_from(("tidy", "claude"))), max_size=10
)


class House:
    """A vault with a curator, an agent and a person who edits files, all at one clock."""

    def __init__(self, root: Path) -> None:
        self.root, self.now = root, datetime(2026, 11, 30, tzinfo=UTC)
        for name, other in zip(NAMES, (*NAMES[1:], NAMES[0]), strict=True):
            head = "---\ntags: [kitchen]\nsummary: Something.\nupdated: 2026-01-05\n---\n"
            (root / f"{name}.md").write_text(f"{head}See [[{other}]].\n", encoding="utf-8")
        self.vaults = {name: self.open(name, role) for name, role in (("tidy", "curator"), ("claude", "agent"))}

    def open(self, name: str, role: str) -> Vault:
        flags = {"model": "none", "commit": "off", "connection": name, "role": role}
        vault = open_vault(self.root, cache_dir=self.root.parent / "cache", flags=flags, clock=lambda: self.now)
        vault.refresh()
        return vault

    def act(self, kind: str, name: str, who: str) -> None:
        self.now += timedelta(minutes=20)
        vault = self.vaults[who]
        with suppress(MemexError):  # of a note that is gone, or a role that may not
            if kind == "look":
                vault.upkeep.runs.record(RunRequest("run_summary", "Looked.", examined=(Finding(name),)))
            elif kind == "append":
                vault.editing.edit(EditRequest(name, parse_patch([{"append": f"Line at {self.now}."}])))
            elif kind == "tag":
                vault.editing.edit(EditRequest(name, tags=("kitchen", f"t{self.now:%d%H%M}")))
            elif kind == "link":
                vault.editing.edit(EditRequest(name, parse_patch([{"append": "[[Door]] and [[Nowhere]]."}])))
            elif kind == "rename":
                vault.editing.edit(EditRequest(name, title=f"{name} of {self.now:%d%H%M}"))
            elif kind == "retire":
                vault.editing.retire(RetireRequest(name, "A test."))
            elif kind == "hold":
                vault.editing.retire(RetireRequest(name, "A test.", hold=True))
            elif kind == "outside" and (self.root / f"{name}.md").exists():
                with (self.root / f"{name}.md").open("a", encoding="utf-8") as stream:
                    stream.write(f"By hand at {self.now}.\n")
            elif kind == "wait":
                self.now += timedelta(days=15)
        for one in self.vaults.values():
            one.refresh(verify=True)

    def close(self) -> None:
        for vault in self.vaults.values():
            vault.close(patient=False)


def ask(vault: Vault) -> QueueAnswer:
    return vault.upkeep.curation.find_queue(QueueRequest(limit=100, offset=0))


@settings(max_examples=12, deadline=None)
@given(Steps)
def test_a_queue_that_was_followed_is_that_of_a_fresh_look(steps: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "vault"
        root.mkdir()
        house = House(root)
        try:
            for step in steps:
                house.act(*step)
                followed = ask(house.vaults["tidy"])
                assert followed.total == len(followed.rows)
            fresh = house.open("tidy", "curator")
            house.vaults["fresh"] = fresh
            assert ask(fresh) == ask(house.vaults["tidy"])
        finally:
            house.close()
