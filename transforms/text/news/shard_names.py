"""Names the files of a corpus of shuffled sentences, and assigns them to splits.

The text files are named like those of the published One Billion Word corpus. Its shard 0 is held out and
split once more. As in TensorFlow Datasets, the split train has all other shards, and test has all held-out
sentences. The paper evaluates only on held-out shard 0: this is the split "paper_test", whose sentences are
also in test.
"""

from transforms.text.files.shards import Shard

TRAIN, HELDOUT = "train", "heldout"  # series of shards
HELD_OUT_SHARD = 0  # of the series "train"
PAPER_SHARD = 0  # of the series "heldout"

SPLITS = ("train", "test", "paper_test")

TRAIN_FOLDER = "training-monolingual.tokenized.shuffled"
HELDOUT_FOLDER = "heldout-monolingual.tokenized.shuffled"


def text_name(series: str, shard: int, shards: int, language: str) -> str:
    """Returns a path such as "training-monolingual.tokenized.shuffled/news.en-00001-of-00100"."""
    numbers = f"{shard:05d}-of-{shards:05d}"
    if series == HELDOUT:
        return f"{HELDOUT_FOLDER}/news.{language}.heldout-{numbers}"
    folder = HELDOUT_FOLDER if shard == HELD_OUT_SHARD else TRAIN_FOLDER
    return f"{folder}/news.{language}-{numbers}"


def split_of(series: str, shard: int) -> str:
    """Returns the split of a text file.

    Returns "" for the whole held-out shard, whose parts are in test.
    """
    if series == HELDOUT:
        return "test"
    return "" if shard == HELD_OUT_SHARD else "train"


def tables_of(series: str, shard: int, shards: int) -> tuple[Shard, ...]:
    """Returns the shards (split, number, count) in which the sentences of a text file are stored as
    tables.
    """
    if series == HELDOUT:
        test = Shard("test", shard, shards)
        return (test, Shard("paper_test", 0, 1)) if shard == PAPER_SHARD else (test,)
    return () if shard == HELD_OUT_SHARD else (Shard("train", shard - 1, shards - 1),)
