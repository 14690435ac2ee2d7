from collections import Counter
from pathlib import Path

import apache_beam as beam
import pytest

from corpusmill.transforms.files.scratch import fetch
from corpusmill.transforms.models.read_sentences import (
    ChooseSentences,
    CountSampleWords,
    Sampling,
    SentenceBlock,
)
from corpusmill.transforms.models.sentence_sampling import rank_sentences
from corpusmill.transforms.models.word_vocabulary import unpack_counts
from tests.tools.run_pipeline import Outcome, run_inputs
from tests.transforms.models.test_choose_sentences import block

UK = ["Пором  відходить о сьомій.", "Пором зелений.", "Його видно.", "Його видно.", "Його видно."]
JA = ["船は 港を", "港を 出た"]


def sample(folder: Path, blocks: list[SentenceBlock], sampling: Sampling, buckets: int) -> Outcome:
    def apply(made: beam.PCollection) -> dict[str, beam.PCollection]:
        choices = made | ChooseSentences(sampling)
        words, sampled = made | CountSampleWords(str(folder), choices, buckets)
        return {"words": words, "sampled": sampled, "choices": choices}

    return run_inputs(apply, made=blocks)


def words_in(packed: bytes) -> dict[str, int]:
    return {row["word"].decode(): row["count"] for row in unpack_counts(fetch(packed)).to_pylist()}


def count(
    folder: Path, total: int, buckets: int, temperature: str
) -> tuple[Counter[str], dict[str, int]]:
    blocks = [
        block(folder, "uk", UK[:2]),
        block(folder, "uk", UK[2:]),
        block(folder, "ja", JA),
        block(folder, "ja", ["試験"], is_held_out=True),
    ]
    outcome = sample(folder, blocks, Sampling(("ja", "uk"), temperature, total), buckets)
    words = Counter[str]()
    for _, packed in outcome.elements["words"]:
        of_bucket = words_in(packed)
        assert not words.keys() & of_bucket.keys()  # each is in one bucket
        words.update(of_bucket)
    return words, dict(outcome.elements["sampled"])


def expected(lines: list[str], wanted: int) -> Counter[str]:
    ranks = rank_sentences(lines, 3).tolist()
    ordered = [line for _, line in sorted(zip(ranks, lines, strict=True))]
    times, rest = divmod(wanted, len(lines))
    return Counter(word for line in ordered * times + ordered[:rest] for word in line.split())


@pytest.mark.parametrize("total", [3, 5, 700_003])
@pytest.mark.parametrize("temperature", ["1", "50"])
def test_the_words_of_the_sample(tmp_path: Path, total: int, temperature: str) -> None:
    words, sampled = count(tmp_path, total, 1 + total % 4, temperature)
    assert sum(sampled.values()) == min(total, len(UK) + len(JA))
    assert temperature == "1" or total < 7 or sampled["ja"] > len(JA)  # repeated
    assert words == +(expected(UK, sampled["uk"]) + expected(JA, sampled["ja"]))


def test_copies_of_the_last_sentence_are_taken_as_often_as_is_wanted(tmp_path: Path) -> None:
    ranks = rank_sentences(UK, 3)
    before = int((ranks < ranks[2]).sum())
    sampling = Sampling(("uk",), "5", before + 2)
    outcome = sample(tmp_path, [block(tmp_path, "uk", UK)], sampling, 1)
    ((_, packed),) = outcome.elements["words"]
    assert words_in(packed)["видно."] == 2
    assert outcome.elements["choices"][0]["uk"].copies == 2
