"""Chooses the sentences of each language from which a vocabulary is learned.

The method is explained in text/vocabularies/sentence_choice.py.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import apache_beam as beam
import numpy as np
from apache_beam.pvalue import AsDict, AsSingleton

from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.models.read_sentences import SentenceBlock
from corpusmill.transforms.models.sentence_choice import (
    HELD_OUT,
    RANGES,
    Choice,
    Counts,
    LastRange,
    Ranks,
    choose,
    count_ranges,
    find_last_range,
    ranks_in_range,
)
from corpusmill.transforms.models.temperature_sampling import share_out

NO_RANKS: Ranks = np.zeros(0, np.uint64)


class Sampling(NamedTuple):
    """The settings that determine the number of sentences of each language."""

    languages: tuple[str, ...]  # all languages, including those without a sentence
    temperature: str  # written as a decimal number
    sentences: int  # maximum number of sentences to learn from, copies included


class ChooseSentences(beam.PTransform):
    """Chooses the sentences from which a vocabulary is learned.

    PCollection[SentenceBlock] → PCollection of one mapping {language: Choice}. A Choice says which sentences
    of a language are used for training, how often, and which are held out.

    Raises InputError if there are no sentences.
    """

    def __init__(self, sampling: Sampling):
        super().__init__()
        self.sampling = sampling

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        once = blocks.pipeline | "Once" >> beam.Create([self.sampling], reshuffle=False)
        train = blocks | "OfTrain" >> beam.Filter(is_of_train)
        ranges = (
            train
            | "CountRanges" >> beam.Map(ranges_of_block)
            | "AddRanges" >> beam.CombinePerKey(add_ranges)
        )
        held_out = (
            blocks
            | "HeldOut" >> beam.FlatMap(held_out_of_block)
            | "AddHeldOut" >> beam.CombinePerKey(sum)
        )
        last_ranges = once | "FindLastRanges" >> beam.Map(
            find_last_ranges, AsDict(ranges), AsDict(held_out)
        )
        ranks = (
            train
            | "RanksInRange" >> beam.FlatMap(ranks_of_block, AsSingleton(last_ranges))
            | "JoinRanks" >> beam.CombinePerKey(join_ranks)
        )
        return last_ranges | "Choose" >> beam.Map(choose_all, AsDict(ranks))


def add_ranges(counts: Iterable[Counts]) -> Counts:
    """Adds up arrays of counts. Each array has the number of sentences in each range of ranks.

    A rank is the hash of a sentence. The ranks are divided into RANGES ranges of equal size.
    """
    return sum(counts, np.zeros(RANGES, np.int64))


def join_ranks(parts: Iterable[Ranks]) -> Ranks:
    """Joins several arrays of ranks of sentences into one array."""
    return np.concatenate([NO_RANKS, *parts])


def is_of_train(block: SentenceBlock) -> bool:
    """Returns True if the sentences of a block may be used for training, because they are not held out."""
    return not block.is_held_out


def ranges_of_block(block: SentenceBlock) -> tuple[str, Counts]:
    """Returns (language of a block, number of its sentences in each range of ranks).

    Sentences are ranked by a hash. The ranks are divided into RANGES ranges of equal size.
    """
    return block.language, count_ranges(block.ranks())


def held_out_of_block(block: SentenceBlock) -> Iterator[tuple[str, int]]:
    """Yields (language, number of sentences) of a block if the block is held out."""
    if block.is_held_out:
        yield block.language, block.sentences


def find_last_ranges(
    sampling: Sampling, ranges: Mapping[str, Counts], held_out: Mapping[str, int]
) -> dict[str, LastRange]:
    """Returns language → the range of ranks that contains the rank of the last chosen sentence.

    A rank is the hash of a sentence. Sentences are chosen in the order of their ranks.

    Args:
      sampling: the settings that determine the number of sentences of each language.
      ranges: language → number of its sentences in each range of ranks, without held-out blocks.
      held_out: language → number of its sentences in held-out blocks, such as those of the split validation.
    """
    none = np.zeros(RANGES, np.int64)
    counts = {name: int(ranges.get(name, none).sum()) for name in sampling.languages}
    try:
        total = min(sampling.sentences, sum(counts.values()))
        shares = share_out(counts, sampling.temperature, total)
    except ValueError as error:
        raise InputError(" ".join(sampling.languages), str(error)) from None
    return {
        name: find_last_range(ranges.get(name, none), share, 0 if held_out.get(name) else HELD_OUT)
        for name, share in shares.items()
    }


def ranks_of_block(
    block: SentenceBlock, last_ranges: Mapping[str, LastRange]
) -> Iterator[tuple[str, Ranks]]:
    """Yields (language, ranks) for the sentences of a block whose ranks are in the language's last range.

    A rank is the hash of a sentence. Sentences are chosen in the order of their ranks. The last range is the
    range of ranks that contains the rank of the last chosen sentence. `last_ranges` maps each language to
    its last range. Yields nothing if no rank of the block is in this range.
    """
    ranks = ranks_in_range(block.ranks(), last_ranges[block.language])
    if len(ranks):
        yield block.language, ranks


def choose_all(
    last_ranges: Mapping[str, LastRange], ranks: Mapping[str, Ranks]
) -> dict[str, Choice]:
    """Returns language → Choice, which determines the sentences to use for training.

    A rank is the hash of a sentence. Sentences are chosen in the order of their ranks.

    Args:
      last_ranges: language → the range of ranks that contains the rank of the last chosen sentence.
      ranks: language → the ranks of its sentences in that range.
    """
    return {name: choose(last, ranks.get(name, NO_RANKS)) for name, last in last_ranges.items()}
