from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.review import (
    CATEGORIES,
    POINTS,
    SEVERITIES,
    QualityScore,
    ReviewedSheet,
    ReviewError,
    ReviewerShare,
    score_quality,
)
from tests.tools.case_tables import read_cases

IDS = ("a", "b", "c", "d", "e")
SOURCES = dict.fromkeys(IDS, "one two three four five six seven eight nine ten")


def sheet(reviewer: str, reviewed: str, *errors: str, language: str = "fra") -> ReviewedSheet:
    """Errors as "a spelling minor"."""
    marked = [error.split() for error in errors]
    return ReviewedSheet(
        reviewer,
        language,
        tuple(reviewed),
        tuple(ReviewError(id_, kind, severity, "", 2) for id_, kind, severity in marked),
        {},
    )


def test_a_score_and_all_it_was_made_of() -> None:
    found = score_quality(
        SOURCES,
        IDS,
        [
            sheet(
                "Ama", "abcd", "a spelling minor", "a mistranslation major", "b register critical"
            ),
            sheet("Kofi", "de", "e unnatural minor", "d unnatural minor", "d spelling minor"),
        ],
    )
    # a: 1 + 5, b: 10, c: 0, d: (0 + 2) / 2, e: 1
    assert found == QualityScore(
        accepted=False,
        score=Fraction(64),
        shown="64.0",
        accepted_from=Fraction(90),
        words=50,
        points=Fraction(18),
        errors_by_category=dict.fromkeys(CATEGORIES, 0)
        | {"spelling": 2, "mistranslation": 1, "register": 1, "unnatural": 2},
        errors_by_severity={"minor": 4, "major": 1, "critical": 1},
        sentences_major_or_critical=2,
        sentences_critical=1,
        sentences_unnatural=2,
        reviewers={
            "Ama": ReviewerShare(4, 3, Fraction(60)),
            "Kofi": ReviewerShare(2, 3, Fraction(85)),
        },
    )


def test_the_example_of_the_paper() -> None:
    """15 % of the sentences with a major or critical error, 2 % with a critical one."""
    ids = [f"dev-{n:03}" for n in range(100)]
    sources = dict.fromkeys(ids, "word " * 20)
    errors = tuple(
        ReviewError(id_, "mistranslation", "critical" if n < 2 else "major", "", 2)
        for n, id_ in enumerate(ids[:15])
    )
    slips = tuple(ReviewError(id_, "grammar", "minor", "", 2) for id_ in ids)
    for marked, score in ((errors, "95.75"), (errors + slips, "90.75")):
        review = ReviewedSheet("Ama", "fra", tuple(ids), marked, {})
        found = score_quality(sources, ids, [review])
        assert found.score == Fraction(score)
        assert found.accepted
        assert found.sentences_major_or_critical == 15
        assert found.sentences_critical == 2


@pytest.mark.parametrize(
    ("points", "words", "shown", "accepted"),
    read_cases("translation/review_sheet", "scores"),
)
def test_nothing_is_rounded_up(points: int, words: int, shown: str, accepted: bool) -> None:
    errors = ["a grammar critical"] * (points // 10) + ["a grammar minor"] * (points % 10)
    found = score_quality({"a": "w " * words}, ["a"], [sheet("Ama", "a", *errors)])
    assert found.points == points
    assert found.score == max(0, 100 - Fraction(100 * points, words))
    assert (found.shown, found.accepted) == (shown, accepted)


def test_what_is_not_reviewed_is_not_accepted() -> None:
    found = score_quality(SOURCES, IDS, [sheet("Ama", "abcd")])
    assert found.score == 100
    assert not found.accepted
    found = score_quality(SOURCES, IDS, [sheet("Ama", "abcd"), sheet("Kofi", "e")])
    assert found.score == 100
    assert found.accepted


def test_the_threshold_can_be_another() -> None:
    sheets = [sheet("Ama", "abcde", "a grammar minor")]  # 98
    assert score_quality(SOURCES, IDS, sheets, Fraction(98)).accepted
    assert not score_quality(SOURCES, IDS, sheets, Fraction("98.01")).accepted


def test_a_later_sheet_of_a_reviewer_replaces_what_it_reviews() -> None:
    first = sheet("Ama", "abc", "a grammar critical", "b grammar minor")
    later = sheet("Ama", "ade", "a grammar minor")
    found = score_quality(SOURCES, IDS, [first, later])
    assert found.points == 2
    assert found.words == 5 * 10
    assert found.reviewers["Ama"] == ReviewerShare(5, 2, Fraction(96))
    assert score_quality(SOURCES, IDS, [later, first]).points == 11


def marks() -> st.SearchStrategy[list[tuple[str, str, str]]]:
    mark = st.tuples(*map(st.sampled_from, (IDS, [*CATEGORIES], [*SEVERITIES])))
    return st.lists(mark, max_size=6)


def of(reviewer: str, marked: list[tuple[str, str, str]], more: str) -> ReviewedSheet:
    reviewed = sorted({id_ for id_, _, _ in marked} | set(more))
    return sheet(reviewer, "".join(reviewed), *(" ".join(mark) for mark in marked))


@given(marks(), marks(), marks(), st.permutations(range(3)))
def test_the_order_of_sheets_and_rows_does_not_matter(
    one: list[tuple[str, str, str]],
    two: list[tuple[str, str, str]],
    three: list[tuple[str, str, str]],
    order: list[int],
) -> None:
    names = ("Ama", "Kofi", "Olena")
    sheets = [of(name, marked, "a") for name, marked in zip(names, (one, two, three), strict=True)]
    turned = [
        sheets[n]._replace(
            errors=tuple(reversed(sheets[n].errors)), reviewed=tuple(reversed(sheets[n].reviewed))
        )
        for n in order
    ]
    found = score_quality(SOURCES, IDS, sheets)
    assert found == score_quality(SOURCES, tuple(reversed(IDS)), turned)


@given(marks(), marks(), st.sampled_from(IDS), st.sampled_from([*SEVERITIES]))
def test_more_errors_never_raise_the_score(
    one: list[tuple[str, str, str]], two: list[tuple[str, str, str]], id_: str, severity: str
) -> None:
    def score(marked: list[tuple[str, str, str]]) -> Fraction:
        found = score_quality(SOURCES, IDS, [of("Ama", marked, "abcde"), of("Kofi", two, "ab")])
        return found.score

    before, after = score(one), score([*one, (id_, "grammar", severity)])
    assert after <= before
    if after > 0:
        reviewers = 2 if id_ in {"a", "b"} | {marked for marked, _, _ in two} else 1
        assert before - after == Fraction(2 * POINTS[severity], reviewers)


def test_three_reviewers_are_exact() -> None:
    sheets = [sheet("Ama", "a", "a grammar minor"), sheet("Kofi", "a"), sheet("Olena", "a")]
    for order in permutations(sheets):
        assert score_quality(SOURCES, ["a"], order).score == 100 - Fraction(10, 3)
