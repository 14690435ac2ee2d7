"""Models beside KenLM's."""

import gzip
import itertools
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpusmill.transforms.models import gram_tables, smoothing
from tests.makers.ngram_models import Model, check_arpa, make_model
from tests.tools.golden_tree import GOLDEN
from tests.tools.kenlm_toys import MODELS

KENLM = tomllib.loads(Path(__file__).with_name("kenlm.toml").read_text("utf-8"))
DIGITS = 1e-6  # of the figures, relatively: KenLM computes in 32 bits


def plain_lines(pattern: str) -> bytes:
    """Lines of the golden build without those that have control characters."""
    texts = (path.read_bytes() for path in sorted((GOLDEN / "lm1b").glob(f"*/*/{pattern}")))
    lines = (line for text in texts for line in text.split(b"\n")[:-1])
    return b"".join(line + b"\n" for line in lines if not re.search(rb"[\x00-\x1f\x7f]", line))


@pytest.mark.parametrize("figures", KENLM["sample"], ids=lambda one: one["flags"])
def test_a_model_of_the_sample_is_that_of_kenlm(figures: dict[str, Any]) -> None:
    order = figures["order"]
    model = make_model(plain_lines("training*/*"), order, prune=figures["prune"])
    assert [len(model.entries[n]) for n in range(1, order + 1)] == figures["grams"]
    for n, discounts in enumerate(figures["discounts"], 1):
        assert model.discounts[n].of_count[1:] == pytest.approx(discounts, rel=1e-5)
    test = gram_tables.number_words(plain_lines("heldout*/*heldout-0*"), model.words)
    found = check_perplexity(figures, model, test)
    asked = smoothing.grams_of(test, order)
    rows = {n: gram_tables.look_up(asked[n], model.entries[n]["words"]) for n in asked}
    small = {n: model.entries[n][rows[n][rows[n] >= 0]] for n in asked}
    assert np.array_equal(smoothing.log_likelihoods(test, small), found)


def check_perplexity(
    figures: dict[str, Any], model: Model, test: gram_tables.Numbers
) -> smoothing.Float64s:
    """Asserts that a model gives held-out text the perplexity of KenLM; gives its log-likelihoods."""
    found = smoothing.log_likelihoods(test, model.entries)
    known = test != gram_tables.UNKNOWN
    assert (len(test), np.count_nonzero(~known)) == (figures["tokens"], figures["unknown"])
    assert np.exp(-found.mean()) == pytest.approx(figures["perplexity"], rel=DIGITS)
    assert np.exp(-found[known].mean()) == pytest.approx(figures["without_unknown"], rel=DIGITS)
    return found


TRAIN = b"""the cat sat on the mat
the dog sat on the cat
a cat saw the dog on a mat

the the the
"""
TOYS = [json.loads(line) for line in gzip.decompress(MODELS.read_bytes()).splitlines()]


@pytest.mark.parametrize("toy", TOYS, ids=lambda toy: toy["kind"])
def test_a_model_of_a_small_text_is_that_of_lmplz(toy: dict[str, Any]) -> None:
    block, order = toy["text"].encode().translate(gram_tables.SEPARATORS), toy["order"]
    model = make_model(block, order, prune=toy["prune"])
    fallback = [f"{n}-gram" for n in range(1, order + 1) if model.discounts[n].is_fallback]
    assert toy["refused"] == (["Special word"] if gram_tables.count_signs(block) else fallback[:1])
    if "arpa" in toy:
        lines = smoothing.make_head({n: len(entries) for n, entries in model.entries.items()})
        for n, entries in sorted(model.entries.items()):
            lines += b"\n\\%d-grams:\n" % n
            lines += smoothing.make_lines(entries, model.words, has_backoffs=n < order)
        check_arpa((lines + smoothing.END).decode(), toy)


@pytest.mark.parametrize("prune", [(), (0, 0, 1)])
@pytest.mark.parametrize("min_count", [1, 2])
def test_probabilities_of_all_words_sum_up_to_one(prune: tuple[int, ...], min_count: int) -> None:
    train = TRAIN * 2 + b"the dog ran\na mat\n"
    model = make_model(train, 3, min_count, prune)
    words = [b"", *model.words.to_pylist(), b"never-seen"]
    for first, second in itertools.product(words, repeat=2):
        context = b" ".join(filter(None, (first, second)))
        block = b"".join(b"%s %s\n" % (context, word) for word in words[1:]) + context + b"\n"
        numbers = gram_tables.number_words(block, model.words)
        found = smoothing.log_likelihoods(numbers, model.entries).tolist()
        ends = np.flatnonzero(numbers == 2)
        last = [found[end - 1] for end in ends[:-1]] + [found[-1]]
        assert sum(map(np.exp, last)) == pytest.approx(1.0, rel=1e-12)


def test_tallies_are_added_up_and_the_last_n_gram_is_kept() -> None:
    assert gram_tables.add_tallies(
        [
            gram_tables.Tally(1, 1, 1, (1, 0, 0, 0), (3, 1, 2)),
            gram_tables.Tally(2, 1, 4, (0, 2, 0, 0)),
        ]
    ) == (gram_tables.Tally(3, 2, 5, (1, 2, 0, 0), (3, 1, 2)))


def test_an_n_gram_without_its_end_is_an_error() -> None:
    model = make_model(TRAIN, 2)
    weighed = model.entries[2].copy()
    weighed.dtype.names = ("words", "weight", "share")
    with pytest.raises(ValueError, match="is not in the table of shorter n-grams"):
        smoothing.interpolate(weighed, model.entries[1][:3])
