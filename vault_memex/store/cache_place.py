"""Where the cache of a vault lies. Hooks come through here, so nothing heavy is imported."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping

CACHE_VARIABLE = "VAULT_MEMEX_CACHE_DIR"


def find_cache_path(root: str | os.PathLike[str], environment: Mapping[str, str] = os.environ) -> str:
    """Return the cache folder of a vault, outside it: under VAULT_MEMEX_CACHE_DIR or the user's cache folder."""
    real = os.path.realpath(root)
    key = hashlib.blake2b(os.fsencode(real), digest_size=8).hexdigest()
    base = environment.get(CACHE_VARIABLE)
    if not base:
        import platformdirs

        base = platformdirs.user_cache_dir("vault-memex", appauthor=False)
    return os.path.join(base, f"{os.path.basename(real)[:40]}-{key}")
