"""`vault-memex doctor --calibration`: which distances are near in this vault, and why."""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass

from vault_memex.cli.opening import opened
from vault_memex.cli.output import print_json, print_table, waiting
from vault_memex.index.meaning import MeaningUnavailable
from vault_memex.memory.signals import SignalSettings
from vault_memex.memory.thresholds import MIN_NOTES, Calibration, is_known
from vault_memex.vault import Vault

PATIENCE = 120.0  # seconds: two hundred notes are embedded once more
USES = {
    "near": "worth a look",
    "related": "about the same thing: threads, overtaken plans, flashbacks",
    "duplicate": "so like a copy that it is said on saving",
    "certain": "so like a copy that nothing is written",
    "query_weak": "beyond it a passage does not answer a query",
    "query_strong": "a strong match, if the words occur in the vault",
}


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """One distance in force."""

    name: str
    distance: float
    origin: str  # measured, shipped, or fixed in the settings
    use: str


@dataclass(frozen=True, slots=True)
class DistributionRow:
    """How far apart things are in this vault."""

    between: str
    count: int
    percentiles: tuple[tuple[float, float], ...]  # (percent, distance)


@dataclass(frozen=True, slots=True)
class CalibrationReport:
    """What is near in this vault."""

    model: str
    notes: int  # when it was measured
    thresholds: tuple[ThresholdRow, ...]
    distributions: tuple[DistributionRow, ...]
    arc_distance: float
    stale_distance: float
    remark: str = ""


def run(options: argparse.Namespace) -> int:
    """Measure what is due and print it."""
    with opened(options) as vault:
        vault.refresh()
        remark = ""
        try:
            with waiting("Measuring"):
                vault.distances.measure(whole=True, patience=PATIENCE)
        except MeaningUnavailable as error:
            remark = f"Not measured: {error}"
        report = _build(vault, remark)
    if options.json:
        print_json(report)
    else:
        _print(report)
    return 0


def _build(vault: Vault, remark: str) -> CalibrationReport:
    calibration = vault.distances.find()
    kept = vault.distances.find_kept()
    found = kept.distributions if kept is not None else {}
    settings: SignalSettings = vault.config.signals.with_calibration(calibration)
    if not vault.meaning.enabled:
        remark = "Not measured: meaning is switched off (model = none)."
    elif not remark and not calibration.measured:
        remark = f"Shipped values: a vault is measured from {MIN_NOTES} notes on."
    return CalibrationReport(
        model=calibration.model,
        notes=calibration.notes,
        thresholds=tuple(
            ThresholdRow(name, distance, _find_origin(calibration, name), USES[name])
            for name, distance in asdict(calibration.thresholds).items()
        ),
        distributions=tuple(DistributionRow(name, d.count, d.percentiles) for name, d in found.items()),
        arc_distance=settings.arc_distance,
        stale_distance=settings.stale_distance,
        remark=remark,
    )


def _find_origin(calibration: Calibration, name: str) -> str:
    if name in calibration.fixed:
        return "fixed in the settings"
    if name.startswith("query_") and is_known(calibration.model):
        return "shipped for the model"
    return "measured" if calibration.measured else "shipped"


def _print(report: CalibrationReport) -> None:
    print_table(
        ["distance", "", "from", "used for"],
        [[t.name, f"{t.distance:.4f}", t.origin, t.use] for t in report.thresholds],
    )
    print()
    if report.distributions:
        rows = [
            [
                d.between,
                d.count,
                " · ".join(f"{percent:g} % within {distance:.4f}" for percent, distance in d.percentiles),
            ]
            for d in report.distributions
        ]
        print_table(["between", "pairs", "distances"], rows)
        print()
    print(
        f"Threads are looked for within {report.arc_distance:.4f}, overtaken plans within {report.stale_distance:.4f}."
    )
    print(
        f"Model {report.model}; measured with {report.notes} notes. Fix a value in .memex/config.toml, [distances]."
    )
    if report.remark:
        print(report.remark)
