"""A few damaged files of every kind that is read. tests/bench/damage.py runs many thousands."""

from pathlib import Path

import pytest

from tests.bench.damage import FINE, KINDS, Cases

CASES = 12  # of a kind; with the damages of seed 0


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    return Cases(0, None, tmp_path_factory.mktemp("damaged"))


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_rejected_or_an_error_that_names_the_file(cases: Cases, kind: str) -> None:
    for case in range(CASES):
        result = cases.run(kind, case)
        assert result.outcome in FINE, result


def test_the_same_seed_gives_the_same_damage(cases: Cases, tmp_path: Path) -> None:
    again = Cases(0, None, tmp_path)
    for kind in ("news", "packets"):
        first, second = cases.run(kind, 0), again.run(kind, 0)
        assert first[:6] == second[:6]
