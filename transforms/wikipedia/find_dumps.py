"""Finds the dump files of wikis in folders with the layout of the dump server, and reports missing wikis.

The layout, below each root, on any Beam file system:
  other/mediawiki_content_current/ukwiki/2026-11-01/xml/bzip2/ukwiki-2026-11-01-p1p412.xml.bz2, SHA256SUMS
  mediawiki_content_current/ukwiki/…, or ukwiki/2026-11-01/xml/… (other places for these files)
  ukwiki/20230501/ukwiki-20230501-pages-articles-multistream.xml.bz2, …-page_props.sql.gz, …-page.sql.gz
  ukwiki/latest/ukwiki-latest-…
  wikidatawiki/20230501/wikidatawiki-20230501-wb_items_per_site.sql.gz
  wikidatawiki/entities/20230501/wikidata-20230501-all.json.bz2, other/wikibase/wikidatawiki/20230501/…,
  wikibase/wikidatawiki/20230501/…, or wikidata/20230501/…
  entities/wikidata/20230501-<version>/, a finished entity table

Reads the file SHA256SUMS that is in the folder of a Content File Export.

Finds the Content File Exports of a wiki in folders with the layout of the dump server.

The layout is `<root>/other/mediawiki_content_current/<wiki>/2026-11-01/xml/<compression>/`. The folder
`other`, or both `other` and `mediawiki_content_current`, may be missing. If an export exists in several
compressions, one that lets several workers read parts of the same file is preferred.
"""

import itertools
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from apache_beam.io.filesystems import FileSystems

from ..files import read_files
from ..files.builds.manifest import COMPLETED
from ..files.text import checked_date, days_between, grouped, plain_date
from ..wikitext.wikis import (
    LANGUAGE_CODES,
    code_of_language,
    codes_of,
    dbname_of,
    mediawiki_table,
    near_codes,
)
from . import dump_folder


def read_sums(path: str) -> dict[str, str]:
    """Reads a list of checksums. Returns file name → SHA-256.

    Raises UnusableDumpError if the list is damaged.
    """
    with read_files.open_raw(path) as stream:
        return dump_folder.parse_sums(stream.read())


def sums_beside(paths: Iterable[str]) -> dict[str, str]:
    """Reads the checksum lists in the folders of export files. Returns path → SHA-256 of all listed files.

    Paths that are not export files are ignored. Raises InputError for a damaged list.
    """
    folders = dict.fromkeys(
        posixpath.dirname(path) for path in paths if dump_folder.parse_name(path)
    )
    found: dict[str, str] = {}
    for folder in folders:
        path = posixpath.join(folder, dump_folder.SUMS)
        try:
            sums = read_sums(path) if read_files.is_there(path) else {}
        except dump_folder.UnusableDumpError as error:
            raise read_files.InputError(path, str(error)) from None
        found |= {posixpath.join(folder, name): digest for name, digest in sums.items()}
    return found


_EXPORT_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def find_exports(roots: Sequence[str], dbname: str) -> dict[str, list[str]]:
    """Returns date ("20261101") → folders of the export of this date, in the order of the roots.

    Each folder is a folder `xml`, with one subfolder for each compression.
    """
    found: dict[str, list[str]] = {}
    for parent in folders_of_wikis(roots, dump_folder.CURRENT):
        wiki = FileSystems.join(parent, dbname)
        for name in filter(_EXPORT_DATE.fullmatch, read_files.list_subfolders(wiki)):
            folder = FileSystems.join(wiki, name, dump_folder.FOLDER_OF_FILES)
            found.setdefault(plain_date(name), []).append(folder)
    return found


def folders_of_wikis(roots: Sequence[str], kind: str) -> Iterator[str]:
    """Yields the folders that may contain folders of wikis. A root may be such a folder itself.

    `kind` is the folder of one kind of export, such as "mediawiki_content_current".
    """
    for root in roots:
        yield FileSystems.join(root, "other", kind)
        yield FileSystems.join(root, kind)
        is_history = posixpath.basename(root.rstrip("/")) == dump_folder.HISTORY
        if is_history == (kind == dump_folder.HISTORY):
            yield root


def use_export(
    folders: Sequence[str], dbname: str, date: str, *, keep_good: bool = False
) -> list[str]:
    """Returns the paths of the files of an export, in page order.

    Args:
      folders: folders of the export from `find_exports`. Its files may be spread over several of them.
      dbname: database name of the wiki.
      date: date of the export, such as "20261101".
      keep_good: True to accept an export with missing files or pages.

    Raises UnusableDumpError if the export is not complete in any compression.
    """
    compressions = grouped((name, folder) for folder, name in _subfolders_of(folders))
    reasons = []
    listed = {name: _list_files(places) for name, places in compressions.items()}
    for name in sorted(
        listed, key=lambda name: (dump_folder.order_of_suffix(listed[name][1]), name)
    ):
        paths, sizes = listed[name]
        try:
            sums = read_sums(paths[dump_folder.SUMS]) if dump_folder.SUMS in paths else {}
            export = dump_folder.ExportFolder(dbname, date, sizes, sums)
            return [paths[file] for file in dump_folder.select_export(export, keep_good=keep_good)]
        except dump_folder.UnusableDumpError as error:
            reasons.append(str(error))
    raise dump_folder.UnusableDumpError(
        reasons[0] if reasons else f"no files in {dump_folder.FOLDER_OF_FILES}/bzip2"
    )


def _list_files(folders: Sequence[str]) -> tuple[dict[str, str], dict[str, int]]:
    """Returns (name of a file → its path, name of a file → its size in bytes).

    If two folders have a file with the same name, the file in the first folder is used.
    """
    paths: dict[str, str] = {}
    sizes: dict[str, int] = {}
    for folder in reversed(folders):
        for name, size in read_files.list_files(folder).items():
            paths[name], sizes[name] = FileSystems.join(folder, name), size
    return paths, sizes


ALL = "all"
PAPER = "paper"
NEWEST = "newest"
LATEST = "latest"
EXAMPLES = (
    "<root>/ukwiki/20230501/ukwiki-20230501-pages-articles-multistream.xml.bz2 and"
    " <root>/other/mediawiki_content_current/ukwiki/2026-11-01/xml/bzip2/SHA256SUMS"
)
SHOWN_REASONS = 3
_DATE = re.compile(r"\d{8}")
_TABLE_FOLDER = re.compile(r"(\d{8}|latest|undated)-(\d+(?:\.\d+)*)")
_ENTITY_FOLDERS = (
    ("wikidatawiki", "entities"),
    ("other", "wikibase", "wikidatawiki"),
    ("wikibase", "wikidatawiki"),
    ("wikidata",),
)
# .bz2 first, because every worker must decompress a .gz from its start
_ENTITY_SUFFIXES = (".bz2", ".gz")


class WikiDump(NamedTuple):
    """The input files of one build of a Wikipedia, and the date of its dump."""

    language: str  # corpus code, "zh-tw"
    dbname: str  # "zhwiki"
    date: str  # "20230501" or "latest"
    dump: list[str]
    page_props: list[str]  # page_props files; if the dump has none, those of the nearest other date
    page_table: list[str]
    # items_per_site files; only if there is no page_props, which is smaller
    items_per_site: list[str]
    # pages-articles files of an earlier date, as `add_older_dumps` finds them
    older: Sequence[str] = ()


class MissingWiki(NamedTuple):
    """A language that cannot be built, with the reason."""

    language: str
    reason: str


class PassedOver(NamedTuple):
    """A folder with a dump that was skipped, with the reason."""

    dbname: str
    date: str
    reason: str


class EntitySource(NamedTuple):
    """An entity table or entity dump, from which the classes of entities are read."""

    kind: str  # "table" (a folder that `corpusmill entities` has made) or "dump"
    date: str
    path: str


class FoundDumps(NamedTuple):
    """The dumps found in folders, in the order of the languages. Dumps of a language are in order of date."""

    wikis: list[WikiDump]
    missing: list[MissingWiki]
    passed_over: list[PassedOver]
    # one source for all wikis, because classes do not depend on the language
    entities: EntitySource | None


class _Place(NamedTuple):
    date: str
    layout: str  # DUMPS or EXPORTS
    folders: list[str]  # in the order of the roots


class _Usable(NamedTuple):
    date: str
    dump: list[str]
    page_props: list[str]
    page_table: list[str]


class _Found(NamedTuple):
    usable: list[_Usable]
    passed_over: list[PassedOver]
    reason: str  # reason why nothing is usable


def parse_languages(text: str, roots: Sequence[str] = ()) -> tuple[str, ...]:
    """Parses a list of languages such as "uk,el". Returns the codes in Wikipedia's addresses, each once.

    "paper" means the 41 corpora of the Wiki-40B paper. "all" means all Wikipedias that have a folder below
    the roots.

    Raises:
      ValueError: a code is unknown and has no folder; the message names similar codes.
      InputError: "all" was given, but there is no folder of a Wikipedia.
    """
    codes = tuple(dict.fromkeys(code_of_language(code) for code in text.split(",") if code.strip()))
    if not codes:
        raise ValueError(f"no language given; known languages: {', '.join(LANGUAGE_CODES)}")
    if codes == (PAPER,):
        return LANGUAGE_CODES
    if codes == (ALL,):
        if not (found := codes_of(_wikis_below(roots))):
            raise read_files.InputError(
                ", ".join(roots), f"no folder of a Wikipedia; looked for {EXAMPLES}"
            )
        return found
    for code in codes:
        dbname = dbname_of(code)
        if code in LANGUAGE_CODES or mediawiki_table(code):
            continue
        wikis = _wikis_below(roots)
        if dbname not in wikis:
            raise ValueError(f"no such language: {code!r}{near_codes(code, codes_of(wikis))}")
    return codes


def _wikis_below(roots: Sequence[str]) -> set[str]:
    """Returns the names of the folders that may contain dumps of a wiki."""
    for root in roots:
        read_files.check_folder(root)
    return {
        name
        for parent in (*roots, *folders_of_wikis(roots, dump_folder.CURRENT))
        for name in read_files.list_subfolders(parent)
    }


def find_dumps(
    roots: Sequence[str],
    languages: Sequence[str],
    date: str = NEWEST,
    layout: str = dump_folder.ANY,
    *,
    keep_good: bool = False,
) -> FoundDumps:
    """Finds the dumps of the given languages below the roots.

    If two roots have a file with the same name, the file below the first root is used.

    Args:
      roots: folders with the layout of the dump server.
      languages: corpus codes.
      date: a date like "20230501" or "2023-05-01"; "newest" for the newest dump of each wiki that seems
        complete; "all" for the dumps of all dates; "latest" for the folder "latest". With "newest" and
        "all", the folder "latest" is used for a wiki only if no folder with a date has a complete dump.
      layout: layouts to look for, one of LAYOUTS: dumps with dumpstatus.json, Content File Exports, or both.
      keep_good: True to accept an export with missing files or pages.

    Raises:
      ValueError: unknown language, invalid date or unknown layout.
      InputError: a root is not a folder, or there is no dump at all.
    """
    date = plain_date(date)
    if layout not in dump_folder.LAYOUTS:
        raise ValueError(f"layout must be one of {', '.join(dump_folder.LAYOUTS)}, not {layout!r}")
    if date not in (NEWEST, ALL, LATEST) and not _DATE.fullmatch(date):
        raise ValueError(
            f"{date!r} is not a date; expected {NEWEST}, {ALL}, {LATEST}, or one like 20230501"
        )
    for root in roots:
        read_files.check_folder(root)
    of_wiki = {
        dbname: _find_wiki(roots, dbname, date, layout, keep_good)
        for dbname in map(dbname_of, languages)
    }
    wikis, missing = [], []
    for language in languages:
        usable, _, reason = of_wiki[dbname_of(language)]
        wikis.extend([_wiki_dump(roots, language, one) for one in usable])
        if not usable:
            missing.append(MissingWiki(language, reason))
    if not wikis:
        raise read_files.InputError(", ".join(roots), _describe_nothing(missing))
    passed_over = itertools.chain.from_iterable(found.passed_over for found in of_wiki.values())
    return FoundDumps(wikis, missing, list(passed_over), find_entities(roots, date))


def add_older_dumps(found: FoundDumps, roots: Sequence[str]) -> FoundDumps:
    """Adds to each wiki an older dump: the newest dump below `roots` with an earlier date.

    Wikis without such a dump are moved to the field `missing`.

    Args:
      found: dumps of wikis. If the date of a wiki's dump is unknown, the newest dump below `roots` that has
        a date is used as its older dump.
      roots: folders with the layout of the dump server, in which older dumps are searched.

    Raises InputError if a root is not a folder, or no wiki has an older dump.
    """
    for root in roots:
        read_files.check_folder(root)
    wikis, missing = [], list(found.missing)
    for wiki in found.wikis:
        of_wiki = _find_wiki(roots, wiki.dbname, ALL, dump_folder.ANY, keep_good=False)
        dated = [one for one in of_wiki.usable if one.date.isdigit()]
        if older := [one for one in dated if one.date < wiki.date or not wiki.date.isdigit()]:
            wikis.append(wiki._replace(older=older[-1].dump))
        else:
            there = of_wiki.reason or f"there is {', '.join(one.date for one in of_wiki.usable)}"
            why = f"no dump older than {wiki.date} below {' '.join(roots)}: {there}"
            missing.append(MissingWiki(wiki.language, why))
    if not wikis:
        raise read_files.InputError(", ".join(roots), _describe_nothing(missing))
    return found._replace(wikis=wikis, missing=missing)


def find_entities(roots: Sequence[str], date: str = NEWEST) -> EntitySource | None:
    """Returns an entity table or entity dump below the roots, or None if there is none.

    By default, the newest one is returned. If `date` is a date, returns the one of this date, or else the
    first one after this date, or else the newest one. If a finished table and a dump have the same date, the
    table is returned.
    """
    sources = [*_entity_tables(roots), *_entity_dumps(roots)]
    chosen = _choose_date({source.date for source in sources}, date)
    return next((source for source in sources if source.date == chosen), None)


def _describe_nothing(missing: Sequence[MissingWiki]) -> str:
    reasons = [f"{one.language}: {one.reason}" for one in missing]
    return f"no dump to build from ({_some(reasons)}); looked for {EXAMPLES}"


def _some(reasons: Sequence[str]) -> str:
    more = len(reasons) - SHOWN_REASONS
    return "; ".join(reasons[:SHOWN_REASONS]) + (f"; and {more} more" if more > 0 else "")


# Files of one wiki.


def _find_wiki(
    roots: Sequence[str], dbname: str, date: str, layout: str, keep_good: bool
) -> _Found:
    if not (places := _list_places(roots, dbname, layout)):
        return _Found([], [], _why_no_places(roots, dbname))
    usable: dict[str, _Usable] = {}
    passed_over: list[PassedOver] = []
    for place in places:
        if usable and (date == NEWEST or place.date == LATEST):
            break
        if date not in (NEWEST, ALL, place.date) or place.date in usable:
            continue
        try:
            usable[place.date] = _use(place, dbname, keep_good)
        except dump_folder.UnusableDumpError as error:
            passed_over.append(PassedOver(dbname, place.date, str(error)))
    reasons = [f"{one.date}: {one.reason}" for one in passed_over]
    reason = _some(reasons) or f"no folder {dbname}/{date}"
    return _Found(sorted(usable.values()), sorted(passed_over), "" if usable else reason)


def _list_places(roots: Sequence[str], dbname: str, layout: str) -> list[_Place]:
    """Returns the folders with dumps of a wiki, grouped by date.

    The newest date is first; folders without a date are last.
    """
    found = {
        dump_folder.DUMPS: _dated_folders(roots, dbname) if layout != dump_folder.EXPORTS else {},
        dump_folder.EXPORTS: find_exports(roots, dbname) if layout != dump_folder.DUMPS else {},
    }
    places = [_Place(date, one, folders) for one in found for date, folders in found[one].items()]
    return sorted(places, key=lambda place: _age(place.date))


def _why_no_places(roots: Sequence[str], dbname: str) -> str:
    for parent in folders_of_wikis(roots, dump_folder.HISTORY):
        if read_files.list_subfolders(FileSystems.join(parent, dbname)):
            return f"there is only {dump_folder.HISTORY} for {dbname}: exports of all revisions are not read"
    return f"no folder {dbname} with a dated subfolder"


def _age(date: str) -> tuple[bool, int]:
    """Returns a sort key for the names of folders: the newest date first, names without a date last."""
    return (False, -int(date)) if date.isdigit() else (True, 0)


def _use(place: _Place, dbname: str, keep_good: bool) -> _Usable:
    if place.layout == dump_folder.EXPORTS:
        dump = use_export(place.folders, dbname, place.date, keep_good=keep_good)
        return _Usable(place.date, dump, [], [])
    paths, folder = _look_into(place.folders, dbname, place.date)
    files = dump_folder.select_files(folder)
    dump, page_props, page_table = ([paths[name] for name in names] for names in files)
    return _Usable(place.date, dump, page_props, page_table)


def _look_into(
    folders: Sequence[str], dbname: str, date: str
) -> tuple[Mapping[str, str], dump_folder.DumpFolder]:
    """Lists the files of one dump, which may be in several folders.

    Returns (name of the file → its path, description of the dump).
    """
    paths, sizes = _list_files(folders)
    jobs: Mapping[str, object] = {}
    if "dumpstatus.json" in paths:
        with read_files.open_raw(paths["dumpstatus.json"]) as stream:
            jobs = dump_folder.parse_jobs(stream.read())
    return paths, dump_folder.DumpFolder(dbname, date, sizes, jobs)


def _wiki_dump(roots: Sequence[str], language: str, usable: _Usable) -> WikiDump:
    dbname = dbname_of(language)
    page_props = usable.page_props or _find_page_props(roots, dbname, usable.date)
    items = {} if page_props else _find_table(roots, "wikidatawiki", "wb_items_per_site")
    chosen = _choose_date(items, usable.date)
    found = usable._replace(page_props=page_props)
    return WikiDump(language, dbname, *found, items_per_site=[items[chosen]] if chosen else [])


def _find_page_props(roots: Sequence[str], dbname: str, date: str) -> list[str]:
    """Returns page_props files of another date, for a dump without page_props.

    The nearest date is used. If two dates are equally near, the later one is used. A page table of another
    date is never used: if a page is not in it, the page may have been created later.
    """
    found = _find_table(roots, dbname, "page_props")
    dates = sorted(filter(checked_date, found), reverse=True) if checked_date(date) else []
    nearest = min(dates, key=lambda one: abs(days_between(one, checked_date(date))), default="")
    return [found[nearest]] if nearest else []


# Files shared by all wikis.


def _find_table(roots: Sequence[str], dbname: str, table: str) -> dict[str, str]:
    """Returns date → path of the SQL dump of a table.

    Dumps in folders that seem incomplete are left out.
    """
    found: dict[str, str] = {}
    for candidate, folders in _dated_folders(roots, dbname).items():
        try:
            paths, folder = _look_into(folders, dbname, candidate)
            for name in dump_folder.select_table(folder, table):
                found[candidate] = paths[name]
        except dump_folder.UnusableDumpError:
            continue  # another date may have a complete table
    return found


def _choose_date(dates: Iterable[str], date: str) -> str:
    """Chooses one of several dates.

    Returns `date` if it is among them, otherwise the first date after it, otherwise the newest one. Returns
    "" if there are no dates.
    """
    newest_first = sorted(dates, key=_age)
    if date in newest_first:
        return date
    after = [one for one in newest_first if one.isdigit() and date.isdigit() and one > date]
    return after[-1] if after else next(iter(newest_first), "")


def _entity_tables(roots: Sequence[str]) -> list[EntitySource]:
    """Returns the finished entity tables below the roots.

    Among tables of the same date, the first is the one with the newest version.
    """
    found = []
    for folder, name in _subfolders_of(roots, "entities", "wikidata"):
        matched = _TABLE_FOLDER.fullmatch(name)
        if matched and FileSystems.exists(FileSystems.join(folder, COMPLETED)):
            version = tuple(map(int, matched[2].split(".")))
            found.append((version, EntitySource("table", matched[1], folder)))
    return [source for _, source in sorted(found, key=lambda pair: pair[0], reverse=True)]


def _entity_dumps(roots: Sequence[str]) -> Iterator[EntitySource]:
    """Yields all entity dumps below the roots.

    Among dumps of the same date, the first is one whose compression lets several workers share the file.
    """
    dated = [
        (date, folder, read_files.list_files(folder))
        for below in _ENTITY_FOLDERS
        for date, folders in _dated_folders(roots, *below).items()
        for folder in folders
    ]
    for suffix, (date, folder, files) in itertools.product(_ENTITY_SUFFIXES, dated):
        name = f"wikidata-{date}-all.json{suffix}"
        if name in files:
            yield EntitySource("dump", date, FileSystems.join(folder, name))
    for suffix, below, root in itertools.product(_ENTITY_SUFFIXES, _ENTITY_FOLDERS, roots):
        path = FileSystems.join(root, *below, f"latest-all.json{suffix}")
        if FileSystems.exists(path):
            yield EntitySource("dump", LATEST, path)


# Folders.


def _dated_folders(roots: Sequence[str], *below: str) -> dict[str, list[str]]:
    """Returns date → folders of this date, in the order of the roots. `below` is a path below the roots."""
    found = ((name, folder) for folder, name in _subfolders_of(roots, *below))
    return grouped(one for one in found if one[0] == LATEST or _DATE.fullmatch(one[0]))


def _subfolders_of(roots: Sequence[str], *below: str) -> Iterator[tuple[str, str]]:
    """Yields (path, name) of each folder in <root>/<below>.

    The folders are in the order of the roots, and sorted by name below each root.
    """
    for root in roots:
        parent = FileSystems.join(root, *below)
        for name in read_files.list_subfolders(parent):
            yield FileSystems.join(parent, name), name
