"""How many files a split is written to, and what they are called."""

from collections.abc import Collection, Iterator, Mapping

from transforms.text.fingerprint import SPLITS

SHARE = {"train": 0.90, "validation": 0.05, "test": 0.05}


def count_shards(text_bytes: int, shard_bytes: int) -> dict[str, int]:
    """Split → number of files, so that one holds about `shard_bytes` of text (UTF-8).

    From the size of all cleaned text and the shares of the splits: known before the articles are
    grouped, and the same however the dump is packed.
    """
    return {split: max(1, -(-int(text_bytes * SHARE[split]) // shard_bytes)) for split in SPLITS}


def missing_shards(
    shards: Mapping[str, int], names: Collection[str]
) -> Iterator[tuple[str, int, int]]:
    """(split, shard, shards) of those whose Parquet file is not among the names."""
    for split, count in shards.items():
        for shard in range(count):
            if parquet_name(split, shard, count) not in names:
                yield split, shard, count


def parquet_name(split: str, shard: int, shards: int) -> str:
    """ "train-00000-of-00016.parquet", as the Hugging Face hub names files."""
    return f"{split}-{shard:05d}-of-{shards:05d}.parquet"


def tfrecord_name(corpus: str, split: str, shard: int, shards: int) -> str:
    """ "wiki40b-train.tfrecord-00000-of-00016", as TensorFlow Datasets names files."""
    return f"{corpus}-{split}.tfrecord-{shard:05d}-of-{shards:05d}"
