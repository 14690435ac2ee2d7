import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.books import simplicity
from corpusmill.transforms.books.book_overlap import sum_rows
from corpusmill.transforms.books.simplicity import (
    FORMULAS,
    PRINTED,
    RANKED,
    SQUARED,
    NotSimple,
    Queue,
    Taken,
    count_entries,
    exact_ratio,
    is_simple,
    line_up,
    measure,
    rank_counts,
    ratio,
    take_books,
)
from corpusmill.transforms.files.records import MeasuredBook, Reason
from corpusmill.transforms.models import word_vocabulary
from tests.makers.made_books import book
from tests.transforms.books.read_cases import read_table

CASES = read_table("simplicity")


@pytest.mark.parametrize(("text", "measured"), CASES["measured"])
def test_tokens_are_what_stands_between_white_space(text: str, measured: list[int]) -> None:
    assert list(measure(text)) == measured


@given(st.text(alphabet="ab \n\u2003", max_size=80), st.integers(1, 9))
def test_the_size_of_the_parts_does_not_matter(text: str, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simplicity, "_CHUNK_CHARACTERS", size)
        assert measure(text) == (len(text.split()), len(set(text.split())))


@pytest.mark.parametrize(
    ("tokens", "vocabulary", "formula", "min_ratio", "simple"),
    [
        *CASES["simple"],
        (3 * 10**30, 10**15, SQUARED, "3", True),
        (3 * 10**30 - 1, 10**15, SQUARED, "3", False),  # as floats both are equal
    ],
)
def test_the_comparison_is_exact(
    tokens: int, vocabulary: int, formula: str, min_ratio: str, simple: bool
) -> None:
    assert is_simple(tokens, vocabulary, formula, Fraction(min_ratio)) == simple


@given(st.integers(1, 10**7), st.data())
def test_printed_and_compared_ratio_agree(tokens: int, data: st.DataObject) -> None:
    vocabulary = data.draw(st.integers(1, tokens))
    for formula in FORMULAS:
        found = Fraction(ratio(tokens, vocabulary, formula))
        assert is_simple(tokens, vocabulary, formula, found * Fraction("0.999999"))
        assert not is_simple(tokens, vocabulary, formula, found * Fraction("1.000001"))


def test_the_rule_tells_the_ratio() -> None:
    assert NotSimple()(MeasuredBook(book(), 10_000, 1998)) is None
    too_low = Reason("ratio-too-low", "L/V^1.35 is 0.349867: 10000 tokens, 1999 different")
    assert NotSimple()(MeasuredBook(book(), 10_000, 1999)) == too_low
    assert NotSimple()(MeasuredBook(book(), 10_000, 1999), frozenset({2})) == too_low
    assert NotSimple()(MeasuredBook(book(), 10_000, 1999), frozenset({1})) is None
    rule = NotSimple(SQUARED)
    assert rule(MeasuredBook(book(), 1200, 1000)) is None
    assert rule(MeasuredBook(book(), 1190, 1000)) == Reason(
        "ratio-too-low", "L/V^2 is 0.001190: 1190 tokens, 1000 different"
    )
    assert NotSimple(PRINTED, "50")(MeasuredBook(book(), 40, 4)) == Reason(
        "ratio-too-low", "L/sqrt(V) is 20.000000: 40 tokens, 4 different"
    )


@pytest.mark.parametrize(("formula", "min_ratio", "message"), CASES["bad_settings"])
def test_settings_that_make_no_sense(formula: str, min_ratio: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        NotSimple(formula, min_ratio)


def test_a_ratio_of_another_formula_is_an_error() -> None:
    with pytest.raises(ValueError, match="formula must be one of"):
        ratio(1, 1, "V/L")


MEASURES = {1: (1200, 1000), 2: (1201, 1000), 3: (4800, 2000), 4: (0, 0), 5: (9, 3)}
SIZES = {1: 1500, 2: 1500, 3: 6000, 4: 0, 5: 12}


@pytest.mark.parametrize(("min_ratio", "heldout_books", "small_tokens", "needed"), CASES["needed"])
def test_the_simplest_books_fill_simplebooks_2(
    min_ratio: str, heldout_books: int, small_tokens: int, needed: list[int]
) -> None:
    rule = NotSimple(SQUARED, min_ratio)
    found = rule.books_needed(heldout_books, small_tokens, reversed(MEASURES.items()))
    assert sorted(found) == needed


@pytest.mark.parametrize(
    ("formula", "target", "queue"),
    [
        (SQUARED, 99_999, Queue({5: 0, 2: 1, 1: 2, 3: 3, 4: 4}, 9012, False)),
        (SQUARED, 9012, Queue({5: 0, 2: 1, 1: 2, 3: 3, 4: 4}, 9012, False)),
        (SQUARED, 9011, Queue({5: 0, 2: 1, 1: 2}, 3012, True)),
        (SQUARED, 11, Queue({}, 0, True)),
        (PRINTED, 7500, Queue({3: 0, 2: 1}, 7500, True)),
        (PRINTED, 5999, Queue({}, 0, True)),
    ],
)
def test_the_best_ratios_come_first(formula: str, target: int, queue: Queue) -> None:
    assert line_up(formula, target, SIZES, MEASURES.items()) == queue
    assert line_up(formula, target, SIZES, reversed(MEASURES.items())) == queue


@given(st.integers(1, 10**6), st.integers(1, 10**4), st.integers(1, 10**6), st.integers(1, 10**4))
def test_the_exact_ratio_orders_like_the_ratio(l_1: int, v_1: int, l_2: int, v_2: int) -> None:
    for formula in FORMULAS:
        first, second = ratio(l_1, v_1, formula), ratio(l_2, v_2, formula)
        if abs(first - second) > 1e-9 * second:
            exact = exact_ratio(l_1, v_1, formula) < exact_ratio(l_2, v_2, formula)
            assert exact == (first < second)


def test_the_exact_ratio_is_not_rounded() -> None:
    assert exact_ratio(3, 1000, SQUARED) == Fraction(3, 1_000_000)
    assert exact_ratio(10**17 + 1, 1, SQUARED) > exact_ratio(10**17, 1, SQUARED)
    assert exact_ratio(0, 0, PRINTED) == 0


QUEUE = Queue({7: 0, 5: 1, 9: 2}, 300, True)
TOO_LONG = Reason(
    "beyond-target-tokens", "3 simpler books have 300 tokens, the next one is too long"
)


def too_many(books: int, words: int, more: int) -> Reason:
    told = f"{books} simpler books have {words} words, the next one adds {more}"
    return Reason("beyond-vocabulary", told)


@pytest.mark.parametrize(
    ("entries", "most", "queue", "taken"),
    [
        ([[0, 10], [2, 5]], 15, QUEUE, Taken(frozenset({7, 5, 9}), TOO_LONG)),
        ([[0, 10], [2, 5]], 15, QUEUE._replace(more=False), Taken(frozenset({7, 5, 9}), None)),
        ([[0, 10], [2, 5]], 14, QUEUE, Taken(frozenset({7, 5}), too_many(2, 10, 5))),
        ([[0, 10]], 9, QUEUE._replace(more=False), Taken(frozenset(), too_many(0, 0, 10))),
    ],
)
def test_the_queue_ends_where_the_vocabulary_would_be_too_large(
    entries: list[list[int]], most: int, queue: Queue, taken: Taken
) -> None:
    assert take_books(queue, numpy.array(entries), most) == taken


BOOKS = st.lists(st.text("abcdé", max_size=12).map(" ".join), min_size=1, max_size=8)


def entries_by_hand(texts: Sequence[str], min_count: int) -> list[list[int]]:
    counts: Counter[str] = Counter()
    entries: Counter[int] = Counter()
    for rank, text in enumerate(texts):
        for word, count in Counter(text.split()).items():
            if counts[word] < min_count <= counts[word] + count:
                entries[rank] += 1
            counts[word] += count
    return [[rank, words] for rank, words in sorted(entries.items())]


@given(BOOKS, st.integers(1, 4), st.integers(1, 3), st.randoms())
def test_buckets_and_order_change_nothing(
    texts: list[str], min_count: int, buckets: int, chance: random.Random
) -> None:
    ranked = [
        rank_counts(word_vocabulary.count_words(f"{text}\n".encode()), rank)
        for rank, text in enumerate(texts)
    ]
    chance.shuffle(ranked)
    half = len(ranked) // 2
    parts: dict[int, list[bytes]] = {}
    for some in (ranked[:half], ranked[half:]):
        if some:
            for bucket, part in word_vocabulary.cut_by_bucket(pa.concat_batches(some), buckets):
                parts.setdefault(bucket, []).append(word_vocabulary.pack_counts(part))
    found = [
        count_entries((word_vocabulary.unpack_counts(packed, RANKED) for packed in part), min_count)
        for part in parts.values()
    ]
    none = numpy.empty((0, 2), numpy.int64)
    summed = sum_rows(numpy.concatenate([none, *found]), keys=1)
    assert summed.tolist() == entries_by_hand(texts, min_count)
