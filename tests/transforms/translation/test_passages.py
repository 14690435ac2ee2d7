import csv
from collections import Counter
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.files.records import Reason
from corpusmill.transforms.translation.passages import (
    PARTS,
    Paragraph,
    Passage,
    choose_passage,
    part_of,
)
from tests.tools.case_tables import read_cases
from tests.tools.real_data import DATA, needs_real_data

KEYS = [f"{seed} wikinews 7" for seed in range(60)]


def good(number: int) -> str:
    return f"The road number {number} leads to a very old town."


def paragraph(pattern: str, first: int = 0) -> Paragraph:
    """A good sentence for each "x", one that is too short for each "-"."""
    sentences = [
        good(first + place) if sign == "x" else "So it is." for place, sign in enumerate(pattern)
    ]
    return Paragraph(" ".join(sentences), ())


def found(paragraphs: list[Paragraph], key: str = "1 wikinews 7") -> Passage:
    passage = choose_passage(paragraphs, key)
    assert isinstance(passage, Passage), passage
    return passage


def numbers(passage: Passage) -> list[int]:
    return [int(sentence.text.split()[3]) for sentence in passage.sentences]


@pytest.mark.parametrize(
    ("pattern", "passages"),
    [
        ("xxx", {(0, 1, 2)}),
        ("xxxx", {(0, 1, 2, 3)}),
        ("xxxxx", {(0, 1, 2, 3, 4)}),
        ("xxxxxx", {(0, 1, 2, 3, 4), (1, 2, 3, 4, 5)}),
        ("-xxx-", {(1, 2, 3)}),
        ("xx-xxx", {(3, 4, 5)}),
        ("xxx-xxx", {(0, 1, 2), (4, 5, 6)}),
        ("xxx-xxxx", {(4, 5, 6, 7)}),  # the longest
        ("xxxxx-xxxxxx", {(0, 1, 2, 3, 4), (6, 7, 8, 9, 10), (7, 8, 9, 10, 11)}),
    ],
)
def test_longest_runs_of_good_sentences(pattern: str, passages: set[tuple[int, ...]]) -> None:
    seen = set()
    for key in KEYS:
        passage = found([paragraph(pattern)], key)
        assert passage.first == numbers(passage)[0]
        seen.add(tuple(numbers(passage)))
    assert seen == passages


def test_a_reason_tells_what_was_found() -> None:
    heading = Paragraph("The old town", ())
    assert choose_passage([paragraph("xx-"), heading, paragraph("-x")], "1") == Reason(
        "no-passage", "3 paragraphs, 6 sentences, 3 fit; no-end 1, too-short 2"
    )
    assert choose_passage([], "1") == Reason("no-passage", "0 paragraphs, 0 sentences, 0 fit")


@pytest.mark.parametrize(
    ("paragraphs", "parts"),
    read_cases("translation/passages", "parts"),
)
def test_parts_of_an_article(paragraphs: int, parts: str) -> None:
    assert "".join(part_of(place, paragraphs)[0] for place in range(paragraphs)) == parts


def test_parts_are_drawn_alike_and_paragraphs_in_them() -> None:
    paragraphs = [paragraph("xxx", 10 * place) for place in range(9)]
    passages = [found(paragraphs, f"{seed} wikinews 7") for seed in range(900)]
    parts = Counter(passage.part for passage in passages)
    places = Counter(passage.paragraph for passage in passages)
    assert parts.keys() == set(PARTS)
    assert min(parts.values()) > 240
    assert places.keys() == set(range(9))
    assert min(places.values()) > 70
    assert all(numbers(one)[0] == 10 * one.paragraph for one in passages)


def test_another_part_serves_where_the_drawn_one_has_none() -> None:
    paragraphs = [paragraph("-x") for _ in range(9)]
    paragraphs[7] = paragraph("xxx", 70)
    for key in KEYS:
        passage = found(paragraphs, key)
        assert (passage.part, passage.paragraph, numbers(passage)) == ("end", 7, [70, 71, 72])


def test_a_sentence_has_the_links_that_begin_in_it() -> None:
    text = " ".join(map(good, range(4)))
    second, fourth = text.index(good(1)), text.index(good(3))
    offsets = (second, second + 4, fourth + len(good(3)) - 1)
    passage = found([Paragraph(text, offsets)])
    assert [one.has_hyperlink for one in passage.sentences] == [False, True, False, True]
    between = Paragraph(text, (second - 1,))
    assert not any(one.has_hyperlink for one in found([between]).sentences)


class Offsets(tuple[int, ...]):
    """Offsets that cannot be gone through from the first to the last."""

    def __iter__(self) -> NoReturn:
        raise AssertionError("all links are looked at")


def test_links_are_not_all_looked_at_for_each_sentence() -> None:
    text = " ".join(map(good, range(5)))
    starts = Offsets([text.index(good(number)) for number in range(5)])
    passage = found([Paragraph(text, starts)])
    assert [one.has_hyperlink for one in passage.sentences] == [True] * 5


def test_a_sentence_is_one_line_with_single_blanks() -> None:
    text = f"{good(0)}\u00a0 {good(1).replace(' ', chr(0x2028))}  {good(2).replace(' ', '  ')}"
    assert [one.text for one in found([Paragraph(text, ())]).sentences] == [
        good(0),
        good(1),
        good(2),
    ]


def test_the_other_half_of_a_cut_sentence_is_not_taken() -> None:
    halves = "The minister of the island died here at 10:00 a.m. Tongan time at the age of 78."
    cut = f"{good(0)} {good(1)} {good(2)} {halves}"
    for key in KEYS:
        assert len(found([Paragraph(cut, ())], key).sentences) == 3
    titled = f"{good(0)} {good(1)} {good(2)} This is the last one that he wrote of Why? solo album."
    assert len(found([Paragraph(titled, ())]).sentences) == 3
    text = f"{good(0)} {good(1)} {halves}"
    assert choose_passage([Paragraph(text, ())], "1") == Reason(
        "no-passage", "1 paragraphs, 4 sentences, 2 fit; abbreviation 1, cut 1"
    )


PATTERNS = st.lists(st.text("x-", max_size=9), max_size=8)


@given(PATTERNS, st.text(max_size=4))
def test_a_passage_is_a_run_of_good_sentences_in_one_paragraph(
    patterns: list[str], key: str
) -> None:
    paragraphs = [paragraph(pattern, 10 * place) for place, pattern in enumerate(patterns)]
    passage = choose_passage(paragraphs, key)
    assert passage == choose_passage(list(paragraphs), key)
    if isinstance(passage, Reason):
        assert not any("xxx" in pattern for pattern in patterns)
        return
    pattern = patterns[passage.paragraph]
    length = len(passage.sentences)
    assert 3 <= length <= 5
    assert pattern[passage.first : passage.first + length] == "x" * length
    assert length == 5 or "x" * (length + 1) not in pattern
    first = 10 * passage.paragraph + passage.first
    assert numbers(passage) == list(range(first, first + length))
    assert passage.part == part_of(passage.paragraph, len(patterns))


@needs_real_data
def test_most_news_have_a_passage() -> None:
    with (DATA / "wikimedia/enwikinews/wikinews_2019.csv").open(
        encoding="utf-8", newline=""
    ) as file:
        rows = list(csv.DictReader(file))
    passages = []
    for row in rows:
        paragraphs = [
            Paragraph(line.strip(), ()) for line in row["text"].split("\n") if line.strip()
        ]
        passage = choose_passage(paragraphs, f"1 {row['url']}")
        if isinstance(passage, Passage):
            passages.append(passage)
    parts = Counter(passage.part for passage in passages)
    assert (len(rows), len(passages)) == (171, 155)
    assert min(parts[part] for part in PARTS) > 30
