"""Flags that are passed on to Beam."""

import pytest

from corpusmill.pipelines.run.engines.engine import check_beam_flags
from tests.tools.case_tables import read_cases


@pytest.mark.parametrize("flags", read_cases("pipelines/beam_flags", "flags_of_beam_are_known"))
def test_flags_of_beam_are_known(flags: list[str]) -> None:
    check_beam_flags(flags)


@pytest.mark.parametrize(
    ("flags", "message"), read_cases("pipelines/beam_flags", "flags_that_beam_does_not_know")
)
def test_flags_that_beam_does_not_know(flags: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        check_beam_flags(flags)
