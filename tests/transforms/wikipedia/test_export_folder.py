import hashlib
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikipedia.dump_folder import (
    ExportFile,
    ExportFolder,
    UnusableDumpError,
    parse_name,
    parse_sums,
    select_export,
)
from tests.tools.error_of import error_of

STEM = "ukwiki-2026-11-01-"
SHA256 = hashlib.sha256(b"").hexdigest()


def file(pages: str, suffix: str = ".bz2") -> str:
    return f"{STEM}{pages}.xml{suffix}"


ONE, TWO, THREE = file("p1p41242"), file("p41243p151573"), file("p151575p311329")
ALL = [ONE, TWO, THREE]


def folder(
    present: Sequence[str], listed: Sequence[str] | None = None, size: int = 9
) -> ExportFolder:
    sums = dict.fromkeys(present if listed is None else listed, SHA256)
    return ExportFolder("ukwiki", "20261101", dict.fromkeys(present, size), sums)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (f"/a/b/{ONE}", ExportFile(1, 41242, 0, ONE, "ukwiki", "20261101", ".bz2")),
        (file("p7r12r99"), ExportFile(7, 7, 12, file("p7r12r99"), "ukwiki", "20261101", ".bz2")),
        *((file("p1p2", suffix), ExportFile(1, 2, 0, file("p1p2", suffix), "ukwiki", "20261101", suffix))
          for suffix in ("", ".gz", ".zst", ".xz")),
        ("zh_min_nanwiki-2026-11-01-p1p2.xml.bz2",
         ExportFile(1, 2, 0, "zh_min_nanwiki-2026-11-01-p1p2.xml.bz2", "zh_min_nanwiki", "20261101", ".bz2")),
        (file("p1p2", ".lz4"), None),
        (f"{ONE}.part", None),
        (file("p1"), None),
        (file("p1r2"), None),
        (file(f"p1p{'9' * 5_000}"), None),
        ("ukwiki-20261101-p1p2.xml.bz2", None),
        ("ukwiki-20261101-pages-articles1.xml-p1p2.bz2", None),
    ],
)  # fmt: skip
def test_names_of_files(name: str, expected: ExportFile | None) -> None:
    assert parse_name(name) == expected


PAGE_OF_ITS_OWN = [file("p1p6"), file("p7r12r99"), file("p8p20")]


@pytest.mark.parametrize(
    ("present", "listed", "expected"),
    [
        (ALL, ALL, ALL),
        (ALL[::-1], ALL[::-1], ALL),
        ([file("p1p1277745")], None, [file("p1p1277745")]),
        # by number, not by letter
        ([file("p10p11"), file("p9p9")], None, [file("p9p9"), file("p10p11")]),
        (PAGE_OF_ITS_OWN, None, PAGE_OF_ITS_OWN),
        ([file("p1p2", ".zst"), file("p4p9", ".zst")], None, [file("p1p2", ".zst"), file("p4p9", ".zst")]),
        # ids without a page
        ([file("p5000p9000"), file("p10001p10002")], None, [file("p5000p9000"), file("p10001p10002")]),
        ([file("p1p50000"), file("p59000p99000")], None, [file("p1p50000"), file("p59000p99000")]),
        # other files, and what was decompressed
        ([*ALL, "_SUCCESS", f"{ONE}.part", file("p1p41242", "")], ALL, ALL),
        ([*ALL], [*ALL, "README", "elwiki-2026-11-01-p1p2.xml.bz2"], ALL),
        # why not
        (ALL, [], "SHA256SUMS is missing: the export is not finished, or was not copied completely"),
        ([ONE, THREE], ALL, f"1 of 3 files that SHA256SUMS lists are missing: {TWO}"),
        ([ONE, TWO], ALL, f"1 of 3 files that SHA256SUMS lists are missing: {THREE}"),
        ([], ALL, f"3 of 3 files that SHA256SUMS lists are missing: {ONE}, {TWO}, {THREE}"),
        (ALL, [ONE, TWO], f"SHA256SUMS does not list {THREE}, which is in the folder"),
        ([ONE, THREE], None, "no file holds the pages 41,243 to 151,574"),
        ([file("p1p50000"), file("p61000p99000")], None, "no file holds the pages 50,001 to 60,999"),
        ([ONE, file("p41242p50000")], None, f"{ONE} and {file('p41242p50000')} overlap"),
        ([ONE, file("p7r1r2")], None, f"{ONE} and {file('p7r1r2')} overlap"),
        ([file("p7r1r2"), file("p7r3r4")], None,
         f"{file('p7r1r2')} and {file('p7r3r4')} have revisions of one page: this is an export of all"
         " revisions (mediawiki_content_history); use the export of current revisions"
         " (mediawiki_content_current)"),
        (["elwiki-2026-11-01-p1p2.xml.bz2"], None,
         f"SHA256SUMS lists elwiki-2026-11-01-p1p2.xml.bz2, expected names like {STEM}p1p2.xml.bz2"),
        ([*ALL, file("p311330p4")[:-9]], None,
         f"SHA256SUMS lists {STEM}p311330p, expected names like {STEM}p1p2.xml.bz2"),
    ],
)  # fmt: skip
def test_the_export_in_a_folder(
    present: list[str], listed: list[str] | None, expected: list[str] | str
) -> None:
    where = folder(present, listed)
    if isinstance(expected, str):
        assert error_of(UnusableDumpError, select_export, where) == expected
    else:
        assert list(select_export(where)) == expected


@pytest.mark.parametrize(
    ("present", "listed", "kept"),
    [
        ([ONE, THREE], ALL, [ONE, THREE]),
        ([ONE, THREE], None, [ONE, THREE]),
        ([TWO], ALL, [TWO]),
        # of these nobody knows what is good
        ([], ALL, []),
        (ALL, [], []),
        ([ONE, file("p41242p50000")], None, []),
    ],
)
def test_what_is_there_of_an_export_can_be_kept(
    present: list[str], listed: list[str] | None, kept: list[str]
) -> None:
    if kept:
        assert list(select_export(folder(present, listed), keep_good=True)) == kept
    else:
        with pytest.raises(UnusableDumpError):
            select_export(folder(present, listed), keep_good=True)


def test_a_file_without_bytes_is_not_finished() -> None:
    assert error_of(UnusableDumpError, select_export, folder([ONE], size=0)) == f"{ONE} is empty"
    assert select_export(folder([ONE], size=-1)) == (ONE,)  # nobody knows its size


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"{SHA256}  {ONE}\n{SHA256.upper()} *./{TWO}\r\n", {ONE: SHA256, TWO: SHA256}),
        (f"{SHA256}  {ONE}", {ONE: SHA256}),
        ("", {}),
        (f"{SHA256}  {ONE}\n{SHA256[:20]}", f"line 2 is not a SHA-256 and a name: '{SHA256[:20]}'"),
        (f"{SHA256}0  {ONE}\n", f"line 1 is not a SHA-256 and a name: '{SHA256}0  {ONE[:13]}'"),
        ("<html>Log in</html>", "line 1 is not a SHA-256 and a name: '<html>Log in</html>'"),
        (
            f"{SHA256}  {ONE}\n{'0' * 64}  {ONE}\n",
            f"line 2 has a second, different SHA-256 of {ONE}",
        ),
    ],
)
def test_lists_of_sums(content: str, expected: dict[str, str] | str) -> None:
    if isinstance(expected, str):
        assert (
            error_of(UnusableDumpError, parse_sums, content.encode()) == f"SHA256SUMS: {expected}"
        )
    else:
        assert parse_sums(content.encode()) == expected


CUT_NAMES = [file("p1p1"), file("p2p2"), file("p3p3")]
CUT_LIST = "".join(f"{SHA256}  {name}\n" for name in CUT_NAMES)


@given(st.integers(0, len(CUT_LIST) - 2))
def test_a_list_that_is_cut_off_is_never_a_smaller_export(end: int) -> None:
    def select() -> None:
        sums = parse_sums(CUT_LIST[:end].encode())
        select_export(ExportFolder("ukwiki", "20261101", dict.fromkeys(CUT_NAMES, 9), sums))

    assert error_of(UnusableDumpError, select)
