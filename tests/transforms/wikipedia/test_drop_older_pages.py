"""Pages of a dump, and an older dump of the same wiki in all the forms that it may be given in."""

import bz2
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import Page
from corpusmill.transforms.wikipedia import drop_older_pages
from corpusmill.transforms.wikipedia.screening import BLOCK_IDS, OlderPages
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.tools.run_pipeline import Outcome, run_transform

HEADER = dump_files.dump_header("elwiki", "el", "Βικιπαίδεια", {0: "", 2: "Χρήστης"})
# Redirects, other namespaces and pages out of order are pages, too; so is what looks like an id in a title.
OLDER = [
    SamplePage(7, 0, "Ρόδος", "κείμενο", 70),
    SamplePage(3, 2, "Χρήστης:Α", "", 71),
    SamplePage(9, 0, "Λέρος", "#REDIRECT [[Ρόδος]]", 5, redirect_to="Ρόδος"),
    SamplePage(BLOCK_IDS + 1, 0, "<id>8</id>", "<id>8</id>", 72),
]
IDS = {3, 7, 9, BLOCK_IDS + 1}
READ = [1, 3, 5, 7, 8, 9, BLOCK_IDS - 1, BLOCK_IDS + 1, BLOCK_IDS + 2]
NEW = [one for one in READ if one not in IDS]


def in_xml(end: str) -> Callable[[Path], list[Path]]:
    def write(folder: Path) -> list[Path]:
        paths = [folder / f"elwiki-20220101-{part}.xml{end}" for part in (1, 2)]
        for part, path in enumerate(paths):
            dump_files.write_xml(path, HEADER, OLDER[part::2])
        return paths

    return write


def in_multistream(folder: Path) -> list[Path]:
    path = folder / "elwiki-20220101-pages-articles-multistream.xml.bz2"
    dump_files.write_multistream(path, folder / "index.txt.bz2", HEADER, OLDER, 1)
    return [path]


def in_table(folder: Path) -> list[Path]:
    path = folder / "elwiki-20220101-page.sql.gz"
    dump_files.write_page_table(path, OLDER, "elwiki")
    return [path]


def find(paths: Sequence[object], date: str = "20230501") -> drop_older_pages.OlderDump | None:
    return drop_older_pages.find_older_dump([str(path) for path in paths], "el", "elwiki", date)


def drop(older: drop_older_pages.OlderDump | None, workers: int = 0) -> Outcome:
    pages = [Page(one, 0, f"Page {one}", one, "wikitext", False, False, "") for one in READ]
    return run_transform(drop_older_pages.DropOlderPages(older, stripes=2), pages, workers)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    "write", [in_xml(""), in_xml(".gz"), in_multistream, in_table], ids=["xml", "gz", "bz2", "sql"]
)
def test_pages_of_an_older_dump(
    write: Callable[[Path], list[Path]], workers: int, tmp_path: Path
) -> None:
    elements, counters = drop(find(write(tmp_path)), workers)
    assert sorted(page.page_id for page in elements["kept"]) == NEW
    rejected = {(one.id, one.title, one.stage, one.reason) for one in elements["rejected"]}
    stage, reason = "drop-older-pages", "in-older-dump"
    assert rejected == {(str(one), f"Page {one}", stage, reason) for one in IDS}
    assert counters[f"{stage}/{reason}"] == 4
    older = OlderPages("elwiki", "20220101", 4, BLOCK_IDS + 1, BLOCK_IDS + 2, True)
    assert elements["older"] == [older]
    assert str(older) == "elwiki 20220101 (4 pages, largest page id 65537)"


def test_pages_above_an_id() -> None:
    elements, _ = drop(find(["8"]))
    assert sorted(page.page_id for page in elements["kept"]) == [one for one in READ if one > 8]
    assert {one.reason for one in elements["rejected"]} == {"older-page-id"}
    assert list(map(str, elements["older"])) == ["page id 8 of elwiki"]


def test_nothing_older_keeps_all() -> None:
    elements, _ = drop(find([]))
    assert [len(elements[name]) for name in ("kept", "rejected", "older")] == [len(READ), 0, 0]


@pytest.mark.parametrize(
    ("name", "header", "date", "message"),
    [
        (
            "elwiki-20230501-pages.xml",
            HEADER,
            "20230501",
            "the older dump has the date 20230501; expected a date before that of the build's dump, 20230501",
        ),
        (
            "elwiki-2023-05-02-p1p9.xml",
            HEADER,
            "2023-05-01",
            "the older dump has the date 20230502",
        ),
        (
            "a.xml",
            dump_files.dump_header("ukwiki", "uk", "Вікіпедія", {0: ""}),
            "20230501",
            "a dump of ukwiki, not of elwiki$",
        ),
    ],
)
def test_files_that_are_no_older_dump(
    name: str, header: str, date: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    dump_files.write_xml(path, header, OLDER)
    with pytest.raises(InputError, match=message) as error:
        find([path], date)
    assert error.value.path == str(path)


def test_a_table_of_another_wiki(tmp_path: Path) -> None:
    path = tmp_path / "page.sql.gz"
    dump_files.write_page_table(path, OLDER, "ukwiki")
    with pytest.raises(InputError, match="a table of ukwiki, not of elwiki"):
        find([path])


@pytest.mark.parametrize("date", ["latest", "undated"])
def test_a_date_that_is_none_is_not_compared(date: str, tmp_path: Path) -> None:
    older = find(in_multistream(tmp_path), date)
    assert older
    assert (older.date, older.is_dated) == ("20220101", False)


def test_files_without_a_date_in_their_names(tmp_path: Path) -> None:
    path = tmp_path / "old.xml"
    dump_files.write_xml(path, HEADER, OLDER)
    older = find([path])
    assert older
    assert (older.date, older.is_dated) == ("undated", False)


EITHER = "newer_than must be either one page id or the files of an older dump"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["12", "old.xml"], f"{EITHER}, got 12 old.xml"),
        (["12", "13"], f"{EITHER}, got 12 13"),
        (["0"], "page ids begin with 1"),
    ],
)
def test_page_ids_and_files_do_not_mix(values: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        find(values)


def test_damage_in_an_older_dump_is_an_error(tmp_path: Path) -> None:
    (path,) = in_multistream(tmp_path)
    stored = bytearray(path.read_bytes())
    middle = [found.start() for found in re.finditer(b"BZh9", stored)][2]
    stored[middle + 20] ^= 255
    path.write_bytes(stored)
    with pytest.raises(Exception, match=re.escape(path.name)):
        drop(find([path]))


def test_a_page_without_an_id_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "old.xml.bz2"
    page = "<page><title>A</title><ns>0</ns><revision><id>4</id><text>t</text></revision></page>"
    path.write_bytes(bz2.compress(f"{HEADER}{page}\n</mediawiki>\n".encode()))
    with pytest.raises(Exception, match="a page of the older dump: the page has no page_id"):
        drop(find([path]))
