import pytest

from corpusmill.transforms.books.publication_dates import (
    BookEvidence,
    DateLine,
    PublicationDate,
    compare,
    make_line,
    outcomes_of,
    sum_up,
)

RELEASED = PublicationDate(1891, "released", "exact")
COPYRIGHT = PublicationDate(1851, "copyright", "exact")
DEATH = PublicationDate(1890, "author-death", "bound")


def test_a_line_tells_what_is_believed_and_what_every_source_says() -> None:
    found = BookEvidence(90_001, "The Hen", 1891, (RELEASED, COPYRIGHT, DEATH))
    assert make_line(found) == DateLine(
        90_001,
        "The Hen",
        1891,
        "",
        "released",
        "exact",
        1891,
        "released 1891 exact; copyright 1851 exact; author-death 1890 bound",
    )
    assert make_line(BookEvidence(90_002, "", 0, ())) == DateLine(90_002, *[""] * 7)


def test_a_bound_is_listed_as_the_latest_year() -> None:
    line = make_line(BookEvidence(11, "Alice", 0, (DEATH,)))
    assert (line.year, line.latest_year) == ("", 1890)
    assert (line.source, line.confidence) == ("author-death", "bound")


def test_outcomes_are_counted_with_and_without_the_released_year() -> None:
    found = BookEvidence(90_001, "The Hen", 1891, (RELEASED, DEATH))
    assert list(outcomes_of(found)) == [
        ("dated_by", "released"),
        ("without_released_years", "bound: within 2 years"),
    ]
    assert list(outcomes_of(BookEvidence(1, "", 0, ()))) == [("dated_by", "nothing")]
    assert list(outcomes_of(BookEvidence(1, "", 0, (DEATH,)))) == [
        ("latest_year_by", "author-death")
    ]


@pytest.mark.parametrize(
    ("year", "outcome"),
    [
        (1889, "exact: within 2 years"),
        (1893, "exact: within 2 years"),
        (1888, "exact: earlier"),
        (1894, "exact: later"),
    ],
)
def test_years_are_compared(year: int, outcome: str) -> None:
    assert compare(PublicationDate(year, "imprint", "exact"), 1891) == outcome
    assert compare(None, 1891) == "undated"


def test_counts_are_summed_up_in_a_fixed_order() -> None:
    counts = [(("dated_by", "released"), 2), (("dated_by", "nothing"), 1)]
    assert list(sum_up(counts)["dated_by"].items()) == [("nothing", 1), ("released", 2)]
    assert sum_up([]) == {"dated_by": {}}
