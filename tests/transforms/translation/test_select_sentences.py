"""Candidates of all domains → the selection, whatever bundles they come in."""

import random
from collections.abc import Sequence

import apache_beam as beam
import pytest

from corpusmill.transforms.translation.find_passages import LowestOfCopies, SelectSentences
from corpusmill.transforms.translation.passages import plan_quotas
from corpusmill.transforms.translation.selection import Candidate, lowest_of_copies, select
from tests.tools.run_pipeline import Outcome, run_inputs
from tests.transforms.translation.test_selection import candidate

QUOTAS = plan_quotas(36, 9, domains=["wikinews", "wikivoyage"])
CANDIDATES = [
    *(candidate(page_id, rank=page_id, digest=7) for page_id in range(900)),
    *(candidate(page_id, rank=page_id) for page_id in range(900, 1600)),
    candidate(2000, rank=950, text="wikinews:901.2"),
    *(candidate(page_id, domain="wikivoyage") for page_id in range(20)),
    candidate(30, domain="wikivoyage", digest=7),
]
FIRST = CANDIDATES[905]


def select_in_bundles(candidates: Sequence[Candidate]) -> Outcome:
    select = SelectSentences(QUOTAS, {FIRST.url: "health"})
    return run_inputs(lambda made: made | beam.Reshuffle() | select, made=candidates)


@pytest.mark.parametrize("seed", [1, 2])
def test_copies_take_no_place_and_are_counted(seed: int) -> None:
    shuffled = random.Random(seed).sample(CANDIDATES, len(CANDIDATES))
    elements, counters = select_in_bundles(shuffled)
    [selection] = elements["selection"]
    with_topic = [
        one._replace(topic="health") if one.url == FIRST.url else one for one in CANDIDATES
    ]
    assert selection == select(with_topic, QUOTAS)
    assert selection.shortages == ()
    assert {one.topic for one in selection.sentences if one.url == FIRST.url} <= {"health"}
    wikinews = {one.article for one in selection.sentences if one.domain == "wikinews"}
    assert wikinews == {"wikinews:0", *(f"wikinews:{page_id}" for page_id in range(900, 904))}
    assert sorted(elements["candidates"]) == [("wikinews", 1601), ("wikivoyage", 21)]
    assert sorted((one.id, one.stage, one.reason) for one in elements["rejected"]) == [
        ("wikinews:2000", "wikinews/select-articles", "duplicate-sentence"),
        ("wikivoyage:30", "wikivoyage/select-articles", "duplicate-article"),
    ]
    assert counters["select-articles/duplicate-article"] == 1


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_accumulators_are_cut_down_on_their_way(most: int) -> None:
    combine = LowestOfCopies(most)
    accumulators = [combine.create_accumulator() for _ in range(3)]
    for place, one in enumerate(reversed(CANDIDATES[:1601])):
        accumulators[place % 3] = combine.add_input(accumulators[place % 3], one)
        assert len(accumulators[place % 3]) <= 2 * most
    merged = combine.merge_accumulators(map(combine.compact, accumulators))
    assert len(merged) <= most
    assert combine.extract_output(merged) == lowest_of_copies(CANDIDATES[:1601], most)
