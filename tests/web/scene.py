"""The sample vault with a morning's work of two assistants waiting, for tests in a browser and for screenshots."""

from __future__ import annotations

from pathlib import Path

from tests.services.test_editing import edit
from vault_memex.memory.inferences import Draft
from vault_memex.services.inferences import MintRequest
from vault_memex.services.requests import RetireRequest, SaveRequest
from vault_memex.vault import Vault, open_vault

TWENTY_FOUR = {
    "find": "Café plates stay in Berta, twenty-four to a firing on three shelves",
    "replace": "Café plates stay in Berta, thirty to a firing on four shelves",
}
FRIDAY = {
    "find": "Glaze firing on Tuesday and Friday nights, bisque on Sunday",
    "replace": "Glaze firing on Tuesday nights only, bisque on Sunday",
}
SOAK = {"find": "Hold 25 minutes at the top for the liner", "replace": "Hold 30 minutes at the top for the liner"}
TUMBLE = "# Tumble stacking for bisque\n\nMugs nest rim to rim, *foot to foot*, up to three high. See [[Kiln Berta]].\n\n- [ ] try it with the café bowls #kiln\n"


def _open(root: Path, name: str, role: str = "agent") -> Vault:
    vault = open_vault(root, flags={"model": "none", "policy": "reviewed", "connection": name, "role": role})
    vault.refresh()
    return vault


def fill(root: Path) -> None:
    """Have two assistants propose five things, and the person decide on two of their others."""
    agent = _open(root, "claude-code")
    agent.editing.edit(
        edit(
            "Kiln Berta",
            TWENTY_FOUR,
            FRIDAY,
            comment="From today's firing log: four shelves fit since the posts came.",
        )
    )
    agent.editing.edit(edit("Firing checklist", SOAK, comment="The last two batches of liner crawled at 25."))
    agent.editing.edit(
        edit(
            "Harbour Café tableware",
            folder="Projects/Now",
            properties={"priority": 0, "due": "2026-12-12"},
            comment="Ida moved the delivery to Saturday.",
        )
    )
    agent.editing.save(SaveRequest("Tumble stacking for bisque", TUMBLE, "state", folder="Studio", tags=("kiln",)))
    agent.close(patient=False)
    other = _open(root, "desktop")
    other.editing.edit(edit("Market pitch 2026", comment="The fee in this note is last year's: 40, now 55 euros."))
    other.editing.retire(RetireRequest("Kitchen/Ideas", reason="Empty but for one line that is in Борщ."))
    other.close(patient=False)
    owner = _open(root, "owner", "owner")
    owner.inferences.mint(
        MintRequest(
            Draft(
                "Drying, not firing, sets the pace",
                "Each late batch of the last year waited for pots to dry.",
                True,
                0.7,
            ),
            [("Kiln Berta", "source"), ("Harbour Café tableware", "source")],
        )
    )
    owner.close(patient=False)
