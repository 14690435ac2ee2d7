"""Evidence about an item does not depend on how training texts were put together."""

import functools
import itertools
import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pytest

from corpusmill.transforms.duplicates.contamination_evidence import (
    Found,
    add,
    add_to,
    count_found,
    describe,
    join_stretches,
    rate,
)
from corpusmill.transforms.duplicates.evaluation_index import (
    EvaluationIndex,
    build_index,
    fold_block,
)
from corpusmill.transforms.duplicates.folded_words import fold_words, normalize
from corpusmill.transforms.duplicates.matched_passages import find_matches

SHOWN = 3
ITEMS = [
    "The quick brown fox jumps over the lazy dog, and the dog sleeps on.",
    "Ελληνικά και ‘άλλα’ που είναι μια μεγάλη πρόταση εδώ σήμερα.",
    "A short line",
]
WORDS = " ".join(ITEMS).split()


@functools.cache
def index() -> EvaluationIndex:
    return build_index(ITEMS, 4)


def found_in(
    texts: Sequence[str], first: int = 0, known: Mapping[int, Found] = MappingProxyType({})
) -> dict[int, Found]:
    """Returns the evidence that some texts have of the items."""
    block = fold_block(texts)
    ids = [f"{first + number:03}" for number in range(len(texts))]
    sums = dict(known)
    for matches in find_matches(index(), block):
        add_to(sums, describe(index(), block, "file", ids, matches, SHOWN, sums), SHOWN)
    return sums


def made_texts(chance: random.Random, count: int) -> list[str]:
    """Parts of the items, between other words."""
    texts = []
    for _ in range(count):
        parts = []
        for _ in range(chance.randrange(1, 4)):
            start = chance.randrange(len(WORDS))
            parts.append(" ".join(WORDS[start : start + chance.randrange(1, 12)]).upper())
            parts.append(chance.choice(["x", "\nA short line\n", "e\u0301 ", "ﬁ"]))
        texts.append(" ".join(parts))
    return texts


@pytest.mark.parametrize("seed", range(5))
def test_the_same_whatever_the_blocks_and_their_order(seed: int) -> None:
    chance = random.Random(seed)
    texts = made_texts(chance, 30)
    whole = found_in(texts)
    spans = list(itertools.pairwise([0, *sorted(chance.sample(range(1, 30), 5)), 30]))
    parts = [found_in(texts[start:end], start) for start, end in spans]
    known: dict[int, Found] = {}
    for start, end in spans:
        known = found_in(texts[start:end], start, known)
    assert known == whole
    chance.shuffle(parts)
    sums: dict[int, Found] = {}
    for part in parts:
        add_to(sums, part.items(), SHOWN)
    assert sums == whole
    of_first = [part[0] for part in parts if 0 in part]
    assert functools.reduce(lambda a, b: add(b, a, SHOWN), of_first) == whole[0]


@pytest.mark.parametrize("seed", range(5))
def test_matches_show_the_words_that_both_have(seed: int) -> None:
    texts = made_texts(random.Random(seed), 30)
    for item, found in found_in(texts).items():
        words = fold_words(ITEMS[item])
        for passage in found.passages:
            text = normalize(texts[int(passage.place.id)])
            assert text[passage.start :].startswith(passage.text)
            assert max(match.words for match in passage.matches) == passage.words
            for match in passage.matches:
                assert (
                    fold_words(passage.text[match.start : match.end])
                    == words[match.word : match.word + match.words]
                )


def test_facts() -> None:
    texts = [
        "x",
        "He: “the quick BROWN fox – jumps” ... over the lazy dog and? the dog sleeps on!",
        "a short line more",
        "a quick brown fox jumps over; the lazy dog sleeps on and on",
        "one\nA SHORT LINE.\ntwo",
    ]
    found = found_in(texts)
    assert list(found) == [0]
    assert found[0][:4] == (2, 1, 1, 14)
    assert count_found(found[0].steps) == 14
    assert [passage.place.id for passage in found[0].passages] == ["001", "003"]


@pytest.mark.parametrize(
    ("given", "joined"),
    [((), ()), (((3, 4), (0, 2), (2, 3)), ((0, 4),)), (((5, 9), (0, 2), (6, 7)), ((0, 2), (5, 9)))],
)
def test_join_stretches(given: tuple, joined: tuple) -> None:
    assert join_stretches(given) == joined


QUOTE = "it was the best of times it was the worst of times it was the age of wisdom"
QUESTION = f"Which novel begins with the words {QUOTE} and who wrote it in which year?"


@pytest.mark.parametrize(
    ("text", "documents", "tier"),
    [
        (QUESTION, 1, "copied"),
        (QUESTION.replace("novel", "book").replace("worst", "best"), 1, "copied"),
        (
            QUESTION.replace("begins with", "opens by"),
            3,
            "partly",
        ),  # two words in a row are missing
        (QUESTION, 6, "partly"),
        (f"{QUESTION} Charles Dickens, 1859.", 6, "copied"),
        (QUOTE, 1, "partly"),
        (QUOTE, 6, "common"),
        ("it was the best of times it was nothing", 1, "common"),
    ],
)
def test_tiers(text: str, documents: int, tier: str) -> None:
    known = build_index([QUESTION], 8)
    block = fold_block([f"He said: {text}"] * documents)
    (matches,) = find_matches(known, block)
    answers = ["Thackeray\nCharles Dickens"]
    sums: dict[int, Found] = {}
    ids = [str(number) for number in range(documents)]
    add_to(sums, describe(known, block, "", ids, matches, SHOWN, sums, answers), SHOWN)
    (passage, *_) = sums[0].passages
    facts = passage.found, sums[0].steps, documents, passage.answer
    assert rate(known, 0, *facts).tier == tier
    assert passage.answer == ("yes" if "Dickens" in text else "no")
