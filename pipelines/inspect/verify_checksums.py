"""Compares a finished build of One Billion Word with a list of MD5 checksums, and reports the differences.

The list is the one published with the benchmark, or the output of md5sum(1) for the files that the original
scripts wrote.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Unpack

import apache_beam as beam
from apache_beam.pvalue import AsList

from corpusmill.pipelines.inspect.findings import (
    ALL_IS_WELL,
    COLUMNS,
    Means,
    add_report,
    print_count,
    print_first,
    reporting,
    write_lines,
)
from corpusmill.pipelines.inspect.html_report.text_of_numbers import count
from corpusmill.pipelines.run.engines.run_pipeline import run_pipeline
from corpusmill.pipelines.run.launch import progress_shown
from corpusmill.transforms.files.builds.finished_builds import Build, find_builds
from corpusmill.transforms.files.cells import protect, unprotect
from corpusmill.transforms.files.open_input import InputError, open_raw
from corpusmill.transforms.news.check_checksums import CheckChecksums
from corpusmill.transforms.news.checksum_findings import FAULTS, Finding, Status
from corpusmill.transforms.news.plan_checksums import OF_BUILD, Plan, plan_comparisons, read_list

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
            run_pipeline(lambda root: add_checks(root, build, plan, place, path), engine)
        return _read_verdict(path)


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


def add_checks(
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
    add_report(root, report, write_report, named, plan.known, AsList(findings), place)


def write_report(
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


def _read_verdict(path: str) -> ChecksumVerdict:
    with open_raw(path) as file:
        lines = file.read().decode("utf-8").split("\n")[1:-1]
    rows = [list(map(unprotect, line.split("\t"))) for line in lines]
    [build] = [name for what, name, _ in rows if what == BUILD]
    return ChecksumVerdict(
        build,
        tuple(Finding(Status(what), name, detail) for what, name, detail in rows if what != BUILD),
    )


def to_json_line(verdict: ChecksumVerdict) -> str:
    """Returns a verdict as one line of JSON."""
    findings = [one._asdict() for one in verdict.findings]
    told = {"build": verdict.build, "is_sound": verdict.is_sound, "findings": findings}
    return json.dumps(told, ensure_ascii=False)


def print_verdict(verdict: ChecksumVerdict, report: str = "") -> None:
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
