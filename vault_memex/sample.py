"""Where the sample vault is: in the package when installed, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from vault_memex.errors import VaultError


def find_sample_vault() -> Path:
    """Return the folder of the sample vault."""
    here = Path(__file__).parent
    for folder in (here / "sample_vault", here.parent / "sample_vault"):
        if folder.is_dir():
            return folder
    raise VaultError("The sample vault is not part of this installation. Reinstall vault-memex.")
