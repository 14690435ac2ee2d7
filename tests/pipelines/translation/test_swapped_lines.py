"""A language of nobody: each word backwards and with an ending, so that only the file itself can teach it."""

import random
from collections.abc import Sequence

import pytest

from corpusmill.pipelines.translation.swapped_lines import MIN_LINES, find_misplaced
from corpusmill.pipelines.translation.target_languages import find_language
from corpusmill.transforms.files.records import Finding, Translation
from tests.pipelines.translation.pair_cases import source

CONSONANTS = "bdfgklmnprstvz"
KAMBA = find_language("kam")


def make_words(count: int) -> list[str]:
    chance = random.Random(3)
    syllables = [first + vowel for first in CONSONANTS for vowel in "aeiou"]
    return ["".join(chance.choices(syllables, k=3)) for _ in range(count)]


def make_lines(count: int) -> list[str]:
    chance = random.Random(4)
    words = make_words(150)
    return [" ".join(chance.choices(words, k=chance.randint(9, 14))) for _ in range(count)]


LINES = make_lines(130)
TRANSLATED = [" ".join(word[::-1] + "k" for word in line.split()) for line in LINES]


def misplaced(translated: Sequence[str]) -> list[Finding]:
    sources = [source(text, place) for place, text in enumerate(LINES, 1)]
    translations = {
        sentence.id: Translation(sentence.id, text, "kam.devtest", line)
        for line, (sentence, text) in enumerate(zip(sources, translated, strict=False), 1)
    }
    return list(find_misplaced(sources, translations, KAMBA))


def test_lines_in_their_places() -> None:
    assert not misplaced(TRANSLATED)


@pytest.mark.parametrize(("first", "second"), [(10, 11), (40, 90), (0, 129)])
def test_two_lines_are_exchanged(first: int, second: int) -> None:
    translated = list(TRANSLATED)
    translated[first], translated[second] = translated[second], translated[first]
    findings = misplaced(translated)
    assert [(finding.line - 1, finding.rule, finding.severity) for finding in findings] == [
        (first, "swapped-lines", "error"),
        (second, "swapped-lines", "error"),
    ]
    assert f"the translation of devtest-{second + 1:04}" in findings[0].message
    assert f"the translation of devtest-{first + 1:04}" in findings[1].message


@pytest.mark.parametrize("lost", [15, 70, 120])
def test_a_line_is_lost(lost: int) -> None:
    findings = misplaced(TRANSLATED[:lost] + TRANSLATED[lost + 1 :])
    lines = {int(finding.id[-4:]) - 1 for finding in findings}
    assert lines == set(range(min(lines), len(LINES)))
    assert abs(min(lines) - (lost + 1)) <= 1
    assert all(finding.severity == "error" for finding in findings)
    assert "1 line above" in findings[0].message
    assert "to devtest-0130" in findings[0].message


def test_a_line_came_in() -> None:
    came_in = " ".join(reversed(TRANSLATED[3].split()))
    findings = misplaced([*TRANSLATED[:60], came_in, *TRANSLATED[60:-1]])
    lines = {int(finding.id[-4:]) - 1 for finding in findings}
    assert lines == set(range(60, len(LINES)))
    assert "1 line below" in findings[0].message


def test_a_line_stands_in_the_place_of_another() -> None:
    """As in a release: one holds a foreign text, the next one the translation of the one before."""
    translated = list(TRANSLATED)
    translated[71] = TRANSLATED[70]
    translated[70] = " ".join(word[::-1] + "k" for word in make_lines(400)[-1].split())
    findings = misplaced(translated)
    assert [finding.line - 1 for finding in findings] == [70, 71]
    assert "seems to be at devtest-0072" in findings[0].message
    assert "seems to be the translation of devtest-0071" in findings[1].message


def test_blank_lines_are_not_searched() -> None:
    assert not misplaced(["" if place % 9 == 0 else text for place, text in enumerate(TRANSLATED)])


def test_few_lines_are_not_judged() -> None:
    assert not misplaced(list(reversed(TRANSLATED[: MIN_LINES - 1])))


def test_a_language_of_no_words_is_not_judged() -> None:
    assert not misplaced(["1"] * len(LINES))
