import bz2
import re
from pathlib import Path

import pytest

from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.wikipedia.read_dumps import caveats_of_export, check_dumps, check_ranges
from tests.makers import dump_files
from tests.makers.dump_files import SamplePage
from tests.tools.case_tables import read_cases
from tests.tools.error_of import error_of

PAGES = [SamplePage(1, 0, "Берлін", "текст", 10)]


def dump(folder: Path, dbname: str, language: str) -> str:
    path = folder / f"{dbname}.xml.bz2"
    header = dump_files.dump_header(dbname, language, "Wikipedia", {0: "", 6: "Файл"})
    dump_files.write_xml(path, header, PAGES)
    return str(path)


@pytest.mark.parametrize(
    ("language", "dbname", "xml_language"),
    [("uk", "ukwiki", "uk"), ("no", "nowiki", "nb"), ("zh-tw", "zhwiki", "zh"),
     ("zh-yue", "zh_yuewiki", "yue"), ("simple", "simplewiki", "en")],
)  # fmt: skip
def test_the_head_of_the_right_wiki(
    tmp_path: Path, language: str, dbname: str, xml_language: str
) -> None:
    site = check_dumps([dump(tmp_path, dbname, xml_language)], language, dbname, whole=True)
    assert (site.dbname, site.language) == (dbname, xml_language)
    assert site.namespaces[6] == ("Файл",)


def test_one_wrong_file_among_right_ones(tmp_path: Path) -> None:
    paths = [dump(tmp_path, "ukwiki", "uk"), dump(tmp_path, "enwiki", "en")]
    assert error_of(InputError, check_dumps, paths, "uk", "ukwiki", whole=True) == (
        f"{paths[1]}, byte 0: a dump of enwiki, not of ukwiki; did you mean --language en?"
        " (--ignore-siteinfo, if the head of the dump is wrong)"
    )


def test_nothing_of_an_ignored_head_is_believed(tmp_path: Path) -> None:
    path = dump(tmp_path, "enwiki", "en")
    site = check_dumps([path], "de", "dewiki", whole=True, ignore_siteinfo=True)
    assert site[:4] == ("", "de", "", {})


def test_a_dump_that_is_cut_off(tmp_path: Path) -> None:
    whole = bz2.decompress(Path(dump(tmp_path, "ukwiki", "uk")).read_bytes())
    path = tmp_path / "cut.xml"
    path.write_bytes(whole[:-200])
    with pytest.raises(InputError, match="last whole page"):
        check_dumps([str(path)], "uk", "ukwiki", whole=True)
    assert check_dumps([str(path)], "uk", "ukwiki", whole=False).dbname == "ukwiki"


GAP = "ukwiki-2026-11-01-p1p5.xml.bz2", "ukwiki-2026-11-01-p2000p3000.xml.bz2"


@pytest.mark.parametrize(
    ("names", "listed", "error", "caveats"),
    [
        (["ukwiki-2026-11-01-p1p5.xml.bz2", "ukwiki-2026-11-01-p7p9.xml.bz2"], "", "", []),
        (["ukwiki-20261101-pages-articles.xml.bz2"], f"{'0' * 64}  x\n", "", []),
        (GAP, "", "no file holds the pages 6 to 1,999; --on-corrupt keep-good builds without them",
         ["In the export, no file holds the pages 6 to 1,999."]),
        (GAP[:1], f"{'0' * 64}  {GAP[0]}\n{'0' * 64}  {GAP[1]}\n{'0' * 64}  README\n", "",
         [f"SHA256SUMS lists files of the export that were not read: {GAP[1]}."]),
        ([GAP[0], "ukwiki-2026-10-01-p6p9.xml.bz2"], "",
         f"{GAP[0]} and ukwiki-2026-10-01-p6p9.xml.bz2 are not parts of one export", []),
        (["mediawiki_content_history/ukwiki/2026-11-01/xml/bzip2/ukwiki-2026-11-01-p1p5.xml.bz2"], "",
         "an export of all revisions is not supported; use one from mediawiki_content_current", []),
    ],
)  # fmt: skip
def test_names_of_exports(
    tmp_path: Path, names: list[str], listed: str, error: str, caveats: list[str]
) -> None:
    paths = [str(tmp_path / name) for name in names]
    if listed:
        (tmp_path / "SHA256SUMS").write_text(listed)
    if error:
        with pytest.raises(InputError, match=re.escape(error)):
            check_ranges(paths, whole=True)
    if not error or caveats:
        check_ranges(paths, whole=not error)
        assert list(caveats_of_export(paths)) == caveats


SETTINGS = {"enwikinews": "--wikinews", "enwikivoyage": "--wikivoyage"}


def old_dump(folder: Path, language: str, sitename: str) -> str:
    """A dump whose head names no database, as those before 2015."""
    name = f"<sitename>{sitename}</sitename>" if sitename else ""
    path = folder / f"{language}{sitename}.xml"
    path.write_text(
        f'<mediawiki xml:lang="{language}">\n  <siteinfo>{name}</siteinfo>\n</mediawiki>\n'
    )
    return str(path)


@pytest.mark.parametrize("dbname", ["enwikinews", "enwikibooks", "enwikivoyage", "enwiki"])
def test_the_head_of_a_sister_site(tmp_path: Path, dbname: str) -> None:
    path = dump(tmp_path, dbname, "en")
    assert check_dumps([path], "en", dbname, whole=True).dbname == dbname


@pytest.mark.parametrize(
    ("given", "wanted", "message"),
    read_cases("wikipedia/check_dumps", "a_dump_given_to_the_wrong_setting"),
)
def test_a_dump_given_to_the_wrong_setting(
    tmp_path: Path, given: str, wanted: str, message: str
) -> None:
    path = dump(tmp_path, given, "en")
    settings = {"whole": True, "settings": SETTINGS}
    error = error_of(InputError, check_dumps, [path], "en", wanted, **settings)
    assert error == f"{path}, byte 0: a dump of {message}"


@pytest.mark.parametrize(
    ("language", "sitename", "dbname", "is_of"),
    read_cases("wikipedia/check_dumps", "a_head_without_a_database_tells_by_language_and_site"),
)
def test_a_head_without_a_database_tells_by_language_and_site(
    tmp_path: Path, language: str, sitename: str, dbname: str, is_of: bool
) -> None:
    path = old_dump(tmp_path, language, sitename)
    if is_of:
        assert check_dumps([path], language, dbname, whole=False).sitename == sitename
        return
    message = f"a dump of {sitename} in '{language}', not of {dbname}"
    with pytest.raises(InputError, match=message):
        check_dumps([path], "en", dbname, whole=False)
