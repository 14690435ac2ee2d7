"""A fixed hash of texts. It decides splits, shards and the order of documents.

`fingerprint(text)` is the first eight bytes, big-endian, of the SHA-256 of the UTF-8 text, so that any
language can recompute it. Python's own `hash`, which the Wiki-40B paper names, is salted per process.
"""

import hashlib
from collections.abc import Iterable

SPLITS = ("train", "validation", "test")
_BITS = 64


def fingerprint(text: str) -> int:
    """Returns an unsigned 64-bit hash of the text."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big")


def split_of(identity: str) -> str:
    """Returns the split of an identity: 90 % train, 5 % validation, 5 % test (Guo et al. 2020, sec. 2.4)."""
    bucket = fingerprint(identity) % 100
    if bucket < 90:
        return "train"
    return "validation" if bucket < 95 else "test"


def shard_of(identity: str, shard_count: int) -> int:
    """Returns the number of the shard of an identity. Shards are equal ranges of the fingerprint.

    The shards in order are in fingerprint order, for any number of shards.
    """
    return fingerprint(identity) * shard_count >> _BITS


def short_fingerprint(lines: Iterable[str]) -> str:
    """Returns eight hexadecimal digits for the lines, for use in names; "" if there are no lines."""
    text = "\n".join(lines)
    return f"{fingerprint(text):016x}"[:8] if text else ""
