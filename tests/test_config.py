"""Settings that make no sense are refused by name."""

from __future__ import annotations

import pytest

from vault_memex.config import Config, parse_config
from vault_memex.errors import InvalidArgument


@pytest.mark.parametrize(
    "line",
    [
        *(f"reconcile_seconds = {value}" for value in ("-1", "0", "nan", "inf", "-inf", "1e9", "true", '"60"')),
        *(f"debounce_seconds = {value}" for value in ("-0.1", "nan", "inf", "61", "false")),
        'policy = "strict"',
        "nonsense = 1",
    ],
)
def test_a_setting_out_of_its_bounds_is_refused_by_name(line: str) -> None:
    name = line.split(" ", maxsplit=1)[0]

    with pytest.raises(InvalidArgument, match=name) as caught:
        parse_config(line)

    assert name == caught.value.argument


def test_the_bounds_themselves_are_allowed() -> None:
    found = parse_config("reconcile_seconds = 1\ndebounce_seconds = 0")

    assert (1.0, 0.0, Config().policy) == (found.reconcile_seconds, found.debounce_seconds, "personal")
