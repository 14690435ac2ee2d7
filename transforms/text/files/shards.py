"""Plans the number of files of a split, and their names."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from transforms.text.fingerprint import SPLITS

SHARE = {"train": 0.90, "validation": 0.05, "test": 0.05}


class Shard(NamedTuple):
    """A shard of a split, or a file of records, which are numbered alike."""

    split: str  # or the name of the files, for records, which are in no split
    shard: int
    shards: int  # of the split


def share_out(text_bytes: int) -> Iterator[tuple[str, int]]:
    """(split, bytes of text), from the size of all cleaned text and the shares of the splits.

    Known before the articles are grouped, and the same however the dump is packed.
    """
    for split in SPLITS:
        yield split, int(text_bytes * SHARE[split])


def count_shards(sizes: Mapping[str, int], shard_size: int) -> dict[str, int]:
    """Split → number of files, one at least, so that one holds about `shard_size`."""
    return {split: max(1, -(-size // shard_size)) for split, size in sizes.items()}


def every_shard(shards: Mapping[str, int]) -> Iterator[tuple[str, int, int]]:
    """(split, shard, shards) of all."""
    for split, count in shards.items():
        for shard in range(count):
            yield split, shard, count


def parquet_name(split: str, shard: int, shards: int) -> str:
    """ "train-00000-of-00016.parquet", as the Hugging Face hub names files."""
    return f"{split}-{shard:05d}-of-{shards:05d}.parquet"


def tsv_name(name: str, file: int, files: int) -> str:
    """ "books-00000-of-00001.tsv" """
    return f"{name}-{file:05d}-of-{files:05d}.tsv"


def json_name(name: str, file: int, files: int) -> str:
    """ "pairs-00000-of-00001.jsonl" """
    return f"{name}-{file:05d}-of-{files:05d}.jsonl"


def tfrecord_name(corpus: str, split: str, shard: int, shards: int) -> str:
    """ "wiki40b-train.tfrecord-00000-of-00016", as TensorFlow Datasets names files."""
    return f"{corpus}-{split}.tfrecord-{shard:05d}-of-{shards:05d}"
