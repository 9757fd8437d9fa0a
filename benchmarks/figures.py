"""A measured value beside its floor and its target."""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the report."""

    what: str
    value: float
    unit: str
    goal: float | None = None  # None: shown only
    better: Literal["lower", "higher"] = "lower"
    floor: float | None = None  # the best that can be had here, measured in the same minute
    floor_of: str = ""
    remark: str = ""
    ratio_goal: float | None = None  # of value to floor

    @property
    def ratio(self) -> float | None:
        """How many times the floor."""
        return self.value / self.floor if self.floor else None

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where there is none."""
        verdicts = [
            value <= goal if self.better == "lower" else value >= goal
            for value, goal in ((self.value, self.goal), (self.ratio, self.ratio_goal))
            if value is not None and goal is not None
        ]
        return all(verdicts) if verdicts else None


@dataclass(frozen=True, slots=True)
class Report:
    """The figures of one benchmark, and how busy the machine was meanwhile."""

    name: str
    figures: Sequence[Figure]
    load: tuple[float, float]  # one-minute load average before and after
    seconds: float


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that a share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: Sequence[float]) -> float:
    """Return the middle value."""
    return statistics.median(values)


def print_reports(reports: Sequence[Report], console: Console) -> None:
    """Print all figures as one table."""
    table = Table(box=None, pad_edge=False)
    for title in ("benchmark", "what", "value", "floor", "x floor", "target", ""):
        table.add_column(title, justify="right" if title in {"value", "floor", "x floor", "target"} else "left")
    for report in reports:
        for number, figure in enumerate(report.figures):
            table.add_row(report.name if number == 0 else "", *_render(figure))
        table.add_row("", f"[dim]{report.seconds:.0f} s, load {report.load[0]:.1f} to {report.load[1]:.1f}[/dim]")
    console.print(table)


def render_json(reports: Sequence[Report]) -> str:
    """Return all figures as JSON, with ratio and verdict."""
    shown = []
    for report in reports:
        figures = [{**asdict(f), "ratio": f.ratio, "met": f.met} for f in report.figures]
        shown.append({**asdict(report), "figures": figures})
    return json.dumps(shown, ensure_ascii=False, indent=1) + "\n"


def _render(figure: Figure) -> tuple[str, ...]:
    floor = "" if figure.floor is None else f"{_number(figure.floor)} {figure.floor_of}".strip()
    sign = "<=" if figure.better == "lower" else ">="
    goals = [] if figure.goal is None else [f"{sign} {_number(figure.goal)}"]
    goals += [] if figure.ratio_goal is None else [f"{sign} {figure.ratio_goal:g}x"]
    verdict = {True: "[green]met[/green]", False: "[red]NOT MET[/red]", None: ""}[figure.met]
    return (
        figure.what,
        f"{_number(figure.value)} {figure.unit}",
        floor,
        "" if figure.ratio is None else f"{figure.ratio:.2f}",
        " ".join(goals),
        f"{verdict} [dim]{figure.remark}[/dim]".strip() if figure.remark else verdict,
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
