"""Links followed from change to change are those that loading all of them gives."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import OpenVault
from vault_memex.services.link_map import LinkMap

NAMES = ("A", "B", "C", "D")
Steps = st.lists(
    st.tuples(st.sampled_from(NAMES), st.lists(st.sampled_from((*NAMES, "Nowhere")), max_size=4)), max_size=8
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(Steps)
def test_links_that_were_followed_are_those_that_are_there(
    folder: Path, opening: OpenVault, steps: list[tuple[str, list[str]]]
) -> None:
    for name in NAMES[:3]:
        (folder / f"{name}.md").write_text("x\n", encoding="utf-8")
    vault = opening(folder)
    followed = LinkMap(vault.catalogue, follows=True)
    for name, targets in steps:
        text = " ".join(f"[[{target}]]" for target in targets)
        (folder / f"{name}.md").write_text(f"{text}.\n", encoding="utf-8")
        vault.refresh(verify=True)
        snapshot = vault.snapshot()

        mine, fresh = followed.find(snapshot), LinkMap(vault.catalogue, follows=False).find(snapshot)
        assert _plain(fresh.linked) == _plain(mine.linked)
        assert set(fresh.dangling) == set(mine.dangling)
    vault.close(patient=False)


def _plain(linked: object) -> dict[str, set[str]]:
    assert isinstance(linked, dict)
    return {path: set(others) for path, others in linked.items() if others}
