"""Parses the file names of One Billion Word: in its scripts, its release and its list of MD5 checksums."""

import enum
import posixpath
import re

from corpusmill.transforms.files.shards import parquet_name
from corpusmill.transforms.news.shard_names import HELD_OUT_SHARD, HELDOUT, TRAIN, tables_of


class Kind(enum.StrEnum):
    """Kinds of files, in the order in which they are made from each other."""

    ARCHIVE = "archive"  # archive of raw input
    RAW = "raw input"
    SORTED = "sorted lines"
    TOKENIZED = "tokenised lines"
    TRAIN = "training shard"
    HELDOUT = "held-out shard"  # shard 0, or one of the shards that it is split into
    OTHER = "other file"


CHECKPOINTS = (Kind.SORTED, Kind.TOKENIZED)
SHARDS = (Kind.TRAIN, Kind.HELDOUT)

_KINDS = (
    (Kind.ARCHIVE, re.compile(r".+\.(tgz|zip|tar(\.\w+)?)")),
    (Kind.RAW, re.compile(r"news\.\d{4}\.\w+\.shuffled(\.\w+)?")),
    (Kind.SORTED, re.compile(r"news\..+\.sorted")),
    (Kind.TOKENIZED, re.compile(r"news\..+\.sorted\.tokenized")),
)
_NUMBERS = r"-(?P<number>\d{5})-of-(?P<count>\d{5})"
_SHARD = re.compile(rf"news\.\w+(?P<heldout>\.heldout)?{_NUMBERS}")
_NUMBERED = re.compile(rf"(?P<stem>.+){_NUMBERS}")


def kind_of(name: str) -> Kind:
    """Returns the kind of a file, given its name. Only the last part of the path is used."""
    shard = shard_of(name)
    if shard:
        series, number, _ = shard
        return Kind.HELDOUT if series == HELDOUT or number == HELD_OUT_SHARD else Kind.TRAIN
    base = posixpath.basename(name)
    return next((kind for kind, pattern in _KINDS if pattern.fullmatch(base)), Kind.OTHER)


def shard_of(name: str) -> tuple[str, int, int] | None:
    """Parses the name of a text shard, such as "news.en-00003-of-00100".

    Returns (TRAIN or HELDOUT, number of the shard, number of shards), or None for other names.
    """
    match = _SHARD.fullmatch(posixpath.basename(name))
    if not match:
        return None
    return HELDOUT if match["heldout"] else TRAIN, int(match["number"]), int(match["count"])


def part_of(name: str) -> tuple[str, int, int] | None:
    """Parses the name of a part of a file, such as "news.en-00003-of-00100".

    Returns (name of the whole file, number of the part, number of parts), or None for other names.
    """
    match = _NUMBERED.fullmatch(name)
    return (match["stem"], int(match["number"]), int(match["count"])) if match else None


def parquet_twin(name: str) -> str:
    """Returns the name of the Parquet file of a build that has the same lines as the text shard `name`.

    Returns "" if `name` is not the name of a shard, or the shard has no Parquet file.
    """
    shard = shard_of(name)
    tables = tables_of(*shard) if shard else ()
    return parquet_name(*tables[0]) if tables else ""
