"""A hash that is fixed forever, and what is decided by it: splits, shards and order.

`fingerprint(text)` is the first eight bytes of the SHA-256 of the UTF-8 text, big-endian: any
language can recompute it. Python's own `hash`, which the Wiki-40B paper names, is salted per process.
"""

import hashlib
from collections.abc import Iterable

SPLITS = ("train", "validation", "test")
_BITS = 64


def fingerprint(text: str) -> int:
    """An unsigned 64-bit hash of the text."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big")


def split_of(identity: str) -> str:
    """The split of an identity: 90 % train, 5 % validation, 5 % test (Guo et al. 2020, section 2.4)."""
    bucket = fingerprint(identity) % 100
    if bucket < 90:
        return "train"
    return "validation" if bucket < 95 else "test"


def shard_of(identity: str, shard_count: int) -> int:
    """The shard of an identity: shards are equal ranges of the fingerprint.

    Read one after the other, the shards are in fingerprint order whatever their number.
    """
    return fingerprint(identity) * shard_count >> _BITS


def short_fingerprint(lines: Iterable[str]) -> str:
    """Eight hexadecimal digits for a list, a part of names; "" for an empty one."""
    text = "\n".join(lines)
    return f"{fingerprint(text):016x}"[:8] if text else ""
