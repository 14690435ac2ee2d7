from pathlib import Path

import numpy as np
import pytest

from corpusmill.transforms.files.line_blocks import block_of
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.models.read_sentences import (
    ChooseSentences,
    Sampling,
    SentenceBlock,
    add_ranges,
    join_ranks,
)
from corpusmill.transforms.models.sentence_sampling import (
    RANGES,
    Choice,
    is_held_out,
    is_last,
    is_once_more,
    rank_sentences,
)
from tests.tools.run_pipeline import run_transform

UK = [f"Речення {number}." for number in range(40)]
JA = [f"文{number}。" for number in range(10)]


def block(
    folder: Path, language: str, lines: list[str], is_held_out: bool = False
) -> SentenceBlock:
    scratch = Scratch(str(folder))
    return SentenceBlock(
        language,
        is_held_out,
        len(lines),
        scratch.put(rank_sentences(lines, 3).tobytes()),
        scratch.put(block_of([line.encode() for line in lines])),
    )


def choices(sampling: Sampling, *blocks: SentenceBlock) -> dict[str, Choice]:
    (found,) = run_transform(ChooseSentences(sampling), blocks).elements["main"]
    return dict(found)


def test_the_sentences_with_the_smallest_ranks(tmp_path: Path) -> None:
    sampling = Sampling(("el", "ja", "uk"), "1", 25)
    blocks = [
        block(tmp_path, "uk", UK[:7]),
        block(tmp_path, "uk", UK[7:]),
        block(tmp_path, "ja", JA),
        block(tmp_path, "ja", ["試験"], is_held_out=True),
    ]
    found = choices(sampling, *blocks)
    wanted_of = {name: choice.share.wanted for name, choice in found.items()}
    assert wanted_of == {"el": 0, "ja": 5, "uk": 20}
    for name, lines in (("uk", UK), ("ja", JA)):
        ranks = rank_sentences(lines, 3)
        chosen = ranks[is_once_more(ranks, found[name]) | is_last(ranks, found[name])]
        assert np.array_equal(np.sort(chosen), np.sort(ranks)[: wanted_of[name]])
        assert found[name].copies == 1
    # Japanese has a split that is held out; of Ukrainian all are that are not taken.
    uk, ja = rank_sentences(UK, 3), rank_sentences(JA, 3)
    assert is_held_out(uk, found["uk"]).sum() == 20
    assert not is_held_out(ja, found["ja"]).any()
    assert choices(sampling, *reversed(blocks)) == found


def test_nothing_to_choose_from(tmp_path: Path) -> None:
    held_out = block(tmp_path, "uk", UK, is_held_out=True)
    with pytest.raises(Exception, match="InputError: uk: there is no sentence to learn from"):
        choices(Sampling(("uk",), "5", 10), held_out)


def test_combining_in_parts_is_combining_at_once() -> None:
    counts = [np.arange(RANGES) * factor for factor in (1, 2, 3)]
    merged = add_ranges([add_ranges(counts[:1]), add_ranges([]), add_ranges(counts[1:])])
    assert np.array_equal(merged, np.arange(RANGES) * 6)
    ranks = [rank_sentences(lines, 1) for lines in (UK[:3], UK[3:5], JA)]
    joined = join_ranks([join_ranks(ranks[:1]), join_ranks([]), join_ranks(ranks[1:])])
    assert np.array_equal(joined, np.concatenate(ranks))
    assert joined.dtype == np.uint64
