"""Signals: what the vault itself points out. A thread nobody linked, a plan that life overtook, a subject that is
back, a link that leads nowhere. Detection is a pure function of the vault, the neighbours and the day.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import lru_cache
from hashlib import blake2b, sha256
from typing import Any, Literal, Protocol

from vault_memex.core.snapshot import NoteRecord, Snapshot
from vault_memex.core.text import name_key, stem_of
from vault_memex.errors import InvalidArgument
from vault_memex.memory.amendments import Amendments, check_validity
from vault_memex.memory.days import find_day
from vault_memex.memory.system_tags import SYSTEM_TAGS
from vault_memex.memory.thresholds import Calibration

SignalKind = Literal["hidden_arc", "stale_state", "dangling_link", "tag_burst"]
SIGNAL_KINDS: tuple[SignalKind, ...] = ("hidden_arc", "tag_burst", "stale_state", "dangling_link")
"""In the order of their weight."""

DEFAULT_DISTANCE = 0.101
WORKFLOW_TAGS = frozenset(
    (
        *("inbox", "todo", "task", "tasks", "draft", "wip", "review", "archive", "template", "templates"),
        *("daily", "weekly", "journal", "log", "meeting", "meetings", "start", "moc", "index"),
        *("rules", "working", *SYSTEM_TAGS),
    )
)
_PROJECT_FILES = frozenset(("readme", "agents", "claude"))


class NearNotes(Protocol):
    """Which notes lie near each other, as `memory.neighbours` finds it."""

    def find_near(self, path: str) -> Sequence[tuple[str, float]]:
        """Return (path, distance) of the nearest notes, nearest first."""

    def find_mutual(self, accepts: Callable[[str], bool], distance: float) -> Iterator[tuple[str, str]]:
        """Yield the pairs that are each among the other's 8 nearest accepted notes and nearer than `distance`."""


@dataclass(frozen=True, slots=True)
class SignalSettings:
    """The knobs. Distances are cosine distances; spans are days."""

    arc_distance: float = DEFAULT_DISTANCE
    stale_distance: float = DEFAULT_DISTANCE
    arc_least: int = 4
    arc_most: int = 12
    arc_span: int = 180
    arc_days_per_note: float = 14.0
    arc_density: float = 0.2
    stale_records: int = 3
    burst_notes: int = 3
    burst_window: int = 14
    burst_silence: int = 180
    ignored_tags: frozenset[str] = WORKFLOW_TAGS

    chosen: frozenset[str] = frozenset()  # names of what the person set

    def with_calibration(self, calibration: Calibration) -> SignalSettings:
        """Return the settings with `related` of this vault, where it was measured, for distances not chosen."""
        if not calibration.measured and "related" not in calibration.fixed:
            return self
        related = calibration.thresholds.related
        return replace(
            self,
            arc_distance=self.arc_distance if "arc_distance" in self.chosen else related,
            stale_distance=self.stale_distance if "stale_distance" in self.chosen else related,
        )

    @property
    def reach(self) -> float:
        """The distance up to which neighbours are needed."""
        return max(self.arc_distance, self.stale_distance)


def parse_signal_settings(values: Mapping[str, object]) -> SignalSettings:
    """Return the knobs from a table of the configuration. Raises InvalidArgument naming the key that is wrong."""
    default = SignalSettings()
    known = [f.name for f in fields(default) if f.name != "chosen"]
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise InvalidArgument(key, f"Unknown knob {key!r} under [signals]. Known: {', '.join(known)}.")
        checked[key] = _check_knob(key, value, getattr(default, key))
    settings = replace(default, **checked, chosen=frozenset(checked))
    if settings.arc_least > settings.arc_most:
        raise InvalidArgument("arc_least", "arc_least is more than arc_most: no thread would ever be found.")
    return settings


def _check_knob(key: str, value: object, default: object) -> object:
    if isinstance(default, frozenset):
        if not isinstance(value, list) or not all(isinstance(tag, str) for tag in value):
            raise InvalidArgument(key, f"{key} is a list of tags, instead of the built-in one.")
        return frozenset(name_key(tag.lstrip("#")) for tag in value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArgument(key, f"{key} = {value!r}: write a number.")
    if isinstance(default, int):
        if not isinstance(value, int) or value < 1:
            raise InvalidArgument(key, f"{key} = {value!r}: write a whole number from 1 on.")
        return value
    most = 2 if key.endswith("_distance") else 1 if key == "arc_density" else 3650
    if not 0 <= value <= most:
        raise InvalidArgument(key, f"{key} = {value!r}: write a number from 0 to {most}.")
    return float(value)


@dataclass(frozen=True, slots=True)
class Signal:
    """One thing found. The same thing found again has the same key."""

    kind: SignalKind
    anchors: tuple[tuple[str, ...], ...]  # what it may be known by, best first; each with its other spellings
    notes: tuple[str, ...]  # paths of the evidence, in the order to show
    reason: str  # one sentence
    detail: str = ""  # of dangling_link: placeholder, typo, trashed, forward; else the tag it is about
    suggestion: str = ""  # of a typo: the path of the note that was meant

    @property
    def key(self) -> str:
        """What the signal is stored by."""
        return signal_key(self.kind, self.anchors[0][0])


@dataclass(frozen=True, slots=True)
class Detection:
    """What a run found, of which kinds, and why of no others."""

    signals: tuple[Signal, ...]
    kinds: frozenset[SignalKind]
    unavailable: tuple[str, ...] = field(default=())  # "semantic" when there are no vectors


def signal_key(kind: str, identity: str) -> str:
    """Return the key: the first 16 hex digits of SHA-256 over kind and identity."""
    return sha256(f"{kind}|{identity}".encode()).hexdigest()[:16]


def find_identities(note: NoteRecord) -> tuple[str, ...]:
    """Return what stands for a note in identities: its number where it has one, and its path."""
    return (note.path,) if note.note_id is None else (str(note.note_id), note.path)


def is_source(note: NoteRecord) -> bool:
    """Whether a note may be evidence of a signal that reads meaning, dates and tags."""
    if (
        note.layer == "rule"
        or note.pending
        or note.properties.get("entity_type")
        or note.path.startswith("_memex/")
    ):
        return False
    return not is_project_file(note.path)


@lru_cache(maxsize=1 << 16)
def is_project_file(path: str) -> bool:
    """Whether the file speaks to programs or visitors: README, AGENTS, CLAUDE."""
    return name_key(stem_of(path)) in _PROJECT_FILES


def is_record(note: NoteRecord) -> bool:
    """Whether the note records what happened: layer `past`, or a plain note."""
    return note.layer in (None, "past")


def find_hidden_arcs(
    snapshot: Snapshot, neighbours: NearNotes, linked: Mapping[str, Collection[str]], settings: SignalSettings
) -> Iterator[Signal]:
    """Yield threads: notes that are near each other over a long time and hardly linked.

    `linked` holds, for a note, the notes it links to or is linked from, by any kind of link that stands in a note.
    Pairs that were merely shown as flashbacks are none: notes of one thread are flashbacks of each other, so
    showing them would end the thread.
    """
    days = {
        path: day for path, note in snapshot.notes.items() if is_source(note) and (day := find_day(note.created))
    }
    edges = neighbours.find_mutual(days.__contains__, settings.arc_distance)
    for component in _find_components(edges):
        if not settings.arc_least <= len(component) <= settings.arc_most:
            continue
        notes = sorted((snapshot.notes[path] for path in component), key=lambda n: (days[n.path], n.path))
        span = (days[notes[-1].path] - days[notes[0].path]).days
        if span < settings.arc_span or span / len(notes) < settings.arc_days_per_note:
            continue
        if _measure_density(component, linked) >= settings.arc_density:
            continue
        yield _build_arc(notes, span)


def _find_components(edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    parents: dict[str, str] = {}

    def root(path: str) -> str:
        while parents[path] != path:
            parents[path] = parents[parents[path]]
            path = parents[path]
        return path

    for one, other in edges:
        parents.setdefault(one, one)
        parents.setdefault(other, other)
        parents[root(one)] = root(other)
    groups: dict[str, list[str]] = {}
    for path in parents:
        groups.setdefault(root(path), []).append(path)
    return sorted(sorted(group) for group in groups.values())


def _measure_density(component: Sequence[str], linked: Mapping[str, Collection[str]]) -> float:
    pairs = len(component) * (len(component) - 1) / 2
    joined = sum(
        other in linked.get(one, ()) or one in linked.get(other, ())
        for index, one in enumerate(component)
        for other in component[index + 1 :]
    )
    return joined / pairs


def _build_arc(notes: Sequence[NoteRecord], span: int) -> Signal:
    """Return the signal of notes in order of their dates."""
    counts = Counter(name_key(tag) for note in notes for tag in note.tags)
    label = min(counts, key=lambda tag: (-counts[tag], tag)) if counts else ""
    anchors = sorted(notes, key=lambda n: (n.note_id is None, n.note_id or 0, n.path))
    subject = f"#{label}" if label and counts[label] > 1 else "one subject"
    reason = f"{len(notes)} notes over {span} days circle around {subject} and are hardly linked to each other."
    return Signal(
        "hidden_arc", tuple(find_identities(n) for n in anchors), tuple(n.path for n in notes), reason, label
    )


def find_stale_states(
    snapshot: Snapshot, neighbours: NearNotes, amendments: Amendments, settings: SignalSettings, today: date
) -> Iterator[Signal]:
    """Yield states that several later records are near to. One that names its sources is judged by those."""
    for note in snapshot.notes.values():
        if note.layer != "state" or not is_source(note) or note.properties.get("derives_from"):
            continue
        updated = find_day(note.updated) or find_day(note.created)
        if updated is None or not check_validity(note, amendments, today).holds:
            continue
        later: list[tuple[date, str]] = []
        for path, distance in neighbours.find_near(note.path):
            record = snapshot.notes.get(path)
            if (
                distance < settings.stale_distance
                and record is not None
                and is_record(record)
                and is_source(record)
            ):
                created = find_day(record.created)
                if created is not None and created > updated:
                    later.append((created, path))
        if len(later) >= settings.stale_records:
            later.sort()
            reason = f"{len(later)} records since {updated} are about what {note.title!r} says is so now."
            yield Signal("stale_state", (find_identities(note),), (note.path, *(p for _, p in later)), reason)


def render_knobs(settings: SignalSettings) -> str:
    """Return what the settings come to, always in the same form."""
    knobs = {f.name: getattr(settings, f.name) for f in fields(settings) if f.name != "chosen"}
    return str(knobs | {"ignored_tags": sorted(settings.ignored_tags)})  # a set has no order


def build_fingerprint(
    snapshot: Snapshot, unresolved: Iterable[tuple[str, str]], settings: SignalSettings, model: str, today: date
) -> str:
    """Return what detection depends on as 32 hex digits: equal means that running it again would change nothing.

    `unresolved` are the (source, target) of links that lead nowhere. `model` names the vectors; empty without any.
    """
    digest = blake2b(f"{today}|{model}|{render_knobs(settings)}".encode(), digest_size=16)
    for note in snapshot.notes.values():
        digest.update(f"{note.path}\0{note.revision}\0{note.note_id}\0{note.layer}\0{note.created}\n".encode())
    for source, target in sorted(unresolved):
        digest.update(f"{source}\0{target}\n".encode())
    return digest.hexdigest()
