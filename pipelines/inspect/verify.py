"""Checks that finished builds match their manifests, and that no entity is in two splits.

Each file must have the size, SHA-256 and number of rows that the manifest lists, and there must be no other
files. CURRENT and README.md in the folders above builds must match the builds. The number of documents in
each split must equal the count in the manifest. No entity may be in two splits, across all languages of all
builds.

Compares a build of One Billion Word with a list of MD5 checksums: the one published with the benchmark, or
the output of md5sum(1). Lines without a checksum are skipped, because the published list is a README.
"""

import contextlib
import hashlib
import itertools
import json
import logging
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Unpack

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsList, AsSingleton

from corpusmill.transforms.books.catalog import released_splits
from corpusmill.transforms.files.builds.check_builds import (
    ID,
    CheckFiles,
    CheckSplits,
    ConflictBlock,
    Fault,
    IdCounts,
    check_counts,
    check_stats,
    count_buckets,
    find_unlisted,
    order,
    unpack_lines,
)
from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    CorpusFile,
    files_below,
    files_of,
    find_folders,
    is_under_construction,
    normalise,
    open_build,
    read_file,
    read_json,
)
from corpusmill.transforms.files.builds.manifest import COMPLETED, is_released
from corpusmill.transforms.files.markup import to_line, unprotect
from corpusmill.transforms.files.read_files import InputError, check_folder, match_inputs, open_raw
from corpusmill.transforms.files.terminal import count_of, name_some
from corpusmill.transforms.files.text import SPLITS, describe_difference, find_difference

from ..run.corpora import paper_of, shape_of, shapes
from ..run.editions import CURRENT, fault_of_current, find_wrong_cards
from ..run.engines.run_pipeline import run_pipeline
from .findings import (
    ALL_IS_WELL,
    COLUMNS,
    FAULTY,
    SHOWN,
    Means,
    add_report,
    print_count,
    print_first,
    reporting,
    write_lines,
)
from .language_model_scores import read_normalisers

CORPUS_OF_SUMS = "lm1b"  # the only corpus whose MD5 checksums were published
MOST_OTHER_WORDS = 0.01  # share of words or tokens by which a count may differ from that of a paper
Row = tuple[str, str, str]  # the three columns of a row of a report

DIFFERENT = "--reference shows where files differ from those of the list"
_UNFINISHED = (
    f"is not finished: there is no file {COMPLETED}; the build was interrupted, or the file was"
    " deleted"
)


READ_BYTES = 1 << 20
MD5_DIGITS = 32
_LISTED = re.compile(r"\s*([0-9a-fA-F]{24,})[ \t][ *]?(\S.*)")
_PART = re.compile(r"-\d{5}-of-\d{5}$")
_SHARD = re.compile(r"news\.\w+(\.heldout)?-\d{5}-of-\d{5}")


class Verdict(NamedTuple):
    """The result of a check. It contains only the first faults and conflicts; the report has all of them."""

    builds: int
    unlinked_builds: int  # number of builds with page ids, as their entities are unknown
    files: int
    counts: IdCounts
    fault_count: int
    faults: tuple[Fault, ...]
    conflicts: tuple[tuple[str, str], ...]  # (entity id, the places where it occurs)
    unread_builds: int = 0  # number of builds with entities, in formats whose rows cannot be read
    listed: int = 0  # number of files in the list of MD5 checksums; 0 without a list
    equal: int = 0  # number of these files that the build has, with the listed checksum

    @property
    def is_sound(self) -> bool:
        """True if there are no faults and no entity is in two splits."""
        return not self.fault_count and not self.counts.conflicts


def verify(
    folders: Sequence[str], *, md5_list: str = "", reference: str = "", **means: Unpack[Means]
) -> Verdict:
    """Checks all finished builds in `folders` and their subfolders.

    Args:
      folders: Builds, or folders above builds.
      md5_list: The path of a list of MD5 checksums of files of One Billion Word, with which the only build of
        this corpus in `folders` is compared; "" for none.
      reference: A folder with the output of the original scripts, or with the unpacked release, to find the
        first line of a file that differs from the list.
      means: How to run the check and where to write the report, see Means.

    Raises InputError if a folder has no finished build, if a file cannot be read because of a temporary
    error, or if there is a list but not exactly one build to compare with it.
    """
    found = find_folders(folders)
    builds, faults = [], []
    for folder in found.unfinished:
        if is_under_construction(folder):
            logging.getLogger(__name__).warning(
                "not checked, because the build is not finished: %s", folder
            )
        else:
            faults.append(Fault(folder, _UNFINISHED))
    for folder in found.finished:
        try:
            builds.append(open_build(folder))
        except InputError as error:
            if error.is_unread:
                raise
            faults.append(Fault(error.path, error.message))
    faults += _faults_above(found.finished, folders)
    if not md5_list:
        return check_builds(builds, faults, **means)
    compared = [build for build in builds if build.corpus == CORPUS_OF_SUMS]
    if len(compared) != 1:
        names = "".join(f" {build.folder}" for build in compared)
        raise InputError(
            ", ".join(folders),
            f"--md5 needs one build of {CORPUS_OF_SUMS}, but here are {len(compared)}{names and ':'}{names}",
        )
    sums = compare_with_list(compared[0], md5_list, reference)
    verdict = check_builds(builds, [*faults, *sums.faults], **means)
    return verdict._replace(listed=sums.listed, equal=sums.equal)


def _faults_above(finished: Sequence[str], folders: Sequence[str]) -> Iterator[Fault]:
    """Yields the faults of CURRENT and README.md in the parent folders of finished builds.

    Args:
      finished: The folders of the builds.
      folders: The folders to check. Parent folders outside these folders are not checked.
    """
    tops = tuple(f"{normalise(folder)}/" for folder in folders)
    above = {FileSystems.split(build)[0] for build in finished}
    editions = sorted(folder for folder in above if f"{folder}/".startswith(tops))
    for folder in editions:
        if fault := fault_of_current(folder):
            yield Fault(FileSystems.join(folder, CURRENT), fault)
    yield from itertools.starmap(Fault, find_wrong_cards(editions))


def check_builds(
    builds: Sequence[Build], faults: Iterable[Fault] = (), **means: Unpack[Means]
) -> Verdict:
    """Checks each build separately, and the splits of all builds together.

    Args:
      builds: Finished builds.
      faults: Faults that are already known, to be included in the result.
      means: How to run the check and where to write the report, see Means.
    """
    with reporting(**means) as (engine, path):
        known = [*faults, *(fault for build in builds for fault in _faults_of(build))]
        run_pipeline(lambda root: add_checks(root, builds, known, path), engine)
        return _read_verdict(path)


def add_checks(
    root: beam.Pipeline, builds: Sequence[Build], known: Sequence[Fault], report: str
) -> None:
    """Adds all steps of the check to a pipeline. The last step writes the report.

    Args:
      known: Faults that are already known, to be included in the report.
    """
    checked = root | "CheckFiles" >> CheckFiles(builds)
    ids = (
        checked.whole
        | "OfEntities" >> beam.Filter(_is_of, _of_entities())
        | "ReadIds" >> beam.FlatMap(read_file, (ID,))
    )
    splits = ids | "CheckSplits" >> CheckSplits(count_buckets(sum(map(_kept, builds))))
    settings = [build.manifest.get("settings", {}) for build in builds]
    unlinked = sum(of_build.get("identity") == "page id" for of_build in settings)
    unread = sum(build.corpus in _of_entities() and not build.readable for build in builds)
    rows = [
        *(("build", build.name, build.folder) for build in builds),
        ("checked", "unlinked builds", str(unlinked)),
        *([("checked", "unread builds", str(unread))] if unread else []),
        ("checked", "files", str(sum(len(build.manifest["outputs"]) for build in builds))),
    ]
    found = AsList(checked.faults), AsSingleton(splits.counts), AsList(splits.conflicts)
    add_report(root, report, write_report, rows, known, *found)


def _of_entities() -> list[str]:
    """Returns the names of the corpora whose documents have the id of an entity (a Wikidata item)."""
    return [corpus for corpus, shape in shapes().items() if shape.id == ID]


def _is_of(file: CorpusFile, corpora: Sequence[str]) -> bool:
    return file.corpus in corpora


def _kept(build: Build) -> int:
    """Returns the number of documents in a build that have an entity id, as stated in the manifest."""
    if build.corpus not in _of_entities():
        return 0
    return sum(build.manifest.get("counts", {}).get("kept", {}).get(split, 0) for split in SPLITS)


def _faults_of(build: Build) -> Iterator[Fault]:
    """Yields the faults that are found without reading the data files of a build.

    These are wrong counts in the manifest and stats.json, and files that do not belong to the build.
    """
    yield from check_counts(build)
    shape = shape_of(build.manifest)
    yield from check_stats(build, shape.unit if shape else "articles")
    yield from (Fault(path, "is not in the manifest") for path in find_unlisted(build))
    if is_released(build.manifest.get("settings", {})):
        yield from _differences(build)


def _differences(build: Build) -> Iterator[Fault]:
    """Yields the differences of a build from the published sizes of the release of which it is made.

    Splits of which files are missing are left out. Papers may count words in another way, so a small
    difference of words is none.
    """
    paper, kept = paper_of(build.signature), build.manifest["counts"]["kept"]
    left_out = build.manifest["settings"].get("incomplete", ())
    unit = shape.unit if (shape := shape_of(build.manifest)) else ""
    sizes: list[tuple[float, float, float, str]] = [
        (kept.get(split, 0), wanted, 0.0, f"{unit} of {split}")
        for split, wanted in paper.published(build.manifest).items()
        if split not in left_out
    ]
    with contextlib.suppress(InputError, LookupError, TypeError, ValueError):  # are faults already
        stats = read_json(build.folder, "stats.json")
        for split, wanted in paper.words.items():
            if split in kept and split not in left_out:
                words = read_normalisers({"stats": stats}, split).predicted_words
                sizes.append((words, wanted, MOST_OTHER_WORDS, f"words of {split}"))
        for size, (_, entries, _, tokens_per_entry) in paper.tables.items():
            if counted := stats.get(size):
                both: tuple[float, float]
                both = counted["vocabulary_with_unk_and_eos"], int(entries.replace(",", ""))
                sizes.append((*both, MOST_OTHER_WORDS, f"words in the vocabulary of {size}"))
                both = counted["tokens_per_vocabulary_word"], float(tokens_per_entry)
                sizes.append((*both, MOST_OTHER_WORDS, f"tokens per word in that of {size}"))
    for count, published, most, what in sizes:
        if abs(count - published) > published * most:
            yield Fault(build.folder, f"has {count:,} {what}, and {published:,} were published")
    if build.corpus == "pg19":
        with contextlib.suppress(InputError, ValueError):
            yield from _other_books(build, [one for one in SPLITS[1:] if one not in left_out])


def _other_books(build: Build, splits: Iterable[str]) -> Iterator[Fault]:
    """Yields a fault for each split that has other books of PG-19 than were published."""
    for split in splits:
        parts = (part for file in files_of(build, [split]) for part in read_file(file, ["book_id"]))
        ids = {book for part in parts for book in part.table["book_id"].to_pylist()}
        released = {book for book, of in released_splits().items() if of == split}
        if others := [str(book) for book in sorted(ids ^ released)]:
            books = f"the books {name_some(others)} are only in one of both"
            yield Fault(build.folder, f"{split} is not that of the release: {books}")


def write_report(
    path: str,
    rows: Sequence[Row],
    known: Sequence[Fault],
    found: Sequence[Fault],
    counts: IdCounts,
    conflicts: Sequence[ConflictBlock],
) -> None:
    """Writes the report: the checked builds, the faults sorted by path, and the entities that are in two
    splits.

    Args:
      rows: Rows about the checked builds and files.
      known, found: Faults, in any order.
      counts: The counts of entity ids.
      conflicts: Compressed lines about entities in two splits.
    """
    faults = sorted([*known, *found])
    head: list[Row] = [
        COLUMNS,
        *rows,
        *(("checked", name, str(count)) for name, count in counts._asdict().items()),
        ("checked", "faults", str(len(faults))),
        *(("fault", fault.path, fault.message) for fault in faults),
    ]

    def lines() -> Iterator[str]:
        for row in head:
            yield to_line(row)
        for block in sorted(conflicts):
            for line in unpack_lines(block).splitlines():
                yield to_line(("entity", *line.split("\t")))

    write_lines(path, lines())


def _read_verdict(path: str) -> Verdict:
    found: dict[str, list[tuple[str, str]]] = {
        kind: [] for kind in ("build", "checked", "fault", "entity")
    }
    with open_raw(path) as file:
        next(file)
        for line in file:
            kind, name, detail = map(unprotect, line.decode("utf-8").rstrip("\n").split("\t"))
            if kind in ("build", "checked") or len(found[kind]) < SHOWN:
                found[kind].append((name, detail))
            elif kind == "entity":
                break
    checked = {name: int(count) for name, count in found["checked"]}
    return Verdict(
        builds=len(found["build"]),
        unlinked_builds=checked["unlinked builds"],
        files=checked["files"],
        counts=IdCounts(*(checked[name] for name in IdCounts._fields)),
        fault_count=checked["faults"],
        faults=tuple(Fault(*fault) for fault in found["fault"]),
        conflicts=tuple(sorted(found["entity"], key=lambda one: order(one[0]))),
        unread_builds=checked.get("unread builds", 0),
    )


def to_json_line(verdict: Verdict) -> str:
    """Returns a verdict as one line of JSON."""
    told = verdict._asdict() | {
        "is_sound": verdict.is_sound,
        "counts": verdict.counts._asdict(),
        "faults": [fault._asdict() for fault in verdict.faults],
    }
    return json.dumps(told, ensure_ascii=False)


def print_verdict(verdict: Verdict, report: str = "", *, is_last: bool = True) -> None:
    """Prints a verdict as text.

    Args:
      report: The path of the file with all findings; "" if there is none.
      is_last: Whether the last line says that all is well, or what failed. A command that does more than this
        check has a last line of its own.
    """
    _print_checked(verdict, report)
    if not is_last:
        return
    if verdict.is_sound:
        print(ALL_IS_WELL)
    else:
        faults = count_of(verdict.fault_count + verdict.counts.conflicts, "fault")
        advice = DIFFERENT if verdict.listed else FAULTY
        print(f"FAILED: {faults}, listed above; {advice}")


def _print_checked(verdict: Verdict, report: str) -> None:
    counts = verdict.counts
    if verdict.listed:
        print(f"match the list: {verdict.equal:,} of the {verdict.listed:,} files in it")
    checked = f"checked: {count_of(verdict.builds, 'build')}, {count_of(verdict.files, 'file')}"
    print(f"{checked}, {counts.ids:,} rows" if counts.ids else checked)
    if counts.ids:
        shared = f"of which {counts.shared:,} are in two or more editions"
        print(f"entities: {counts.distinct:,}, {shared}")
        if verdict.unlinked_builds:
            print(
                f"not linked to Wikidata: {count_of(verdict.unlinked_builds, 'build')};\n"
                "  entities that occur in several such builds are unknown and were not checked"
            )
    if verdict.unread_builds:
        print(
            f"neither Parquet nor JSON lines: {count_of(verdict.unread_builds, 'build')};\n"
            "  the rows were not read, so it was not checked whether an entity is in two splits"
        )
    _print_found("faults of files", verdict.fault_count, verdict.faults, report)
    if counts.ids:
        _print_found("entities in two splits", counts.conflicts, verdict.conflicts, report)


def _print_found(what: str, count: int, first: Sequence[tuple[str, str]], report: str) -> None:
    print_count(what, count)
    print_first([f"{name}: {detail}" for name, detail in first], count, report)


class Comparison(NamedTuple):
    """The result of comparing a build with a list of checksums."""

    listed: int  # number of files in the list
    equal: int  # number of these files that the build has, with the listed checksum
    faults: list[Fault]  # files that differ, and shards that the build does not have


def compare_with_list(build: Build, md5_list: str, reference: str = "") -> Comparison:
    """Compares the files of a build with the MD5 checksums of a list.

    Files are found by their names; their folders may differ. The list may have other files than the build,
    such as the raw input, but the build must have all shards of the list.

    Args:
      build: the build.
      md5_list: the path of the list.
      reference: folder with the published release or the output of the original scripts. If a file of the
        build differs from the list, the fault has the first line that differs from this folder. "" for none.

    Raises InputError if the list is invalid, or if `reference` is not a folder.
    """
    sums = read_list(md5_list)
    if reference:
        check_folder(reference)
    ours = files_below(build.folder)
    theirs = files_below(reference.rstrip("/")) if reference else []
    equal, faults = 0, []
    for name, md5 in sums.items():
        paths = _find(name, ours)
        found = _md5_of(paths) if paths else ""
        equal += found == md5
        if paths and found != md5:
            faults.append(Fault(name, _describe(paths, found, md5, _find(name, theirs))))
        elif not paths and _SHARD.fullmatch(posixpath.basename(name)):
            faults.append(Fault(name, "is in the list of checksums, but not in the build"))
    if not equal and not faults:
        faults.append(Fault(md5_list, "lists no file of the build"))
    return Comparison(len(sums), equal, faults)


def read_list(path: str) -> dict[str, str]:
    """Reads a list of MD5 checksums. Returns name of a file → its MD5 in lower case.

    Raises InputError if a checksum is invalid, if a file has two, or if the list has none.
    """
    [path] = match_inputs([path])[:1]
    sums: dict[str, str] = {}
    with open_raw(path) as file:
        lines = file.read().decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, 1):
        if match := _LISTED.fullmatch(line):
            md5, name = match[1].lower(), match[2]
            if len(md5) != MD5_DIGITS:
                wrong = f"{len(md5)} hexadecimal digits before {name}; an MD5 checksum has 32"
                raise InputError(path, f"line {number}: {wrong}")
            if sums.setdefault(name, md5) != md5:
                raise InputError(path, f"line {number}: {name} has another checksum above")
    if not sums:
        raise InputError(path, "the list has no MD5 checksum")
    return sums


def _find(name: str, paths: Sequence[str]) -> list[str]:
    """Returns the paths of a file; several if it is stored in parts, such as "name-00000-of-00002"."""
    base = posixpath.basename(name)
    named = {path: posixpath.basename(path) for path in paths}
    return sorted(path for path in paths if base in (named[path], _PART.sub("", named[path])))


def _md5_of(paths: Sequence[str]) -> str:
    digest = hashlib.md5(usedforsecurity=False)
    for path in paths:
        with open_raw(path) as stream:
            while piece := stream.read(READ_BYTES):
                digest.update(piece)
    return digest.hexdigest()


def _describe(paths: Sequence[str], found: str, md5: str, reference: Sequence[str]) -> str:
    told = f"has the MD5 {found}, but {md5} in the list"
    if not reference:
        return told
    if not (difference := find_difference(_read_lines(paths), _read_lines(reference))):
        return f"{told}; equals the reference"
    shown = describe_difference(difference, "the build", "the reference")
    return f"{told}; first difference: {shown}"


def _read_lines(paths: Sequence[str]) -> Iterator[bytes]:
    """Yields the lines of a text that is stored in one or several files."""
    for path in paths:
        with open_raw(path) as stream:
            yield from iter(stream.readline, b"")
