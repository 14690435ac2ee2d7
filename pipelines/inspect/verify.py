"""Checks that finished builds match their manifests, and that no entity is in two splits.

Each file must have the size, SHA-256 and number of rows that the manifest lists, and there must be no other
files. CURRENT and README.md in the folders above builds must match the builds. The number of documents in
each split must equal the count in the manifest. No entity may be in two splits, across all languages of all
builds.

Compares a finished build of One Billion Word with a list of MD5 checksums, and reports the differences.

The list is the one published with the benchmark, or the output of md5sum(1) for the files that the original
scripts wrote.
"""

import itertools
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Unpack

import apache_beam as beam
from apache_beam.io.filesystems import FileSystems
from apache_beam.pvalue import AsList, AsSingleton

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
    find_strangers,
    lists_all_files,
    order,
    unpack_lines,
)
from corpusmill.transforms.files.builds.finished_builds import (
    Build,
    CorpusFile,
    find_builds,
    find_folders,
    is_under_construction,
    normalise,
    open_build,
    read_file,
)
from corpusmill.transforms.files.builds.manifest import COMPLETED
from corpusmill.transforms.files.markup import protect, to_line, unprotect
from corpusmill.transforms.files.read_files import InputError, open_raw
from corpusmill.transforms.files.text import SPLITS
from corpusmill.transforms.news.artefacts import FAULTS, Finding, Status
from corpusmill.transforms.news.check_checksums import (
    OF_BUILD,
    CheckChecksums,
    Plan,
    plan_comparisons,
    read_list,
)

from ..run.corpora import shapes
from ..run.editions import CURRENT, fault_of_current, find_wrong_cards
from ..run.engines.run_pipeline import run_pipeline
from ..run.launch import progress_shown
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
from .html_report.facts import count

Row = tuple[str, str, str]  # the three columns of a row of a report

_UNFINISHED = (
    f"is not finished: there is no file {COMPLETED}; the build was interrupted, or the file was"
    " deleted"
)


class Verdict(NamedTuple):
    """The result of a check. It contains only the first faults and conflicts; the report has all of them."""

    builds: int
    older_builds: int  # number of builds whose manifests do not list the small files
    unlinked_builds: int  # number of builds with page ids, as their entities are unknown
    files: int
    counts: IdCounts
    fault_count: int
    faults: tuple[Fault, ...]
    conflicts: tuple[tuple[str, str], ...]  # (entity id, the places where it occurs)

    @property
    def is_sound(self) -> bool:
        """True if there are no faults and no entity is in two splits."""
        return not self.fault_count and not self.counts.conflicts


def verify(folders: Sequence[str], **means: Unpack[Means]) -> Verdict:
    """Checks all finished builds in `folders` and their subfolders.

    Args:
      folders: Builds, or folders above builds.
      means: How to run the check and where to write the report, see Means.

    Raises InputError if a folder has no finished build, or if a file cannot be read because of a temporary
    error.
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
    return check_builds(builds, faults, **means)


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
    rows = [
        *(("build", build.name, build.folder) for build in builds),
        ("checked", "older builds", str(sum(not lists_all_files(build) for build in builds))),
        ("checked", "unlinked builds", str(sum(map(_is_unlinked, builds)))),
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


def _is_unlinked(build: Build) -> bool:
    return bool(build.manifest.get("settings", {}).get("identity") == "page id")


def _faults_of(build: Build) -> Iterator[Fault]:
    """Yields the faults that are found without reading the data files of a build.

    These are wrong counts in the manifest and stats.json, and files that do not belong to the build.
    """
    yield from check_counts(build)
    shape = shapes().get(build.corpus)
    yield from check_stats(build, shape.unit if shape else "articles")
    yield from find_strangers(build)


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
        older_builds=checked["older builds"],
        unlinked_builds=checked["unlinked builds"],
        files=checked["files"],
        counts=IdCounts(*(checked[name] for name in IdCounts._fields)),
        fault_count=checked["faults"],
        faults=tuple(Fault(*fault) for fault in found["fault"]),
        conflicts=tuple(sorted(found["entity"], key=lambda one: order(one[0]))),
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
        faults = count(verdict.fault_count + verdict.counts.conflicts, "fault")
        print(f"FAILED: {faults}, listed above; {FAULTY}")


def _print_checked(verdict: Verdict, report: str) -> None:
    counts = verdict.counts
    checked = f"checked: {count(verdict.builds, 'build')}, {count(verdict.files, 'file')}"
    if not counts.ids:  # no build has entity ids
        print(checked)
        _print_older(verdict)
        _print_found("faults of files", verdict.fault_count, verdict.faults, report)
        return
    print(f"{checked}, {counts.ids:,} rows")
    print(f"entities: {counts.distinct:,}, of which {counts.shared:,} are in two or more editions")
    if verdict.unlinked_builds:
        print(
            f"not linked to Wikidata: {count(verdict.unlinked_builds, 'build')};\n"
            "  entities that occur in several such builds are unknown and were not checked"
        )
    _print_older(verdict)
    _print_found("faults of files", verdict.fault_count, verdict.faults, report)
    _print_found("entities in two splits", counts.conflicts, verdict.conflicts, report)


def _print_older(verdict: Verdict) -> None:
    if verdict.older_builds:
        print(
            f"{verdict.older_builds:,} of the builds are of an earlier version: README.md, stats.json,\n"
            "  dataset_info.json and features.json are not in their manifests and were not checked"
        )


def _print_found(what: str, count: int, first: Sequence[tuple[str, str]], report: str) -> None:
    print_count(what, count)
    print_first([f"{name}: {detail}" for name, detail in first], count, report)


CORPUS = "lm1b"
BUILD = "build"


class ChecksumVerdict(NamedTuple):
    """The result of comparing a build with a list of MD5 checksums."""

    build: str  # name of the build, as in Build.name
    findings: tuple[Finding, ...]  # sorted by status, then by position in the list

    @property
    def is_sound(self) -> bool:
        """True if at least one file was compared and all compared files match."""
        return bool(self.of(Status.EQUAL)) and not any(map(self.of, FAULTS))

    def of(self, status: Status) -> list[Finding]:
        """Returns the findings that have the given status."""
        return [one for one in self.findings if one.status == status]


def verify_checksums(
    folder: str, md5_list: str, *, reference: str = "", **means: Unpack[Means]
) -> ChecksumVerdict:
    """Compares a build with a list of MD5 checksums.

    Args:
      folder: The folder of a finished build, or a folder above one build.
      md5_list: The path of the list.
      reference: A folder with the output of the original scripts, or with the unpacked release. If a file of
        the build differs from the list, the report shows where it differs from the file in this folder.
      means: How to run the comparison and where to write the report, see Means.

    Raises InputError unless there is exactly one finished build and the list is valid.
    """
    with reporting(**means) as (engine, path):
        build = find_one_build(folder)
        listed = read_list(md5_list)
        plan = plan_comparisons(build, listed, reference)
        place = {one.name: one.line for one in listed}
        label, workers = f"{CORPUS} {build.edition}", means.get("workers") or 1
        with progress_shown(label, "checksums", lambda: plan.bytes, engine, workers, ["compare"]):
            run_pipeline(lambda root: add_checksum_checks(root, build, plan, place, path), engine)
        return _read_checksum_verdict(path)


def find_one_build(folder: str) -> Build:
    """Returns the only finished build in a folder and its subfolders.

    Raises InputError if there is no build or more than one.
    """
    builds = find_builds([folder], CORPUS)
    if not builds:
        raise InputError(folder, f"no finished build of {CORPUS} in this folder or below")
    if len(builds) > 1:
        found = ", ".join(build.folder for build in builds)
        raise InputError(folder, f"contains {len(builds)} builds; give the folder of one: {found}")
    return builds[0]


def add_checksum_checks(
    root: beam.Pipeline, build: Build, plan: Plan, place: Mapping[str, int], report: str
) -> None:
    """Adds all steps of the comparison to a pipeline. The last step writes the report.

    Args:
      plan: The files to compare, and the findings that are already known.
      place: Name of a file in the list → its line number there.
      report: The path of the report.
    """
    findings = root | "CheckChecksums" >> CheckChecksums(plan.comparisons)
    named = BUILD, build.name, build.folder
    add_report(root, report, write_checksum_report, named, plan.known, AsList(findings), place)


def write_checksum_report(
    path: str,
    build: tuple[str, str, str],
    known: Iterable[Finding],
    found: Iterable[Finding],
    place: Mapping[str, int],
) -> None:
    """Writes the report: the build, and then all findings, sorted by status and position in the list.

    Args:
      build: The row about the build: kind of row, name and folder.
      known, found: Findings, in any order.
      place: Name of a file in the list → its line number there.
    """
    order = list(Status)
    findings = sorted(
        (*known, *found),
        key=lambda one: (order.index(one.status), place.get(one.name, 0), one.name),
    )
    rows = (COLUMNS, build, *findings)
    write_lines(path, ("\t".join(protect(_one_line(cell)) for cell in row) + "\n" for row in rows))


def _one_line(text: str) -> str:
    """Returns the text with each line break or tab replaced by a space.

    Spaces are not removed, because two lines of a corpus may differ only in a space.
    """
    return re.sub(r"[\t\r\n]+", " ", text)


def _read_checksum_verdict(path: str) -> ChecksumVerdict:
    with open_raw(path) as file:
        lines = file.read().decode("utf-8").split("\n")[1:-1]
    rows = [list(map(unprotect, line.split("\t"))) for line in lines]
    [build] = [name for what, name, _ in rows if what == BUILD]
    return ChecksumVerdict(
        build,
        tuple(Finding(Status(what), name, detail) for what, name, detail in rows if what != BUILD),
    )


def checksums_to_json(verdict: ChecksumVerdict) -> str:
    """Returns a verdict as one line of JSON."""
    findings = [one._asdict() for one in verdict.findings]
    told = {"build": verdict.build, "is_sound": verdict.is_sound, "findings": findings}
    return json.dumps(told, ensure_ascii=False)


def print_checksum_verdict(verdict: ChecksumVerdict, report: str = "") -> None:
    """Prints a verdict as text. `report` is the path of the file with all findings; "" if there is none."""
    unnamed = verdict.of(Status.NOT_IN_LIST)
    fits, listed = len(verdict.of(Status.EQUAL)), len(verdict.findings) - len(unnamed)
    print(f"checked: {CORPUS} {verdict.build}")
    print(f"match the list: {fits:,} of the {listed:,} files in it")
    for status in (*FAULTS, Status.NOT_COMPARED):
        found = verdict.of(status)
        print_count(status, len(found))
        _print_first(found, report)
    others = [one for one in unnamed if one.detail != OF_BUILD]
    print(f"{Status.NOT_IN_LIST}: {len(unnamed):,}, of which {len(others):,} are unexpected")
    _print_first(others, report)
    faults = sum(len(verdict.of(status)) for status in FAULTS)
    if verdict.is_sound:
        print(ALL_IS_WELL)
    elif faults:
        print(
            f"FAILED: {count(faults, 'fault')}, listed above; --reference shows where files differ"
        )
    else:
        print("FAILED: the build has no file of the list")


def _print_first(found: Sequence[Finding], report: str) -> None:
    print_first([f"{one.name}: {one.detail}" for one in found], len(found), report)
