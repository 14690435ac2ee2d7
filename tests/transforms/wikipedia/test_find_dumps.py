import hashlib
import json
import re
from pathlib import Path

import pytest
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.wikipedia.find_dumps import (
    EXAMPLES,
    EntitySource,
    MissingWiki,
    PassedOver,
    WikiDump,
    add_older_dumps,
    find_dumps,
    find_entities,
    parse_languages,
)
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES
from tests.tools.case_tables import read_cases, read_tables
from tests.tools.error_of import error_of
from tests.tools.object_store import ObjectStore

MAY, APRIL = "20230501", "20230401"


def touch(root: Path, *names: str, content: bytes = b"x") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)


def dump_name(dbname: str = "ukwiki", date: str = MAY) -> str:
    return f"{dbname}/{date}/{dbname}-{date}-pages-articles-multistream.xml.bz2"


def table_name(table: str, dbname: str = "ukwiki", date: str = MAY) -> str:
    return f"{dbname}/{date}/{dbname}-{date}-{table}.sql.gz"


def write_status(root: Path, name: str, listed_bytes: int, status: str = "done") -> None:
    path = Path(name)
    job = {"status": status, "files": {path.name: {"size": listed_bytes}}}
    content = json.dumps({"version": "0.8", "jobs": {"articlesmultistreamdump": job}})
    touch(root, str(path.parent / "dumpstatus.json"), content=content.encode())


def found_dates(root: Path, date: str) -> list[str]:
    return [wiki.date for wiki in find_dumps([str(root)], ["uk"], date).wikis]


def test_the_files_of_a_wiki(tmp_path: Path) -> None:
    dump, props, page = dump_name(), table_name("page_props"), table_name("page")
    touch(tmp_path, dump, props, page, "ukwiki/20230501/ukwiki-20230501-abstract.xml.gz")
    found = find_dumps([str(tmp_path)], ["uk"])
    assert found.wikis == [
        WikiDump(
            language="uk",
            dbname="ukwiki",
            date=MAY,
            dump=[f"{tmp_path}/{dump}"],
            page_props=[f"{tmp_path}/{props}"],
            page_table=[f"{tmp_path}/{page}"],
            items_per_site=[],
        )
    ]
    assert (found.missing, found.passed_over, found.entities) == ([], [], None)


NEWEST_DATE = "20230601"


@pytest.mark.parametrize(
    ("date", "older", "chosen"),
    [
        (MAY, [dump_name(date=APRIL)], 0),
        (MAY, [dump_name(date=APRIL), dump_name(date=MAY), dump_name(date=NEWEST_DATE)], 0),
        (MAY, [dump_name(date="20230301"), dump_name(date=APRIL)], 1),
        (MAY, [dump_name(date="latest"), dump_name(date=APRIL)], 1),
        ("latest", [dump_name(date=APRIL), dump_name(date=MAY)], 1),
    ],
)
def test_older_dumps(tmp_path: Path, date: str, older: list[str], chosen: int) -> None:
    touch(tmp_path / "new", dump_name(date=date))
    touch(tmp_path / "old", *older)
    found = find_dumps([str(tmp_path / "new")], ["uk"])
    (wiki,) = add_older_dumps(found, [str(tmp_path / "old")]).wikis
    assert wiki == found.wikis[0]._replace(older=[f"{tmp_path}/old/{older[chosen]}"])


def test_of_one_folder_the_date_before_is_the_older_one(tmp_path: Path) -> None:
    touch_export(tmp_path)
    touch(tmp_path, *(dump_name(date=date) for date in (APRIL, NEWEST_DATE)))
    roots = [str(tmp_path)]
    found = add_older_dumps(find_dumps(roots, ["uk"], "all"), roots)
    assert [wiki.date for wiki in found.wikis] == [MAY, NEWEST_DATE]
    assert found.wikis[0].older == [f"{tmp_path}/{dump_name(date=APRIL)}"]
    assert found.wikis[1].older == found.wikis[0].dump
    reason = f"no dump older than {APRIL} below {tmp_path}: there is {APRIL}, {MAY}, {NEWEST_DATE}"
    assert found.missing == [MissingWiki("uk", reason)]


def test_wikis_without_an_older_dump_are_missing(tmp_path: Path) -> None:
    roots, others = [str(tmp_path / "new")], [str(tmp_path / "old")]
    touch(tmp_path / "new", dump_name(), dump_name("elwiki"))
    touch(tmp_path / "old", dump_name(date=APRIL))
    found = add_older_dumps(find_dumps(roots, ["uk", "el"]), others)
    assert [wiki.language for wiki in found.wikis] == ["uk"]
    reason = f"no dump older than {MAY} below {others[0]}: no folder elwiki with a dated subfolder"
    assert found.missing == [MissingWiki("el", reason)]
    message = error_of(InputError, add_older_dumps, find_dumps(roots, ["el"]), others)
    assert f"no dump to build from (el: {reason})" in message


def test_languages_come_in_their_order_and_two_may_share_a_wiki(tmp_path: Path) -> None:
    touch(tmp_path, dump_name("zhwiki"), dump_name("nowiki"), dump_name("ukwiki"))
    found = find_dumps([str(tmp_path)], ["zh-tw", "uk", "el", "zh-cn", "no"])
    assert [(wiki.language, wiki.dbname) for wiki in found.wikis] == [
        ("zh-tw", "zhwiki"),
        ("uk", "ukwiki"),
        ("zh-cn", "zhwiki"),
        ("no", "nowiki"),
    ]
    assert found.wikis[0].dump == found.wikis[2].dump == [f"{tmp_path}/{dump_name('zhwiki')}"]
    assert found.missing == [MissingWiki("el", "no folder elwiki with a dated subfolder")]


def test_all_languages(tmp_path: Path) -> None:
    touch(tmp_path, dump_name("ukwiki"))
    touch(
        tmp_path / "second", dump_name("zh_yuewiki"), dump_name("commonswiki"), dump_name("zhwiki")
    )
    roots = [str(tmp_path), str(tmp_path / "second")]
    found = find_dumps(roots, parse_languages("all", roots))
    languages = ["zh-cn", "zh-tw", "uk", "zh-yue"]
    assert [wiki.language for wiki in found.wikis] == languages
    assert found.missing == []
    for parent in ("other/mediawiki_content_current", "mediawiki_content_current"):
        (tmp_path / "second" / parent / f"{parent[:2]}wiki" / "2026-11-01").mkdir(parents=True)
    assert parse_languages("all", roots) == ("zh-cn", "zh-tw", "uk", "me", "ot", "zh-yue")


def test_codes_that_are_not_known_are_those_of_folders(tmp_path: Path) -> None:
    touch(tmp_path, dump_name("qqqwiki"))
    roots = [str(tmp_path)]
    assert parse_languages("qqq,hy,yue,zh-yue", roots) == ("qqq", "hy", "zh-yue")
    message = "no such language: 'qqa'; similar codes are qqq"
    assert error_of(ValueError, parse_languages, "qqa", roots).startswith(message)
    (tmp_path / "qqqwiki").rename(tmp_path / "commonswiki")
    message = f"{tmp_path}: no folder of a Wikipedia; looked for {EXAMPLES}"
    assert error_of(InputError, parse_languages, "all", roots) == message


@pytest.mark.parametrize(
    ("text", "codes"),
    [("uk", ("uk",)), ("uk, el,uk,", ("uk", "el")), ("zh-tw,en", ("zh-tw", "en")),
     ("paper", LANGUAGE_CODES)],
)  # fmt: skip
def test_parse_languages(text: str, codes: tuple[str, ...]) -> None:
    assert parse_languages(text) == codes


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "no language given; known languages: en, ar, "), (",", "no language given"),
     ("uk,xx", "no such language: 'xx'"), ("all,uk", "no such language: 'all'")],
)  # fmt: skip
def test_parse_no_languages(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_languages(text)


# Dates.


@pytest.mark.parametrize(
    ("dates", "wanted", "expected"), read_cases("wikipedia/find_dumps", "dates")
)
def test_dates(tmp_path: Path, dates: list[str], wanted: str, expected: list[str]) -> None:
    touch(tmp_path, *(dump_name(date=date) for date in dates))
    assert found_dates(tmp_path, wanted) == expected


def test_a_folder_with_no_whole_dump_is_passed_over(tmp_path: Path) -> None:
    touch(tmp_path, dump_name(date=APRIL), dump_name(date=MAY), table_name("page", date="20230520"))
    write_status(tmp_path, dump_name(date=MAY), 20_000)
    found = find_dumps([str(tmp_path)], ["uk"])
    assert [wiki.date for wiki in found.wikis] == [APRIL]
    assert found.passed_over == [
        PassedOver(
            "ukwiki",
            MAY,
            f"ukwiki-{MAY}-pages-articles-multistream.xml.bz2 is still being written: it has 1 bytes,"
            " but dumpstatus.json says 20,000",
        ),
        PassedOver("ukwiki", "20230520", "no pages-articles dump"),
    ]
    assert found_dates(tmp_path, "all") == [APRIL]


def test_what_the_status_confirms_is_taken(tmp_path: Path) -> None:
    touch(tmp_path, dump_name(date=APRIL), dump_name(date=MAY))
    write_status(tmp_path, dump_name(date=MAY), 1)
    assert found_dates(tmp_path, "newest") == [MAY]
    write_status(tmp_path, dump_name(date=MAY), 1, status="in-progress")
    assert found_dates(tmp_path, "newest") == [APRIL]
    touch(tmp_path, f"ukwiki/{MAY}/dumpstatus.json", content=b"{")
    assert found_dates(tmp_path, "newest") == [APRIL]


@pytest.mark.parametrize(
    ("wanted", "reason"), read_cases("wikipedia/find_dumps", "why_a_language_is_missing")
)
def test_why_a_language_is_missing(tmp_path: Path, wanted: str, reason: str) -> None:
    touch(tmp_path, *(dump_name(date=date) for date in (APRIL, MAY, "latest")))
    (tmp_path / "elwiki" / MAY).mkdir(parents=True)
    assert find_dumps([str(tmp_path)], ["el", "uk"], wanted).missing == [MissingWiki("el", reason)]


@pytest.mark.parametrize("date", ["", "2023-5-01", "may", "2023050", "20230501/"])
def test_a_date_that_is_none(tmp_path: Path, date: str) -> None:
    with pytest.raises(
        ValueError, match="is not a date; expected newest, all, latest, or one like 20230501"
    ):
        find_dumps([str(tmp_path)], ["uk"], date)


# Nothing.


def test_nothing_is_there(tmp_path: Path) -> None:
    (tmp_path / "elwiki").mkdir()
    assert error_of(InputError, find_dumps, [str(tmp_path)], ["uk", "el"]) == (
        f"{tmp_path}: no dump to build from (uk: no folder ukwiki with a dated subfolder;"
        " el: no folder elwiki with a dated subfolder); looked for"
        " <root>/ukwiki/20230501/ukwiki-20230501-pages-articles-multistream.xml.bz2 and"
        " <root>/other/mediawiki_content_current/ukwiki/2026-11-01/xml/bzip2/SHA256SUMS"
    )
    with pytest.raises(
        InputError, match="zh-cn: no folder zhwiki with a dated subfolder; and 38 more"
    ):
        find_dumps([str(tmp_path)], LANGUAGE_CODES)


def test_a_root_that_is_no_folder(tmp_path: Path) -> None:
    touch(tmp_path, dump_name())
    for root, message in ((tmp_path / "x", "no such folder"), (tmp_path / dump_name(), "a file")):
        with pytest.raises(InputError, match=message) as error:
            find_dumps([str(tmp_path), str(root)], ["uk"])
        assert error.value.path == str(root)


# Several roots, links, other file systems.


def test_roots_are_searched_together_the_first_counts(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    touch(one, dump_name(), dump_name("elwiki", APRIL))
    touch(two, dump_name(), table_name("page_props"), dump_name("elwiki", MAY))
    uk, el = find_dumps([str(one), str(two)], ["uk", "el"]).wikis
    assert uk.dump == [f"{one}/{dump_name()}"]
    assert uk.page_props == [f"{two}/{table_name('page_props')}"]
    assert el.dump == [f"{two}/{dump_name('elwiki')}"]
    assert find_dumps([str(two), str(one)], ["uk"]).wikis[0].dump == [f"{two}/{dump_name()}"]


def test_links_are_followed(tmp_path: Path) -> None:
    real, root = tmp_path / "real", tmp_path / "root"
    touch(real, "files/a.bz2", dump_name("elwiki"))
    date = root / "ukwiki" / MAY
    date.mkdir(parents=True)
    (tmp_path / "link").symlink_to(root)
    (date / Path(dump_name()).name).symlink_to(real / "files" / "a.bz2")
    (date / Path(table_name("page")).name).symlink_to(real / "nowhere")
    (root / "elwiki").symlink_to(real / "elwiki")
    (root / "plwiki").mkdir()
    (root / "plwiki" / APRIL).symlink_to(real / "elwiki" / MAY)
    (root / "plwiki" / "latest").symlink_to(root / "plwiki")
    found = find_dumps([str(tmp_path / "link")], ["uk", "el", "pl"])
    assert [wiki.dump for wiki in found.wikis] == [
        [f"{tmp_path}/link/{dump_name()}"],
        [f"{tmp_path}/link/{dump_name('elwiki')}"],
    ]
    assert found.wikis[0].page_table == []
    reasons = f"{APRIL}: no pages-articles dump; latest: no pages-articles dump"
    assert found.missing == [MissingWiki("pl", reasons)]


def test_an_object_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(
        tmp_path,
        dump_name(date=APRIL),
        dump_name(date=MAY),
        table_name("page_props", date=APRIL),
        dump_name("elwiki", "latest"),
        f"wikidatawiki/entities/{MAY}/wikidata-{MAY}-all.json.gz",
        "entities/wikidata/20230502-1.0.0/COMPLETED",
    )
    touch_export(tmp_path, "other/mediawiki_content_current/viwiki")
    write_status(tmp_path, dump_name(date=MAY), 7)
    names = [path for path in tmp_path.rglob("*") if path.is_file()]
    root = "store://bucket/dumps"
    objects = {f"{root}/{path.relative_to(tmp_path)}": path.read_bytes() for path in names}
    monkeypatch.setattr(ObjectStore, "objects", objects)
    assert isinstance(FileSystems.get_filesystem(root), ObjectStore)
    on_disk = find_dumps([str(tmp_path)], ["uk", "el", "vi"])
    in_store = find_dumps([root], ["uk", "el", "vi"])
    assert str(in_store) == str(on_disk).replace(str(tmp_path), root)
    assert [(wiki.language, wiki.date) for wiki in in_store.wikis] == [
        ("uk", APRIL),
        ("el", "latest"),
        ("vi", MAY),
    ]
    assert in_store.entities == EntitySource(
        "table", "20230502", f"{root}/entities/wikidata/20230502-1.0.0"
    )


# Content File Exports.

WITHOUT_OTHER = "mediawiki_content_current/ukwiki"
HISTORY = "mediawiki_content_history/ukwiki"


def touch_export(
    root: Path,
    place: str = "other/mediawiki_content_current/ukwiki",
    date: str = "2023-05-01",
    pages: str = "p1p9 p10p20",
    suffix: str = ".bz2",
    listed: str | None = None,
) -> list[str]:
    """An export below a root; returns the paths of its files in the order given.

    Args:
      listed: the pages of SHA256SUMS; "" for none.
    """
    kind = {".bz2": "bzip2", ".gz": "gzip", ".zst": "zstd", "": "none"}[suffix]
    folder = f"{place}/{date}/xml/{kind}"

    def name(one: str) -> str:
        return f"{place.rpartition('/')[2]}-{date}-{one}.xml{suffix}"

    touch(root, *(f"{folder}/{name(one)}" for one in pages.split()))
    in_list = (pages if listed is None else listed).split()
    sums = "".join(f"{hashlib.sha256(b'x').hexdigest()}  {name(one)}\n" for one in in_list)
    if in_list:
        touch(root, f"{folder}/SHA256SUMS", content=sums.encode())
        touch(root, f"{folder}/_SUCCESS", content=b"")
    return [f"{root}/{folder}/{name(one)}" for one in pages.split()]


@pytest.mark.parametrize(
    "place", ["other/mediawiki_content_current/ukwiki", WITHOUT_OTHER, "ukwiki"]
)
def test_an_export_is_found(tmp_path: Path, place: str) -> None:
    files = touch_export(tmp_path, place)
    for date in ("newest", "all", MAY, "2023-05-01"):
        (wiki,) = find_dumps([str(tmp_path)], ["uk"], date).wikis
        assert wiki == WikiDump("uk", "ukwiki", MAY, files, [], [], [])
    assert find_dumps([str(tmp_path)], ["uk"], layout="exports").wikis[0].dump == files
    with pytest.raises(InputError, match="no folder ukwiki with a dated subfolder"):
        find_dumps([str(tmp_path)], ["uk"], layout="dumps")
    with pytest.raises(ValueError, match="layout must be one of any, dumps, exports, not 'newest'"):
        find_dumps([str(tmp_path)], ["uk"], layout="newest")


@pytest.mark.parametrize(
    ("dumps", "exports", "wanted", "layout", "found"),
    read_cases("wikipedia/find_dumps", "the_newer_of_two_layouts"),
)
def test_the_newer_of_two_layouts(
    tmp_path: Path, dumps: list[str], exports: list[str], wanted: str, layout: str, found: list[str]
) -> None:
    touch(tmp_path, *(dump_name(date=date) for date in dumps))
    for date in exports:
        touch_export(tmp_path, date=date)
    wikis = find_dumps([str(tmp_path)], ["uk"], wanted, layout).wikis
    kinds = ["E" if "/xml/bzip2/" in wiki.dump[0] else "D" for wiki in wikis]
    assert [kind + wiki.date for kind, wiki in zip(kinds, wikis, strict=True)] == found


def test_an_export_stands_in_for_a_dump_of_its_date_that_is_not_finished(tmp_path: Path) -> None:
    touch(tmp_path, dump_name())
    write_status(tmp_path, dump_name(), 1, status="in-progress")
    files = touch_export(tmp_path)
    found = find_dumps([str(tmp_path)], ["uk"])
    assert found.wikis[0].dump == files
    assert [one.date for one in found.passed_over] == [MAY]


@pytest.mark.parametrize(
    ("pages", "listed", "reason"),
    [
        ("p1p9", "", "SHA256SUMS is missing: the export is not finished, or was not copied completely"),
        ("p1p9", "p1p9 p10p20",
         "1 of 2 files that SHA256SUMS lists are missing: ukwiki-2023-05-01-p10p20.xml.bz2"),
        ("p1p9 p2000p3000", None, "no file holds the pages 10 to 1,999"),
        ("p1p9 p9p10", None,
         "ukwiki-2023-05-01-p1p9.xml.bz2 and ukwiki-2023-05-01-p9p10.xml.bz2 overlap"),
    ],
)  # fmt: skip
def test_an_export_that_is_not_whole(
    tmp_path: Path, pages: str, listed: str | None, reason: str
) -> None:
    files = touch_export(tmp_path, pages=pages, listed=listed)
    with pytest.raises(InputError, match=re.escape(f"uk: {MAY}: {reason}")):
        find_dumps([str(tmp_path)], ["uk"])
    touch_export(tmp_path, date="2023-04-01")
    found = find_dumps([str(tmp_path)], ["uk"])
    assert [wiki.date for wiki in found.wikis] == [APRIL]
    assert found.passed_over == [PassedOver("ukwiki", MAY, reason)]
    kept = find_dumps([str(tmp_path)], ["uk"], keep_good=True).wikis[0]
    is_good = "overlap" not in reason and listed != ""
    assert (kept.dump == files, kept.date) == (is_good, MAY if is_good else APRIL)


def test_the_compression_that_workers_share_best(tmp_path: Path) -> None:
    for suffix in (".gz", ".zst", "", ".bz2"):
        files = touch_export(tmp_path, suffix=suffix, pages="p1p9 p10r7r8 p11p20")
        assert find_dumps([str(tmp_path)], ["uk"]).wikis[0].dump == files
    (tmp_path / Path(files[0]).parent / "SHA256SUMS").unlink()
    (plain,) = find_dumps([str(tmp_path)], ["uk"]).wikis
    assert plain.dump[0].endswith("p1p9.xml")


def test_roots_share_the_files_of_an_export(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    first = touch_export(one, "ukwiki", pages="p1p9", listed="p1p9 p10p20")
    second = touch_export(two, WITHOUT_OTHER, pages="p1p9 p10p20", listed="p1p9")
    assert find_dumps([str(one), str(two)], ["uk"]).wikis[0].dump == [first[0], second[1]]


@pytest.mark.parametrize("root", ["", "mediawiki_content_history"])
def test_exports_of_all_revisions_are_refused(tmp_path: Path, root: str) -> None:
    touch_export(tmp_path, HISTORY)
    with pytest.raises(InputError, match="uk: there is only mediawiki_content_history for ukwiki"):
        find_dumps([str(tmp_path / root)], ["uk"])


# What all wikis share.


def items_name(date: str) -> str:
    return table_name("wb_items_per_site", "wikidatawiki", date)


@pytest.mark.parametrize(
    ("dates", "chosen"),
    read_cases("wikipedia/find_dumps", "items_per_site_stands_in_for_page_props"),
)
def test_items_per_site_stands_in_for_page_props(
    tmp_path: Path, dates: list[str], chosen: str
) -> None:
    touch(tmp_path, dump_name(), *map(items_name, dates))
    expected = [f"{tmp_path}/{items_name(chosen)}"] if chosen else []
    assert find_dumps([str(tmp_path)], ["uk"]).wikis[0].items_per_site == expected
    touch(tmp_path, table_name("page_props"))
    assert find_dumps([str(tmp_path)], ["uk"]).wikis[0].items_per_site == []


@pytest.mark.parametrize(
    ("dates", "chosen"),
    read_cases("wikipedia/find_dumps", "page_props_of_the_nearest_date_where_a_dump_has_none"),
)
@pytest.mark.parametrize("is_export", [False, True])
def test_page_props_of_the_nearest_date_where_a_dump_has_none(
    tmp_path: Path, dates: list[str], chosen: str, is_export: bool
) -> None:
    tables = [table_name("page_props", date=date) for date in dates]
    pages = [table_name("page", date=date) for date in dates if date != MAY]
    touch(tmp_path, dump_name(date=APRIL), items_name(MAY), *tables, *pages)
    if is_export:
        touch_export(tmp_path)
    else:
        touch(tmp_path, dump_name())
    (wiki,) = find_dumps([str(tmp_path)], ["uk"], MAY).wikis
    assert ("/xml/bzip2/" in wiki.dump[0]) == is_export
    of_chosen = [f"{tmp_path}/{table_name('page_props', date=chosen)}"] if chosen else []
    assert wiki.page_props == of_chosen
    assert wiki.items_per_site == ([] if chosen else [f"{tmp_path}/{items_name(MAY)}"])
    assert wiki.page_table == []


@pytest.mark.parametrize(
    ("table", "dbname", "field"),
    [
        ("page_props", "ukwiki", "page_props"),
        ("wb_items_per_site", "wikidatawiki", "items_per_site"),
    ],
)
def test_a_table_that_is_still_being_written_is_not_taken(
    tmp_path: Path, table: str, dbname: str, field: str
) -> None:
    older, newer = (table_name(table, dbname, date) for date in (APRIL, "20230420"))
    touch(tmp_path, dump_name(), older, newer)
    write_status(tmp_path, newer, 2)
    (wiki,) = find_dumps([str(tmp_path)], ["uk"], MAY).wikis
    assert getattr(wiki, field) == [f"{tmp_path}/{older}"]


@pytest.mark.parametrize(
    ("names", "date", "kind", "chosen"), read_cases("wikipedia/find_dumps", "entities")
)
def test_entities(
    tmp_path: Path, names: list[tuple[str, str, str]], date: str, kind: str, chosen: int
) -> None:
    forms = read_tables("wikipedia/find_dumps")["forms_of_entities"]
    paths = [forms[form].format(date=day, suffix=suffix) for form, day, suffix in names]
    touch(tmp_path, *paths)
    path = paths[chosen].removesuffix("/COMPLETED")
    expected = EntitySource(kind, names[chosen][1], f"{tmp_path}/{path}")
    assert find_entities([str(tmp_path)], date) == (expected if kind else None)
