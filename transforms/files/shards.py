"""Plans the number of files (shards) of each split, and their names."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from corpusmill.transforms.files.fingerprint import SPLITS

SHARE = {"train": 0.90, "validation": 0.05, "test": 0.05}


class Shard(NamedTuple):
    """One of the files (shards) into which a split is divided.

    Files that belong to no split, such as "books-00000-of-00001.tsv", are numbered in the same way.
    """

    split: str  # name of the split; for records, which are in no split, the name of their files
    shard: int
    shards: int  # number of shards of the split


def share_out(text_bytes: int) -> Iterator[tuple[str, int]]:
    """Yields (split, estimated bytes of its text): 90 % train, 5 % validation, 5 % test.

    `text_bytes` is the size of the cleaned text of all splits. It is known before articles are assigned to
    splits, and does not depend on the compression of the dump.
    """
    for split in SPLITS:
        yield split, int(text_bytes * SHARE[split])


def count_shards(sizes: Mapping[str, int], shard_size: int) -> dict[str, int]:
    """Returns split → number of files, so that a file has about `shard_size` bytes.

    `sizes` is split → bytes of text. Each split has at least one file.
    """
    return {split: max(1, -(-size // shard_size)) for split, size in sizes.items()}


def every_shard(shards: Mapping[str, int]) -> Iterator[tuple[str, int, int]]:
    """Yields (split, number of a shard, number of shards of the split) for all shards.

    `shards` is split → number of shards.
    """
    for split, count in shards.items():
        for shard in range(count):
            yield split, shard, count


def parquet_name(split: str, shard: int, shards: int) -> str:
    """Returns a file name such as "train-00000-of-00016.parquet", in the style of the Hugging Face hub."""
    return f"{split}-{shard:05d}-of-{shards:05d}.parquet"


def tsv_name(name: str, file: int, files: int) -> str:
    """Returns a file name such as "books-00000-of-00001.tsv"."""
    return f"{name}-{file:05d}-of-{files:05d}.tsv"


def json_name(name: str, file: int, files: int) -> str:
    """Returns a file name such as "pairs-00000-of-00001.jsonl"."""
    return f"{name}-{file:05d}-of-{files:05d}.jsonl"


def tfrecord_name(corpus: str, split: str, shard: int, shards: int) -> str:
    """Returns a name such as "wiki40b-train.tfrecord-00000-of-00016", in the style of TensorFlow Datasets."""
    return f"{corpus}-{split}.tfrecord-{shard:05d}-of-{shards:05d}"
