"""Names the files of a corpus of shuffled sentences, and assigns them to splits.

The text files are named like those of the published One Billion Word corpus. Shard 0 of the corpus is held
out, and divided into smaller shards. As in TensorFlow Datasets, the split "train" has all other shards, and
the split "test" has all held-out sentences. The paper evaluates only on the first of the smaller shards. This
is the split "paper_test"; its sentences are also in "test".
"""

from collections.abc import Mapping
from typing import Any

from ..files.formats import TEXT, formats_in
from ..files.text import Shard

TRAIN, HELDOUT = "train", "heldout"  # series of shards
HELD_OUT_SHARD = 0  # of the series "train"
PAPER_SHARD = 0  # of the series "heldout"

SPLITS = ("train", "test", "paper_test")

TRAIN_FOLDER = "training-monolingual.tokenized.shuffled"
HELDOUT_FOLDER = "heldout-monolingual.tokenized.shuffled"


def text_name(series: str, shard: int, shards: int, language: str) -> str:
    """Returns the path of a text file, in a form like that of the published corpus.

    An example is "training-monolingual.tokenized.shuffled/news.en-00001-of-00100".

    Args:
      series: TRAIN for the shards of the corpus, HELDOUT for the parts of the held-out shard.
      shard: the number of the shard in its series.
      shards: the number of shards of the series.
      language: language code.
    """
    numbers = f"{shard:05d}-of-{shards:05d}"
    if series == HELDOUT:
        return f"{HELDOUT_FOLDER}/news.{language}.heldout-{numbers}"
    folder = HELDOUT_FOLDER if shard == HELD_OUT_SHARD else TRAIN_FOLDER
    return f"{folder}/news.{language}-{numbers}"


def split_of(series: str, shard: int) -> str:
    """Returns the split of a text file.

    Returns "" for shard 0 of the corpus, which is held out: its parts, not the whole shard, are in "test".

    Args:
      series: TRAIN for the shards of the corpus, HELDOUT for the parts of the held-out shard.
      shard: the number of the shard in its series.
    """
    if series == HELDOUT:
        return "test"
    return "" if shard == HELD_OUT_SHARD else "train"


def tables_of(series: str, shard: int, shards: int) -> tuple[Shard, ...]:
    """Returns the shards in other formats that get the sentences of a text file.

    Each returned shard is (split, number of this shard, number of shards in the split). The result is () for
    shard 0 of the corpus, which is held out: its sentences are taken from the files of its parts instead.

    Args:
      series: TRAIN for the shards of the corpus, HELDOUT for the parts of the held-out shard.
      shard: the number of the text file in its series.
      shards: the number of text files of the series.
    """
    if series == HELDOUT:
        test = Shard("test", shard, shards)
        return (test, Shard("paper_test", 0, 1)) if shard == PAPER_SHARD else (test,)
    return () if shard == HELD_OUT_SHARD else (Shard("train", shard - 1, shards - 1),)


def table_formats(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the formats that a build has beside its text files, which it always has."""
    return tuple(one for one in formats_in(settings) if one != TEXT)
