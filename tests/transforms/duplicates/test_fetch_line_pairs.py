import numpy
import pytest

from corpusmill.transforms.duplicates import near_duplicate_lines
from corpusmill.transforms.duplicates.minhash import Pairs
from corpusmill.transforms.duplicates.near_duplicate_lines import FetchLinePairs, key_by_index
from corpusmill.transforms.files.line_blocks import split_by_range
from tests.makers.line_ranges import ranges_of
from tests.tools.run_pipeline import run_inputs

RANGES = ranges_of([[b"a", b"b"], [b""], [b"c", b"\xff", b"d"]])
TEXTS = {0: b"a", 1: b"b", 1 << 32: b"", 2 << 32: b"c", (2 << 32) + 1: b"\xff", (2 << 32) + 2: b"d"}


def fetch(pairs: Pairs) -> list[tuple[list[int], bytes, bytes]]:
    by_first, ranges = split_by_range(pairs, 0), map(key_by_index, RANGES)
    outcome = run_inputs(lambda of, by: of | FetchLinePairs(by), of=by_first, by=ranges)
    return [
        row
        for found in outcome.elements["main"]
        for row in zip(found.ids.tolist(), found.firsts, found.seconds, strict=True)
    ]


@pytest.mark.parametrize("pairs_at_once", [1, 3, 100])
def test_each_pair_of_all_has_its_lines(
    pairs_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(near_duplicate_lines, "PAIRS_AT_ONCE", pairs_at_once)
    pairs = [[first, second] for first in TEXTS for second in TEXTS]
    fetched = sorted(fetch(numpy.array(pairs)))
    assert fetched == [(pair, TEXTS[pair[0]], TEXTS[pair[1]]) for pair in pairs]


def test_without_pairs_no_line_is_fetched() -> None:
    assert fetch(numpy.empty((0, 2), numpy.int64)) == []
