"""What the sums that do not fit tell together: where a build of One Billion Word went another way.

The n-th of all sorted lines gets the n-th value of a generator. So one line more or less moves all lines
behind it to other shards; a line that is tokenised in another way changes nothing but its own shard.
"""

import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from transforms.text.news.artefact_names import SHARDS, Kind, kind_of

PUBLISHED_SORTED_MD5 = "375c861b071c9911a3647a620a721486"
PUBLISHED_SENTENCES = 30_607_716  # README of the benchmark

ORIGINAL_SETTINGS: Mapping[str, Any] = {
    "language": "en",
    "deduplicate": "raw",
    "near_duplicates": 0,
    "lower_case": False,
    "map_unknown": False,
    "shards": 100,
    "heldout_shards": 50,
}
"""Setting that decides about the text of the shards → its value where a build does what the scripts do."""

_TELLING = ("corpusmill", "python", "unicode")  # versions that decide about the text
_EMPTY_MD5 = "d41d8cd98f00b204e9800998ecf8427e"  # shards without lines fit by themselves


class Status(enum.StrEnum):
    """What became of an artefact of the list, or of a file that the list does not name."""

    DIFFERENT = "different"  # from the list, and as the build wrote it
    DAMAGED = "damaged"  # different, and not as the build wrote it
    MISSING = "missing"
    NOT_COMPARED = "not compared"  # a build need not have it
    NOT_IN_LIST = "not in the list"
    EQUAL = "equal"


FAULTS = (Status.DIFFERENT, Status.DAMAGED, Status.MISSING)


class Finding(NamedTuple):
    """One artefact."""

    status: Status
    name: str  # as the list says, or below the build
    detail: str  # where it is EQUAL, its MD5


class Facts(NamedTuple):
    """What a build tells of itself."""

    settings: Mapping[str, Any]
    sentences: int  # in all shards
    rejected: int  # lines that were read, and are no text
    lost: int  # parts of the input that could not be read
    code: Mapping[str, str]  # package → version
    is_published: bool  # the list is that of the published corpus


def find_reasons(findings: Iterable[Finding], facts: Facts) -> Iterator[str]:
    """Sentences for a person; none where nothing is wrong."""
    statuses: dict[Kind, set[Status]] = {}
    for one in findings:
        if (one.status, one.detail) != (Status.EQUAL, _EMPTY_MD5):
            statuses.setdefault(kind_of(one.name), set()).add(one.status)
    found = set().union(*statuses.values())
    if Status.DAMAGED in found:
        yield (
            "Files are not what the build has written (SHA-256 in its manifest): they were changed or"
            " damaged since. `corpusmill verify DIR` looks at all files."
        )
    if not found & {Status.DIFFERENT, Status.MISSING}:
        return
    settings = list(_other_settings(facts.settings))
    if settings:
        yield f"Settings of the build that are not those of the original: {', '.join(settings)}."
    if Status.DIFFERENT in found:
        yield "Files that are called different are whole, and belong to another corpus."
        yield _first_step(statuses)
        yield from _counts(facts)


def _other_settings(settings: Mapping[str, Any]) -> Iterator[str]:
    for name, original in ORIGINAL_SETTINGS.items():
        if name in settings and settings[name] != original:
            yield f"{name} {settings[name]!r} (original: {original!r})"


def _first_step(statuses: Mapping[Kind, set[Status]]) -> str:
    """The first of the steps whose output differs, as far as the artefacts tell."""
    ordered, tokenized = (statuses.get(kind, set()) for kind in (Kind.SORTED, Kind.TOKENIZED))
    shards = set().union(*(statuses.get(kind, set()) for kind in SHARDS))
    if Status.DIFFERENT in ordered:
        return "The sorted lines differ already: the input was another, or duplicates were dropped otherwise."
    if Status.DIFFERENT in tokenized:
        before = "The sorted lines fit, the" if Status.EQUAL in ordered else "The"
        return (
            f"{before} tokenised lines do not: normalisation or tokenisation differ, as with other rules"
            " or another version of Unicode."
        )
    if Status.EQUAL in tokenized:
        return "The tokenised lines fit, shards do not: the shuffle differs."
    if Status.EQUAL in shards:
        return (
            "Some shards fit, so lines have their places: most likely they are the same lines, of which"
            " some were normalised or tokenised otherwise, as with other rules or another version of"
            " Unicode."
        )
    return (
        "No shard fits: there are other lines, or other settings. A build with --checkpoints keeps what"
        " tells which step is the first that differs."
    )


def _counts(facts: Facts) -> Iterator[str]:
    published = f"; the published corpus has {PUBLISHED_SENTENCES:,}" if facts.is_published else ""
    yield f"The build has {facts.sentences:,} sentences{published}."
    if facts.rejected or facts.lost:
        yield (
            f"It has rejected {facts.rejected:,} lines, and could not read {facts.lost:,} parts of its"
            " input; the scripts know neither."
        )
    if facts.code:
        code = ", ".join(f"{name} {facts.code[name]}" for name in _TELLING if name in facts.code)
        yield f"It was made by {code}."
