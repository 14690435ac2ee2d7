"""The arithmetic of forecasts, by a table of our own."""

import pytest

from corpusmill.pipelines.run import forecast
from corpusmill.pipelines.run.forecast import GB, Part, Text

TABLE = """\
# 2026-11-24, a machine
corpus\tpart\tcore_seconds\tpeak\tkept\tdate
any\tgz\t4\t\t\t2026-11-24
any\tspark-start\t20\t\t\t2026-11-24
any\tspark-work\t0.5\t\t\t2026-11-24
wiki\tstart\t3\t\t\t2026-11-24
wiki\twork\t100\t2\t0.5\t2026-11-24
wiki\twork:en\t200\t3\t0.5\t2026-11-24
wiki\tother-pages\t10\t\t\t2026-11-24
wiki\tnear-duplicates\t7\t\t\t2026-11-24
wiki\tcounting-pieces\t30\t\t\t2026-11-24
wiki\tvocabulary\t60\t\t\t2026-11-24
"""
RATES = forecast.read_rates(TABLE)


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("uk", Text(2 * GB, {}), {"start": 3, "work": 200}),
        ("en", Text(2 * GB, {}), {"start": 3, "work": 400}),
        # A .gz that two workers read is decompressed twice.
        ("uk", Text(GB, {"gz": 2 * GB}), {"start": 3, "gz": 8, "work": 100}),
        ("uk", Text(GB, {}, 0.5), {"start": 3, "work": 50, "other-pages": 5}),
        (
            "uk",
            Text(GB, {}, 1.0, 0.1 * GB, has_near_duplicates=True, has_vocabulary=True),
            {"start": 3, "work": 100, "near-duplicates": 7, "counting-pieces": 30, "vocabulary": 6},
        ),
        # No rate of a codec that was not measured: nothing is made up.
        ("uk", Text(GB, {"xz": GB}), {"start": 3, "work": 100}),
    ],
)
def test_parts_are_sizes_times_rates(language: str, text: Text, expected: dict[str, float]) -> None:
    parts = forecast.parts_of(RATES, "wiki", language, text)
    assert {part.name: part.core_seconds for part in parts} == pytest.approx(expected)


def test_a_corpus_that_was_not_measured_has_no_rate() -> None:
    assert RATES.find("toy", forecast.WORK).core_seconds == 0
    assert forecast.parts_of(RATES, "toy", "", Text(GB, {})) == []


def test_more_cores_share_the_work_and_not_the_start() -> None:
    parts = [Part("start", 3), Part("work", 100), Part("vocabulary", 10)]
    assert forecast.seconds_of(parts, 1) == 113
    assert forecast.seconds_of(parts, 4) == 38


def test_spark_comes_on_top() -> None:
    parts = forecast.on_spark(RATES, [Part("start", 3), Part("work", 100)], is_cluster=False)
    assert parts[2:] == [Part("spark-start", 20), Part("spark-work", 50)]
    assert forecast.seconds_of(parts, 2) == 3 + 50 + 20 + 25


def test_the_table_says_when_and_where() -> None:
    assert RATES.measured == "2026-11-24, a machine"
    assert RATES.of["wiki", "work"].peak == 2
