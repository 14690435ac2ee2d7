"""Checks, before a build starts, that a dump is complete and of the expected wiki."""

import pathlib
import posixpath
from collections.abc import Mapping, Sequence

from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.wikipedia.dump_folder import name_some
from corpusmill.transforms.wikipedia.export_folder import (
    CURRENT,
    HISTORY,
    ExportFile,
    find_gaps,
    parse_name,
    why_not_one_export,
)
from corpusmill.transforms.wikipedia.listed_sums import sums_beside
from corpusmill.transforms.wikipedia.mediawiki_xml import Siteinfo
from corpusmill.transforms.wikipedia.read_dumps import check_end, read_siteinfo
from corpusmill.transforms.wikitext.wikis import codes_of, mediawiki_table

_XML_LANGUAGES = {"zh-cn": "zh", "zh-tw": "zh"}
# Sites other than Wikipedia: suffix of the database name → name of the site, which is the same in all
# supported languages.
_SISTER_SITES = {"wikinews": "Wikinews", "wikibooks": "Wikibooks", "wikivoyage": "Wikivoyage"}


def check_dumps(
    paths: Sequence[str],
    language: str,
    dbname: str,
    *,
    whole: bool,
    ignore_siteinfo: bool = False,
    settings: Mapping[str, str] | None = None,
) -> Siteinfo:
    """Checks a dump and returns its head.

    Args:
      paths: dump files of one wiki; the list must not be empty.
      language: corpus code, such as "zh-tw".
      dbname: database name of the wiki, such as "zhwiki" or "enwikinews".
      whole: True to raise an error if the dump is truncated.
      ignore_siteinfo: True to accept any head. Nothing in the head is used then, not even the names of
        namespaces.
      settings: database name of each wiki → command-line flag for its dump. If the dump is of another wiki,
        the error message names the right flag. None for builds from one wiki; then the message suggests a
        value for --language.

    Raises InputError for a file of another wiki, for a truncated file, and for files that are not from the
    same export.
    """
    check_ranges(paths, whole=whole)
    for path in paths:
        site = read_siteinfo(path)
        if ignore_siteinfo:
            site = Siteinfo(dbname="", language=language, sitename="", namespaces={})
        elif not _is_of(site, language, dbname):
            is_of = site.dbname or f"{site.sitename or 'a wiki'} in {site.language!r}"
            suggestion = _suggest(site) if settings is None else _suggest_setting(site, settings)
            raise InputError(path, f"a dump of {is_of}, not of {dbname}{suggestion}", 0)
        if whole:
            check_end(path)
    return site


def check_ranges(paths: Sequence[str], *, whole: bool) -> None:
    """Checks the page ranges in the names of export files.

    Raises InputError if two files overlap. If `whole` is True, also raises it if pages are missing between
    files.
    """
    files = _export_files(paths)
    reason = why_not_one_export(files)
    if not reason and whole and (gaps := find_gaps(files)):
        reason = f"{gaps[0]}; --on-corrupt keep-good builds without them"
    if reason:
        raise InputError(posixpath.dirname(paths[0]) or ".", reason)


def caveats_of_export(paths: Sequence[str]) -> tuple[str, ...]:
    """Returns sentences for the dataset card about pages or files that are missing in an export.

    They are detected from the file names, and from the checksum lists in the same folders.
    """
    gaps = (f"In the export, {gap}." for gap in find_gaps(_export_files(paths)))
    listed = (path for path in sums_beside(paths) if path not in set(paths))
    unread = [file.name for file in _export_files(list(listed))]
    if not unread:
        return tuple(gaps)
    names = name_some(unread, len(unread))
    return (*gaps, f"SHA256SUMS lists files of the export that were not read: {names}.")


def _export_files(paths: Sequence[str]) -> list[ExportFile]:
    for path in paths:
        if HISTORY in pathlib.PurePosixPath(path).parts:
            raise InputError(
                path, f"an export of all revisions is not supported; use one from {CURRENT}"
            )
    return sorted(filter(None, map(parse_name, paths)))


def _is_of(site: Siteinfo, language: str, dbname: str) -> bool:
    if site.dbname:
        return site.dbname == dbname
    sister = next((name for end, name in _SISTER_SITES.items() if dbname.endswith(end)), "")
    is_sister = site.sitename in _SISTER_SITES.values()
    if site.sitename and site.sitename != sister and (sister or is_sister):
        return False
    written_in = str(mediawiki_table(language).get("language", language))
    return site.language == _XML_LANGUAGES.get(language, written_in)


def _suggest(site: Siteinfo) -> str:
    codes = " or ".join(codes_of([site.dbname]))
    if not codes:
        return ""
    return (
        f"; did you mean --language {codes}? (--ignore-siteinfo, if the head of the dump is wrong)"
    )


def _suggest_setting(site: Siteinfo, settings: Mapping[str, str]) -> str:
    setting = settings.get(site.dbname)
    return f"; did you mean {setting}?" if setting else ""
