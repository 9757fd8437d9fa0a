"""One run of all detectors."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import date
from types import MappingProxyType

from vault_memex.core.snapshot import Snapshot
from vault_memex.memory.amendments import Amendments
from vault_memex.memory.bursts import find_tag_bursts
from vault_memex.memory.dangling import UnresolvedLink, find_dangling_links
from vault_memex.memory.signals import (
    SIGNAL_KINDS,
    Detection,
    NearNotes,
    SignalKind,
    SignalSettings,
    find_hidden_arcs,
    find_stale_states,
)


def detect_signals(
    snapshot: Snapshot,
    unresolved: Iterable[UnresolvedLink],
    linked: Mapping[str, Collection[str]],
    *,
    neighbours: NearNotes | None,
    amendments: Amendments,
    settings: SignalSettings,
    today: date,
    trashed: Mapping[str, str] = MappingProxyType({}),
) -> Detection:
    """Return all signals, weightiest kind first. Without neighbours the kinds that need meaning are left out."""
    dangling = find_dangling_links(snapshot, unresolved, trashed=trashed)
    signals = [*find_tag_bursts(snapshot, settings, today), *dangling]
    kinds: set[SignalKind] = {"tag_burst", "dangling_link"}
    if neighbours is not None:
        signals += find_hidden_arcs(snapshot, neighbours, linked, settings)
        signals += find_stale_states(snapshot, neighbours, amendments, settings, today)
        kinds = set(SIGNAL_KINDS)
    signals.sort(key=lambda s: (SIGNAL_KINDS.index(s.kind), s.notes, s.key))
    return Detection(tuple(signals), frozenset(kinds), () if neighbours is not None else ("semantic",))
