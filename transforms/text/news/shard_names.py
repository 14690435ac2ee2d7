"""The files of a corpus of shuffled sentences, and which split they are.

The text files have the names of the published One Billion Word corpus; its shard 0 is held out and split
once more. As in TensorFlow Datasets, train is all other shards, and test is all that is held out. The
paper measures on held-out shard 0 alone: that is the split "paper_test", whose sentences test has too.
"""

from transforms.text.files.shards import Shard

TRAIN, HELDOUT = "train", "heldout"  # series of shards
HELD_OUT_SHARD = 0  # of the series "train"
PAPER_SHARD = 0  # of the series "heldout"

SPLITS = ("train", "test", "paper_test")

TRAIN_FOLDER = "training-monolingual.tokenized.shuffled"
HELDOUT_FOLDER = "heldout-monolingual.tokenized.shuffled"


def text_name(series: str, shard: int, shards: int, language: str) -> str:
    """ "training-monolingual.tokenized.shuffled/news.en-00001-of-00100" """
    numbers = f"{shard:05d}-of-{shards:05d}"
    if series == HELDOUT:
        return f"{HELDOUT_FOLDER}/news.{language}.heldout-{numbers}"
    folder = HELDOUT_FOLDER if shard == HELD_OUT_SHARD else TRAIN_FOLDER
    return f"{folder}/news.{language}-{numbers}"


def split_of(series: str, shard: int) -> str:
    """The split of a text file; "" for the held-out shard, which is there in its parts."""
    if series == HELDOUT:
        return "test"
    return "" if shard == HELD_OUT_SHARD else "train"


def tables_of(series: str, shard: int, shards: int) -> tuple[Shard, ...]:
    """The shards of splits that have the sentences of a text file."""
    if series == HELDOUT:
        test = Shard("test", shard, shards)
        return (test, Shard("paper_test", 0, 1)) if shard == PAPER_SHARD else (test,)
    return () if shard == HELD_OUT_SHARD else (Shard("train", shard - 1, shards - 1),)
