"""Flags that are passed on to Beam."""

import pytest

from pipelines.engines.beam_flags import check_beam_flags


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--spark_master_url", "spark://host:7077"],
        ["--project=x", "--region", "y"],
        ["--save_main_session"],
    ],
)
def test_flags_of_beam_are_known(flags: list[str]) -> None:
    check_beam_flags(flags)


@pytest.mark.parametrize(
    ("flags", "unknown"),
    [
        (["--langauge", "uk"], "--langauge uk"),
        (["--projct=x", "--region", "y"], "--projct=x"),
        (["uk"], "uk"),
        (["--spark_master", "x"], "--spark_master x"),  # no abbreviations
    ],
)
def test_flags_that_beam_does_not_know(flags: list[str], unknown: str) -> None:
    with pytest.raises(ValueError, match=f"^no such flag: {unknown}$"):
        check_beam_flags(flags)
