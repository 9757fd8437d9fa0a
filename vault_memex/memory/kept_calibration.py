"""A calibration as it is kept in the cache, with what it was made from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from vault_memex.memory.thresholds import (
    Calibration,
    Distribution,
    needs_calibration,
    parse_calibration,
    render_calibration,
)

CALIBRATION = "calibration"  # the state of the catalogue that holds it


@dataclass(frozen=True, slots=True)
class KeptCalibration:
    """What was measured, before what the person fixed. Not complete: copies and queries are still to be measured."""

    calibration: Calibration
    complete: bool
    distributions: Mapping[str, Distribution] = field(default_factory=lambda: MappingProxyType({}))


def is_due(kept: KeptCalibration | None, model: str, notes: int, *, whole: bool) -> bool:
    """Whether to measure (again); not `whole`: the distances between notes alone."""
    if kept is None or needs_calibration(kept.calibration, model, notes):
        return True
    return whole and not kept.complete


def render_kept(kept: KeptCalibration) -> str:
    """Return the text that `parse_kept` reads."""
    values = {
        "calibration": render_calibration(kept.calibration),
        "complete": kept.complete,
        "distributions": {name: [d.count, d.percentiles] for name, d in kept.distributions.items()},
    }
    return json.dumps(values)


def parse_kept(text: str | None) -> KeptCalibration | None:
    """Return what was kept; None when there is nothing, or it is of another form and so to be made again."""
    try:
        values = json.loads(text or "")
        calibration = parse_calibration(values["calibration"])
        distributions = {
            str(name): Distribution(int(count), tuple((float(p), float(d)) for p, d in percentiles))
            for name, (count, percentiles) in values["distributions"].items()
        }
        complete = values["complete"] is True
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return None if calibration is None else KeptCalibration(calibration, complete, distributions)
