"""An index finds what a plain comparison of words finds."""

import functools
import itertools
import random
from collections.abc import Sequence

import numpy
import pytest

from corpusmill.transforms.duplicates import evaluation_index
from corpusmill.transforms.duplicates.evaluation_index import build_index, fold_block
from corpusmill.transforms.duplicates.folded_words import fold_words

N = 4
Run = tuple[int, int, int, int, int]


def plain_runs(items: Sequence[str], texts: Sequence[str], n: int) -> list[Run]:
    """(document, item, word of the block, place in the item, words), one word after the other."""
    runs = []
    first = 0
    for document, text in enumerate(texts):
        words = fold_words(text)
        for number, item in enumerate(items):
            wanted = fold_words(item)
            for place in range(len(wanted)):
                for word in range(len(words)):
                    if word and place and words[word - 1] == wanted[place - 1]:
                        continue
                    size = 0
                    while (
                        word + size < len(words)
                        and place + size < len(wanted)
                        and words[word + size] == wanted[place + size]
                    ):
                        size += 1
                    if size >= n:
                        runs.append((document, number, first + word, place, size))
        first += len(words)
    return sorted(runs)


def made_texts(chance: random.Random, count: int) -> list[str]:
    """Texts of few different words, with line feeds and punctuation between them."""
    blanks = [" ", " ", " ", "\n", ", ", " “"]
    return [
        "".join(
            f"{chance.choice('abcdé')}{chance.choice(blanks)}"
            for _ in range(chance.randrange(1, 30))
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize(("weak_bits", "ngrams"), [(0, 1 << 16), (3, 1 << 16), (3, 100), (0, 5)])
@pytest.mark.parametrize("seed", range(10))
def test_the_same_as_a_plain_comparison(
    seed: int, weak_bits: int, ngrams: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where hashes have three bits, so that most that are found have only hashes in common.

    And also where few n-grams are compared at once.
    """
    monkeypatch.setattr(evaluation_index, "FOUND_NGRAMS", ngrams)
    if weak_bits:
        mask = numpy.uint64((1 << weak_bits) - 1)
        for name in ("join_hashes", "_join_at"):
            join = getattr(evaluation_index, name)
            weak = functools.partial(lambda join, *given: join(*given) & mask, join)
            monkeypatch.setattr(evaluation_index, name, weak)
    chance = random.Random(seed)
    items, texts = made_texts(chance, 12), made_texts(chance, 12)
    found = [
        list(zip(*(column.tolist() for column in some), strict=True))
        for some in build_index(items, N).find(fold_block(texts))
    ]
    assert sorted(itertools.chain(*found)) == plain_runs(items, texts, N)
    assert (len(found) > 1) == (ngrams < 1 << 16)
    ends = [(min(runs)[:2], max(runs)[:2]) for runs in found if runs]
    assert all(one[1] < other[0] for one, other in itertools.pairwise(ends))


@pytest.mark.parametrize(
    ("items", "texts"),
    [(["a b c d"], []), (["a b"], ["a b", "a b c"]), (["a b c d e"], ["", "a b c", "d e"])],
)
def test_nothing_is_found(items: list[str], texts: list[str]) -> None:
    (found,) = build_index(items, N).find(fold_block(texts))
    assert not len(found.items)


def test_n_must_be_two_at_least() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        build_index(["a"], 1)
