import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.models.sentences import split_sentences
from tests.tools.case_tables import read_cases
from tests.tools.real_data import DATA, needs_real_data


def texts(paragraph: str, language: str = "en") -> list[str]:
    return [paragraph[start:end] for start, end in split_sentences(paragraph, language)]


@pytest.mark.parametrize(
    ("language", "sentences"), read_cases("models/sentences", "sentences_of_a_paragraph")
)
def test_sentences_of_a_paragraph(language: str, sentences: list[str]) -> None:
    assert texts(" ".join(sentences), language) == sentences


@pytest.mark.parametrize("language", ["ja", "zh"])
def test_no_blank_is_needed_between_sentences(language: str) -> None:
    assert texts("これは文です。次の文です。", language) == ["これは文です。", "次の文です。"]


@pytest.mark.parametrize(
    ("paragraph", "offsets"), [("", []), (" \u00a0\t ", []), (" A 🙂. \u00a0B. ", [(1, 5), (7, 9)])]
)
def test_offsets_are_code_points_without_blanks(
    paragraph: str, offsets: list[tuple[int, int]]
) -> None:
    assert split_sentences(paragraph) == offsets


@pytest.mark.parametrize("blank", ["\u00a0", "\u2009", "\u2028", "\u3000", "\n", "\n\n", "\t"])
def test_any_blank_is_a_blank(blank: str) -> None:
    paragraph = f"He met J.{blank}R.{blank}Smith.{blank}They{blank}talked."
    assert texts(paragraph) == [f"He met J.{blank}R.{blank}Smith.", f"They{blank}talked."]


PIECES = st.sampled_from(
    [
        *"abAB .!?\"'()[]“”‘’«»。！…🙂é1;:-|漢।؟\u200b\u0301\ufeff\u00a0\u2009\u2028\n\t\x1f\x85",
        *["Dr. ", "J.", "F. ", "[1]", "U.S. ", "e.g. ", "a@b.co", "http://x.y ", "Yahoo! "],
    ]
)


@given(
    st.lists(PIECES, max_size=30).map("".join) | st.text(),
    st.sampled_from(["en", "de", "ja", "hi", "xx"]),
)
def test_sentences_are_all_but_blanks_in_order(paragraph: str, language: str) -> None:
    spans = split_sentences(paragraph, language)
    places = [place for span in spans for place in span]
    assert places == sorted(places)
    for start, end in spans:
        assert start < end
        assert paragraph[start:end] == paragraph[start:end].strip()
    between = "".join(paragraph[end:start] for end, start in pairs_between(spans, len(paragraph)))
    assert not between.strip()


def pairs_between(spans: list[tuple[int, int]], length: int) -> Iterator[tuple[int, int]]:
    places = [0, *itertools.chain.from_iterable(spans), length]
    return zip(places[::2], places[1::2], strict=True)


@needs_real_data
def test_boundaries_of_the_released_sentences() -> None:
    folder = DATA / "flores" / "flores101_dataset"
    rows = (folder / "metedata_devtest.tsv").read_text("utf-8").splitlines()[1:]
    lines = (folder / "devtest" / "eng.devtest").read_text("utf-8").splitlines()
    found = missed = 0
    of_articles = itertools.groupby(
        zip(rows, lines, strict=True), lambda pair: pair[0].split("\t")[0]
    )
    for _, pairs in of_articles:
        sentences = [line.strip() for _, line in pairs]
        ends = list(itertools.accumulate(len(sentence) + 1 for sentence in sentences))[:-1]
        put = {end + 1 for _, end in split_sentences(" ".join(sentences))}
        found += len(put.intersection(ends))
        missed += len(set(ends) - put)
    assert (found, missed) == (724, 7)
