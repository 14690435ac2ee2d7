"""Computes the Translation Quality Score of a language, from 0 to 100, from the errors marked by reviewers.

Goyal et al. 2022 (FLORES-101, section 3.3) define the categories and severities of errors, the share of
sentences to review (20 %) and the threshold of 90, but no formula. The formula used here has the usual
weights of MQM:

    points of an error       1 minor, 5 major, 10 critical
    points of a sentence     the points of all errors marked by a reviewer; the mean over its reviewers
    score                    100 × (1 − Σ points / Σ words of the reviewed source sentences), not below 0

Words are separated by white space in the English source. All numbers are exact fractions, and the score is
rounded down: 89.96 is below 90 and is printed as 89.9.

The formula agrees with the paper. In the paper's accepted languages, 15 % of the reviewed sentences have
major or critical errors and 2 % have critical errors, so 13 % have only major ones. With one such error in
each of these sentences, the mean is 0.13 × 5 + 0.02 × 10 = 0.85 points per sentence. With 20 words per
sentence, the score is 95.75. If every sentence has a minor error in addition, the score is 90.75. In the
paper, accepted languages have scores of 90 or more, and half of them are above 95 (section 4.4).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from corpusmill.pipelines.translation.review_records import (
    CATEGORIES,
    SEVERITIES,
    ReviewedSheet,
    ReviewError,
)

POINTS: Mapping[str, int] = dict(zip(SEVERITIES, (1, 5, 10), strict=True))
ACCEPTED_FROM = Fraction(90)


class ReviewerShare(NamedTuple):
    """The sentences and errors of one reviewer, and the score computed from these alone."""

    reviewed: int  # number of sentences
    errors: int
    # score from this reviewer's sentences and errors only; it shows which reviewers are stricter
    score: Fraction


class QualityScore(NamedTuple):
    """The score of a language, and the figures from which it was computed."""

    accepted: bool  # True if the whole sample is reviewed and the score reaches the threshold
    score: Fraction  # from 0 to 100
    shown: str  # the score with one decimal, rounded down
    accepted_from: Fraction
    words: int  # number of words of the reviewed source sentences
    points: Fraction  # sum of the points of all reviewed sentences
    # An error marked by two reviewers is counted twice.
    errors_by_category: Mapping[str, int]  # for all CATEGORIES
    errors_by_severity: Mapping[str, int]  # for all SEVERITIES
    # sentences with such an error from any reviewer; 15 % in the paper
    sentences_major_or_critical: int
    sentences_critical: int  # 2 % in the paper
    # Sentences with an error of this category, of any severity; 3 % in the paper.
    sentences_unnatural: int
    reviewers: Mapping[str, ReviewerShare]  # by name


# The errors of each sentence, by reviewer; an empty list means reviewed without error.
_Marked = dict[str, dict[str, list[ReviewError]]]  # id → reviewer → errors


def score_quality(
    sources: Mapping[str, str],
    sample: Sequence[str],
    sheets: Iterable[ReviewedSheet],
    accepted_from: Fraction = ACCEPTED_FROM,
) -> QualityScore:
    """Computes the Translation Quality Score of a language.

    Args:
      sources: id → English text; must include the sentences of the sample.
      sample: ids of the sentences to review.
      sheets: the returned sheets, in the order of their return. A later review of a sentence replaces an
        earlier one by the same reviewer. The order has no other effect.
      accepted_from: the lowest score that is accepted.

    Raises ValueError if the sheets are for several languages, if a reviewed sentence is not in the sample, or
    if no sentence with words is reviewed.
    """
    marked = _merge(sheets, frozenset(sample))
    words = {id_: len(sources[id_].split()) for id_ in marked}
    total_words = sum(words.values())
    if not total_words:
        raise ValueError("no sentence is reviewed: the score needs at least one")
    errors = [one for by in marked.values() for errors in by.values() for one in errors]
    weights = (Fraction(POINTS[one.severity], len(marked[one.id])) for one in errors)
    points = sum(weights, Fraction(0))
    score = _score(points, total_words)
    tenths = score * 10 // 1
    categories, severities = (
        Counter(getattr(one, name) for one in errors) for name in ("category", "severity")
    )
    return QualityScore(
        accepted=len(marked) == len(set(sample)) and score >= accepted_from,
        score=score,
        shown=f"{tenths // 10}.{tenths % 10}",
        accepted_from=accepted_from,
        words=total_words,
        points=points,
        errors_by_category={name: categories[name] for name in CATEGORIES},
        errors_by_severity={name: severities[name] for name in SEVERITIES},
        sentences_major_or_critical=len({one.id for one in errors if one.severity != "minor"}),
        sentences_critical=len({one.id for one in errors if one.severity == "critical"}),
        sentences_unnatural=len({one.id for one in errors if one.category == "unnatural"}),
        reviewers=_shares(marked, words),
    )


def _merge(sheets: Iterable[ReviewedSheet], sample: frozenset[str]) -> _Marked:
    marked: _Marked = {}
    languages = set()
    for sheet in sheets:
        languages.add(sheet.language)
        if len(languages) > 1:
            raise ValueError(
                f"expected reviews of one language, found {', '.join(sorted(languages))}"
            )
        for id_ in sheet.reviewed:
            if id_ not in sample:
                raise ValueError(f"{sheet.reviewer} has reviewed {id_}, which is not in the sample")
            marked.setdefault(id_, {})[sheet.reviewer] = []
        for error in sheet.errors:
            marked[error.id][sheet.reviewer].append(error)
    return marked


def _score(points: Fraction, words: int) -> Fraction:
    return max(Fraction(0), 100 * (1 - points / words))


def _shares(marked: _Marked, words: Mapping[str, int]) -> dict[str, ReviewerShare]:
    shares = {}
    for name in sorted({name for by_reviewer in marked.values() for name in by_reviewer}):
        said = {id_: by[name] for id_, by in marked.items() if name in by}
        errors = [error for errors in said.values() for error in errors]
        points = sum(POINTS[error.severity] for error in errors)
        read = sum(words[id_] for id_ in said)
        score = _score(Fraction(points), read) if read else Fraction(100)
        shares[name] = ReviewerShare(len(said), len(errors), score)
    return shares
