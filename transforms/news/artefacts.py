"""Names the files of a corpus of shuffled sentences, and assigns them to splits.

The text files are named like those of the published One Billion Word corpus. Shard 0 of the corpus is held
out, and divided into smaller shards. As in TensorFlow Datasets, the split "train" has all other shards, and
the split "test" has all held-out sentences. The paper evaluates only on the first of the smaller shards. This
is the split "paper_test"; its sentences are also in "test".

Parses the file names of One Billion Word: in its scripts, its release and its list of MD5 checksums.

Finds the files of a checksum list in a folder, even if the list has other folder names.

Defines the results of comparing a build of One Billion Word with a list of MD5 checksums.

Reads lists of MD5 checksums in the formats of md5sum(1) and of the BSDs.

Lines without a checksum are skipped, because the published list of One Billion Word is a README. A line with
an invalid checksum, such as one that lost a digit when it was copied, raises an error.
"""

import collections
import enum
import itertools
import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..files.text import Shard, parquet_name

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
    """Returns the Parquet and TFRecord shards that get the sentences of a text file.

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


class ArtefactError(ValueError):
    """Raised if a file name is ambiguous, or if parts of a file are missing."""


class ArtefactFinder:
    """Finds files by their names.

    Args:
      names: names of the files, relative to the folder.
    """

    def __init__(self, names: Iterable[str]):
        self._files: dict[str, list[str]] = collections.defaultdict(list)  # base name → names
        self._parts: dict[str, dict[str, dict[tuple[int, int], str]]] = collections.defaultdict(
            lambda: collections.defaultdict(dict)
        )  # base name of the whole → name of the whole → its parts
        for name in sorted(names):
            self._files[posixpath.basename(name)].append(name)
            if part := part_of(name):
                whole, number, count = part
                self._parts[posixpath.basename(whole)][whole][number, count] = name

    def find(self, name: str) -> tuple[str, ...]:
        """Finds a file by its path `name`, whose first folders may differ. Returns (path of the file,).

        At least the file name must be equal. Of several such files, the one whose path has the most folders
        at its end in common with `name` is returned. If the file exists only in parts, returns the paths of
        all parts in order. Returns () if there is no such file.

        Raises ArtefactError if several files match equally well, or if parts are missing.
        """
        base = posixpath.basename(name)
        if found := self._files.get(base):
            return (_choose(found, name),)
        if wholes := self._parts.get(base):
            whole = _choose(wholes, name)
            return _in_order(whole, wholes[whole])
        return ()


def _choose(names: Iterable[str], wanted: str) -> str:
    """Returns the path in `names` that has the most parts at its end in common with the path `wanted`.

    Parts are the names of folders and of the file. In a tie, a path without further parts is preferred.
    Raises ArtefactError if several paths remain.
    """
    shared = {name: _shared_parts(name, wanted) for name in names}
    most = max(shared.values())
    best = [name for name in shared if shared[name] == most]
    whole = [name for name in best if most == len(name.split("/"))]
    if len(whole or best) > 1:
        raise ArtefactError(f"the name is ambiguous, it may be any of {', '.join(best)}")
    return (whole or best)[0]


def _shared_parts(name: str, other: str) -> int:
    pairs = zip(reversed(name.split("/")), reversed(other.split("/")), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _in_order(whole: str, parts: Mapping[tuple[int, int], str]) -> tuple[str, ...]:
    """Returns the names of all parts of a file in order. Raises ArtefactError if some are missing."""
    _, count = min(parts)
    expected = [(number, count) for number in range(count)]
    missing = [number for number, _ in expected if (number, count) not in parts]
    if missing:
        raise ArtefactError(
            f"{len(missing)} of the {count} parts of {whole} are missing, the first is {missing[0]:05d}"
        )
    if len(parts) > count:
        raise ArtefactError(f"there are several sets of parts of {whole}: keep only one of them")
    return tuple(parts[one] for one in expected)


class Status(enum.StrEnum):
    """The result of the comparison for a file of the list, or for a file of the build that is not in the
    list.
    """

    DIFFERENT = "different"  # not as in the list, but as the build wrote it
    DAMAGED = "damaged"  # neither as in the list nor as the build wrote it
    MISSING = "missing"
    NOT_COMPARED = "not compared"  # the build does not have this file, and need not have it
    NOT_IN_LIST = "not in the list"
    EQUAL = "equal"


FAULTS = (Status.DIFFERENT, Status.DAMAGED, Status.MISSING)


class Finding(NamedTuple):
    """The result of comparing the checksum of one file."""

    status: Status
    name: str  # as in the list, or relative to the folder of the build
    detail: str  # description of the result; for EQUAL, the MD5 checksum


MD5_DIGITS = 32
# at least this many hexadecimal digits before a name count as a checksum, valid or not
_NAMED_DIGITS = 24
_SHA_DIGITS = {40: "SHA-1", 56: "SHA-224", 64: "SHA-256", 96: "SHA-384", 128: "SHA-512"}

_GNU = re.compile(
    rf"\s*(?P<escaped>\\?)(?P<sum>[0-9a-fA-F]{{{_NAMED_DIGITS},}})[ \t][ *]?(?P<name>\S.*)"
)
_BSD = re.compile(
    r"\s*(?P<escaped>\\?)(?P<kind>[A-Z][A-Z0-9/-]*) \((?P<name>.+)\) = (?P<sum>[0-9a-fA-F]+)\s*"
)
_ESCAPE = re.compile(
    r"\\([\\nr])"
)  # md5sum(1) of coreutils escapes names only in lines that begin with a backslash
_ESCAPED = {"\\": "\\", "n": "\n", "r": "\r"}


class ListedSum(NamedTuple):
    """A file name in a list of checksums, and the checksum of the file."""

    name: str  # a path, often on another machine
    md5: str  # in lower case
    line: int  # line number in the list, from 1


class MalformedListError(ValueError):
    """Raised if a list of checksums is invalid. If a line is invalid, the message names this line."""


def read_checksums(text: str) -> list[ListedSum]:
    """Returns the checksums in a list, in order, each file name once.

    Raises MalformedListError if a checksum is invalid, a file has two different checksums, or the list is
    empty.
    """
    found: dict[str, ListedSum] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        listed = _read_line(line.removesuffix("\r"), number)
        if not listed:
            continue
        first = found.setdefault(listed.name, listed)
        if first.md5 != listed.md5:
            raise MalformedListError(
                f"line {number}: the checksum of {listed.name} differs from that in line {first.line}"
            )
    if not found:
        raise MalformedListError("the list has no MD5 checksum")
    return list(found.values())


def _read_line(line: str, number: int) -> ListedSum | None:
    if match := _BSD.fullmatch(line):
        if match["kind"] != "MD5":
            raise MalformedListError(
                f"line {number}: expected MD5 checksums, found {match['kind']}"
            )
    elif not (match := _GNU.fullmatch(line)):
        return None
    name = _unescape(match["name"]) if match["escaped"] else match["name"]
    digits = len(match["sum"])
    if digits in _SHA_DIGITS:
        raise MalformedListError(
            f"line {number}: expected MD5 checksums, found {_SHA_DIGITS[digits]}"
        )
    if digits != MD5_DIGITS:
        raise MalformedListError(
            f"line {number}: {digits} hexadecimal digits before {name}; an MD5 checksum has {MD5_DIGITS}"
        )
    return ListedSum(name, match["sum"].lower(), number)


def _unescape(name: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED[match[1]], name)
