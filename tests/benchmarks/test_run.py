"""The benchmarks run; what they measure on vaults this small says nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.figures import Figure

WITHOUT_MODEL = ["scan", "first_index", "freshness", "patch", "curation", "web"]


@pytest.mark.slow
def test_those_without_the_model_report_every_figure_with_its_ratio(tmp_path: Path) -> None:
    main(["--quick", "--json", str(tmp_path / "figures.json"), *WITHOUT_MODEL])

    reports = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert WITHOUT_MODEL == [report["name"] for report in reports]
    assert all(figure["value"] >= 0 for report in reports for figure in report["figures"])
    assert all(report["figures"] for report in reports)


def test_an_unknown_name_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nothing"])

    told = capsys.readouterr().err
    assert [] == [name for name in BENCHMARKS if name not in told]


def test_a_target_is_met_when_value_and_ratio_are() -> None:
    assert True is Figure("scan", 8.0, "ms", 10.0, floor=4.0, ratio_goal=2.0).met
    assert False is Figure("scan", 8.0, "ms", 10.0, floor=3.0, ratio_goal=2.0).met
    assert False is Figure("rate", 8.0, "a second", 10.0, "higher").met
    assert Figure("shown", 8.0, "ms").met is None
