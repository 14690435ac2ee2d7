import json
import tracemalloc
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.wikipedia.dump_folder import (
    DumpFiles,
    DumpFolder,
    UnusableDumpError,
    date_in_names,
    parse_jobs,
    select_files,
    select_table,
)
from tests.tools.case_tables import read_cases, read_tables
from tests.tools.error_of import error_of

CASES = read_tables("wikipedia")

STEM = "ukwiki-20230501-"
MULTI = f"{STEM}pages-articles-multistream.xml.bz2"
PLAIN = f"{STEM}pages-articles.xml.bz2"
PROPS = f"{STEM}page_props.sql.gz"
PAGE = f"{STEM}page.sql.gz"
SIZE = 100


def folder(names: Sequence[str], jobs: Mapping[str, Any] | None = None) -> DumpFolder:
    return DumpFolder("ukwiki", "20230501", dict.fromkeys(names, SIZE), jobs or {})


def part(number: int, pages: str, kind: str = "-multistream", suffix: str = ".bz2") -> str:
    return f"{STEM}pages-articles{kind}{number}.xml-{pages}{suffix}"


def job(status: str, names: Sequence[str] = (), size: int = SIZE) -> dict[str, Any]:
    return {"status": status, "files": {name: {"size": size, "sha1": "0" * 40} for name in names}}


ONE, TWO = part(1, "p1p41242"), part(2, "p41243p151573")
PLAIN_PARTS = [part(1, "p1p41242", ""), part(2, "p41243p151573", "")]


@pytest.mark.parametrize(
    ("names", "dump"),
    [
        ([MULTI], [MULTI]),
        ([PLAIN], [PLAIN]),
        ([PLAIN, MULTI, ONE, TWO, *PLAIN_PARTS], [MULTI]),
        ([PLAIN, ONE, TWO], [ONE, TWO]),
        ([PLAIN, *PLAIN_PARTS], [PLAIN]),
        ([TWO, ONE], [ONE, TWO]),
        (PLAIN_PARTS[::-1], PLAIN_PARTS),
        # part 10 comes after part 2
        ([part(2, "p2p2"), *(part(n, f"p{n}p{n}") for n in (10, 9, 8, 7, 6, 5, 4, 3)), part(1, "p1p1")],
         [part(n, f"p{n}p{n}") for n in range(1, 11)]),
        # one number, several ranges, as the last parts of large wikis are
        ([part(1, "p9p12"), part(1, "p1p8")], [part(1, "p1p8"), part(1, "p9p12")]),
        # parts of old dumps have no range, or begin with the first page that exists
        ([f"{STEM}pages-articles2.xml.bz2", f"{STEM}pages-articles1.xml.bz2"],
         [f"{STEM}pages-articles1.xml.bz2", f"{STEM}pages-articles2.xml.bz2"]),
        ([part(1, "p10p30302", ""), part(2, "p30304p88444", "")],
         [part(1, "p10p30302", ""), part(2, "p30304p88444", "")]),
        # packings
        ([MULTI.replace(".bz2", suffix) for suffix in (".xz", ".gz", "", ".bz2")], [MULTI]),
        ([PLAIN.replace(".bz2", suffix) for suffix in (".xz", ".gz", "")], [PLAIN[:-4]]),
        ([PLAIN.replace(".bz2", ".xz"), PLAIN.replace(".bz2", ".gz")], [PLAIN.replace(".bz2", ".gz")]),
        ([part(1, "p1p2", suffix=s) for s in (".xz", ".bz2", "")], [part(1, "p1p2")]),
        # what is no dump of this wiki and date
        ([MULTI, MULTI.replace("uk", "be"), MULTI.replace("2023", "2024"), f"{MULTI}.part"], [MULTI]),
        ([MULTI, f"{STEM}pages-articles-multistream-index.txt.bz2"], [MULTI]),
        ([ONE, f"{STEM}pages-articles-multistream-index1.txt-p1p41242.bz2"], [ONE]),
    ],
)  # fmt: skip
def test_the_dump_in_a_folder(names: list[str], dump: list[str]) -> None:
    expected = DumpFiles(tuple(dump), (), ())
    assert select_files(folder(names)) == select_files(folder(names[::-1])) == expected


def test_the_tables_in_a_folder() -> None:
    assert select_files(folder([MULTI, PROPS, PAGE])) == ((MULTI,), (PROPS,), (PAGE,))
    plain = PROPS.removesuffix(".gz")
    assert select_table(folder([plain]), "page_props") == (plain,)
    assert select_table(folder([plain, PROPS]), "page_props") == (PROPS,)
    assert select_table(folder([f"{STEM}page_restrictions.sql.gz"]), "page") == ()


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        *read_cases("wikipedia/dump_folder", "what_is_not_there"),
        ([part(9, f"p1p{'9' * 5_000}")], "no pages-articles dump"),
    ],
)
def test_what_is_not_there(names: list[str], reason: str) -> None:
    assert error_of(UnusableDumpError, select_files, folder(names)) == reason


def test_a_file_without_content_is_no_dump() -> None:
    empty = DumpFolder("ukwiki", "20230501", {MULTI: 0, PLAIN: 1, PROPS: 0}, {})
    with pytest.raises(UnusableDumpError, match=f"^{PROPS} is empty$"):
        select_files(empty)
    assert select_files(empty._replace(sizes={MULTI: 0, PLAIN: 1})).dump == (PLAIN,)
    with pytest.raises(UnusableDumpError, match=f"^{MULTI} is empty$"):
        select_files(empty._replace(sizes={MULTI: 0, PLAIN: 0}))


WRITTEN = "is still being written: it has 100 bytes, but dumpstatus.json says 101"
SAYS = "according to dumpstatus.json"
STREAMS, WHOLE = "articlesmultistreamdump", "articlesmultistreamdumprecombine"
DONE = job("done", [MULTI])
IN_PARTS = {STREAMS: job("done", [ONE, TWO]), WHOLE: job("waiting")}


@pytest.mark.parametrize(
    ("names", "jobs", "expected"),
    [
        ([MULTI], {STREAMS: job("done", [MULTI])}, [MULTI]),
        ([MULTI], {STREAMS: job("in-progress", [MULTI])}, f"{STREAMS} is in-progress {SAYS}"),
        # a large wiki: parts by one job, the whole by another
        ([MULTI], IN_PARTS, f"{WHOLE} is waiting {SAYS}"),
        ([MULTI, ONE, TWO], IN_PARTS, [ONE, TWO]),
        ([MULTI], {STREAMS: job("done", [MULTI], 101)}, f"{MULTI} {WRITTEN}"),
        (
            [MULTI, PLAIN],
            {STREAMS: job("done", [MULTI], 101), "articlesdump": job("done", [PLAIN])},
            [PLAIN],
        ),
        (
            [ONE],
            {STREAMS: job("done", [ONE, TWO, "an-index.txt.bz2"])},
            f"1 of 2 parts are missing: {TWO}",
        ),
        ([ONE, TWO], {STREAMS: job("done", [ONE, TWO], 101)}, f"{ONE} {WRITTEN}"),
        # packed otherwise by the user: sizes cannot be compared
        ([MULTI[:-4]], {STREAMS: job("done", [MULTI], 101)}, [MULTI[:-4]]),
        # what we do not read may be late
        ([MULTI], {STREAMS: DONE, "metahistory7zdump": job("in-progress")}, [MULTI]),
        # without page_props the corpus would be another
        (
            [MULTI],
            {STREAMS: DONE, "pagepropstable": job("waiting")},
            f"pagepropstable is waiting {SAYS}",
        ),
        ([MULTI, PROPS], {"pagepropstable": job("done", [PROPS], 101)}, f"{PROPS} {WRITTEN}"),
        ([MULTI], {"pagepropstable": job("done", [PROPS])}, [MULTI]),  # not copied along
        ([MULTI], {"pagetable": job("failed")}, [MULTI]),
        ([MULTI, PROPS], {}, [MULTI]),
    ],
)
def test_what_the_status_says(
    names: list[str], jobs: Mapping[str, Any], expected: list[str] | str
) -> None:
    if isinstance(expected, list):
        assert select_files(folder(names, jobs)).dump == tuple(expected)
        return
    assert error_of(UnusableDumpError, select_files, folder(names, jobs)) == expected


def test_parse_jobs() -> None:
    status = {"version": "0.8", "jobs": {"articlesdump": job("done", [PLAIN])}}
    assert parse_jobs(json.dumps(status).encode()) == status["jobs"]


@pytest.mark.parametrize(
    "status",
    [b"", b"{", b"[]", b"{}", b'{"jobs": []}', *(b'{"jobs": {"pagetable": %s}}' % one for one in
     (b"1", b'{"files": []}', b'{"files": {"b": 1}}', b'{"files": {"b": {"size": null}}}',
      b'{"files": {"b": {"size": 1e999}}}', b'{"files": {"b": {"size": -1}}}', b'{"status": 1}',
      b'{"files": {"b": {"sha1": "00"}}}', b'{"x": ' + b"[" * 100_000)), b"\xff", b"[" * 100_000],
)  # fmt: skip
def test_a_status_that_is_none(status: bytes) -> None:
    with pytest.raises(UnusableDumpError, match="does not have the format of the dump server"):
        parse_jobs(status)


@pytest.mark.parametrize("unit", [b'{"x": [%s], "jobs": {}}', b'{"jobs": {"x": {"files": [%s]}}}'])
def test_what_is_not_needed_of_a_status_takes_no_memory(unit: bytes) -> None:
    status = unit % (b"[]," * 300_000 + b"0")
    tracemalloc.start()
    try:
        assert parse_jobs(status) == {}
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1_000_000


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=30, unique=True).map(sorted),
    st.randoms(),
)
def test_parts_of_any_ranges_are_taken_whole_and_in_order(ends: list[int], chance: Any) -> None:
    starts = [1, *(end + 1 for end in ends[:-1])]
    names = [
        part(n, f"p{one}p{last}") for n, (one, last) in enumerate(zip(starts, ends, strict=True), 1)
    ]
    shuffled = chance.sample(names, len(names))
    assert select_files(folder(shuffled)).dump == tuple(names)


@pytest.mark.parametrize(("names", "date"), CASES["dates_in_names"])
def test_the_date_in_names(names: list[str], date: str) -> None:
    assert date_in_names(names) == date
