"""Computes a fixed hash of texts, which determines splits, shards and the order of documents.

`fingerprint(text)` is the first eight bytes, big-endian, of the SHA-256 of the UTF-8 text, so that it can be
computed in any programming language. Python's own `hash`, which the Wiki-40B paper names, is different in
each process.
"""

import hashlib
from collections.abc import Iterable

SPLITS = ("train", "validation", "test")
_BITS = 64


def fingerprint(text: str) -> int:
    """Returns an unsigned 64-bit hash of the text."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big")


def split_of(identity: str) -> str:
    """Returns the split of a document, given the text that identifies it, such as "gutenberg:84".

    90 % of all documents are in train, 5 % in validation and 5 % in test (Guo et al. 2020, section 2.4).
    """
    bucket = fingerprint(identity) % 100
    if bucket < 90:
        return "train"
    return "validation" if bucket < 95 else "test"


def shard_of(identity: str, shard_count: int) -> int:
    """Returns the number of a document's shard, given the text that identifies it.

    The range of all fingerprints is divided equally among the shards. So for any number of shards, the
    concatenated shards are in the order of the fingerprints.
    """
    return fingerprint(identity) * shard_count >> _BITS


def short_fingerprint(lines: Iterable[str]) -> str:
    """Returns eight hexadecimal digits that identify the content of `lines`, for use in signatures of builds.

    Returns "" if there are no lines.
    """
    text = "\n".join(lines)
    return f"{fingerprint(text):016x}"[:8] if text else ""
