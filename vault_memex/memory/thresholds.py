"""Which distance is near: the values in force for one vault and one embedding model.

All distances are cosine distances, 0 to 2. A model spreads texts in its own way, so no number suits two models.
`calibration` measures them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from types import MappingProxyType

from vault_memex.errors import InvalidArgument

MIN_NOTES = 30  # below, the shipped values serve


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Largest distances at which something is said. certain ≤ duplicate ≤ related ≤ near."""

    near: float  # worth a look
    related: float  # about the same thing: signals, flashbacks
    duplicate: float  # so like a copy that it is said
    certain: float  # so like a copy that nothing is written
    query_weak: float  # beyond it a passage does not answer a query
    query_strong: float  # a strong match, if the words occur in the vault


SHIPPED: Mapping[str, Thresholds] = MappingProxyType(
    {
        # Between notes: medians over the sample vault and the benchmark texts in six languages. From a query: seven
        # judged sets in five languages; 1 % of the questions have a passage within 0.11 that does not answer them
        # (0.10-0.12 by set), and 95 % of the answers lie within 0.21.
        "multilingual-e5-small": Thresholds(0.1, 0.085, 0.018, 0.0115, 0.21, 0.11),
    }
)
_UNKNOWN_MODEL = Thresholds(0.35, 0.25, 0.06, 0.04, 0.5, 0.35)
"""For models that spread texts evenly, as most but the E5 family do. Erring on the strict side."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The thresholds in force and where they come from."""

    model: str
    notes: int  # of the vault when it was made
    thresholds: Thresholds
    measured: bool  # False: shipped values
    fixed: tuple[str, ...] = ()  # names set in the configuration


@dataclass(frozen=True, slots=True)
class Distribution:
    """Percentiles of a distance, for people who want to see why."""

    count: int
    percentiles: tuple[tuple[float, float], ...]  # (percent, distance)


def get_shipped(model: str) -> Thresholds:
    """Return the shipped thresholds of a model; careful ones for a model nobody measured."""
    return SHIPPED.get(model.rpartition("/")[2], _UNKNOWN_MODEL)


def is_known(model: str) -> bool:
    """Whether thresholds are shipped that were measured with the model."""
    return model.rpartition("/")[2] in SHIPPED


def check_fixed(values: Mapping[str, object]) -> dict[str, float]:
    """Return thresholds from the configuration. Raises InvalidArgument naming the key that is unknown or wrong."""
    known = [f.name for f in fields(Thresholds)]
    checked: dict[str, float] = {}
    for key, value in values.items():
        if key not in known:
            raise InvalidArgument(key, f"Unknown distance {key!r}. Known: {', '.join(known)}.")
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2:
            raise InvalidArgument(key, f"{key} = {value!r}: write a cosine distance from 0 to 2.")
        checked[key] = float(value)
    return checked


def fix_thresholds(calibration: Calibration, fixed: Mapping[str, float]) -> Calibration:
    """Return the calibration with the values that the person set, which win."""
    return replace(calibration, thresholds=replace(calibration.thresholds, **fixed), fixed=tuple(sorted(fixed)))


def needs_calibration(previous: Calibration | None, model: str, notes: int) -> bool:
    """Whether to measure (again): never done, another model, or the vault has doubled or halved since."""
    if previous is None or previous.model != model:
        return True
    if previous.measured != (notes >= MIN_NOTES):
        return True
    return notes >= 2 * max(1, previous.notes) or 2 * notes <= previous.notes


def match_percent(distance: float) -> int:
    """Return the match in percent as people read it: 100 for the same, not below 0."""
    return max(0, round(100 * (1 - distance)))


def render_calibration(calibration: Calibration) -> dict[str, object]:
    """Return the calibration as plain values to keep; `parse_calibration` reads them."""
    return {**asdict(calibration), "fixed": list(calibration.fixed)}


def parse_calibration(kept: Mapping[str, object]) -> Calibration | None:
    """Return the calibration that was kept; None when it is of another form, and so has to be made again."""
    try:
        values = kept["thresholds"]
        assert isinstance(values, Mapping)
        thresholds = Thresholds(**check_fixed(values))
        model, notes, measured, fixed = (kept[key] for key in ("model", "notes", "measured", "fixed"))
    except (KeyError, TypeError, AssertionError, InvalidArgument):
        return None
    if not isinstance(model, str) or not isinstance(notes, int) or not isinstance(fixed, list):
        return None
    return Calibration(model, notes, thresholds, measured is True, tuple(str(name) for name in fixed))
