"""Records of a review of translations: the sheets for reviewers, and the errors that reviewers mark.

Categories and severities are those of Goyal et al. 2022 (FLORES-101), section 3.3.
"""

from collections.abc import Mapping
from typing import NamedTuple

CATEGORIES = {
    "grammar": "agreement, case, tense, word order",
    "punctuation": "a sign that is wrong, missing or too many",
    "spelling": "a word that is written wrongly",
    "capitalisation": "a capital where none belongs, or the reverse",
    "addition-or-omission": "the translation says more than the source, or less",
    "mistranslation": "the meaning is another one",
    "unnatural": "correct, but nobody would say it like this",
    "untranslated": "text of the source that was left",
    "register": "too formal or too familiar for news and encyclopaedias",
}
"""Category → meaning."""
SEVERITIES = {
    "minor": "a blemish: the meaning is clear",
    "major": "the meaning is hard to see, or partly wrong",
    "critical": "the reader is misled, or cannot understand the sentence",
}
"""Severity → meaning, in ascending order."""


class ReviewLine(NamedTuple):
    """A sentence that a reviewer is to check."""

    id: str  # of the source sentence
    source: str
    target: str  # the translation, unchanged


class ReviewError(NamedTuple):
    """An error that a reviewer has marked."""

    id: str  # of the source sentence
    category: str  # one of CATEGORIES
    severity: str  # one of SEVERITIES
    comment: str  # comment of the reviewer; may be ""
    line: int  # line in the sheet, from 1


class ReviewedSheet(NamedTuple):
    """The content of a sheet: one reviewer's review of sentences in one language."""

    reviewer: str  # name as written by the reviewer; "" if nothing is reviewed yet
    language: str  # language code
    reviewed: tuple[str, ...]  # ids in the order of the sheet, including sentences without errors
    errors: tuple[ReviewError, ...]  # in the order of the sheet
    targets: Mapping[str, str]  # id → the translation in the sheet
