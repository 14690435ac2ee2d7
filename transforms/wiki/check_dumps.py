"""What can be told of a dump before hours go into it: of which wiki it is, and whether it is whole."""

import re
from collections.abc import Mapping, Sequence

from transforms.files.open_input import InputError
from transforms.text.wikimedia.language import LANGUAGE_CODES
from transforms.text.wikimedia.mediawiki_xml import HISTORY_EXPORT, Siteinfo
from transforms.wiki.read_dumps import check_end, read_siteinfo

_PART_OF_PAGE = re.compile(
    r"-p([0-9]+)r[0-9]+r[0-9]+\.xml[^/]*$"
)  # and its first and last revision
_XML_LANGUAGES = {"no": "nb", "zh-cn": "zh", "zh-tw": "zh"}
# Wikis beside Wikipedia: how their database names end, and the names of the sites, which are the same in
# all languages that are built from.
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
    """The head of the dump.

    Args:
      paths: dump files of one wiki, at least one.
      language: corpus code, "zh-tw".
      dbname: the wiki, "zhwiki" or "enwikinews".
      whole: whether a dump that is cut off is an error.
      ignore_siteinfo: take the dump for one of `dbname` whatever its head says; of the head nothing is
        believed then, the names of its namespaces least of all.
      settings: of a build from several wikis: database name → the flag that takes its dump, which the
        message then points to. Other builds have one --language.

    Raises InputError for a file of another wiki, one that is not whole at its end, and a history export.
    """
    _check_parts(paths)
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


def _check_parts(paths: Sequence[str]) -> None:
    """Raises InputError where a page is in several files, as history exports have it."""
    pages: set[str] = set()
    for path in paths:
        found = _PART_OF_PAGE.search(path)
        if found and found[1] in pages:
            raise InputError(path, f"page {found[1]} is in several files: {HISTORY_EXPORT}")
        pages.update(found.groups() if found else ())


def _is_of(site: Siteinfo, language: str, dbname: str) -> bool:
    if site.dbname:
        return site.dbname == dbname
    sister = next((name for end, name in _SISTER_SITES.items() if dbname.endswith(end)), "")
    is_sister = site.sitename in _SISTER_SITES.values()
    if site.sitename and site.sitename != sister and (sister or is_sister):
        return False
    return site.language == _XML_LANGUAGES.get(language, language)


def _suggest(site: Siteinfo) -> str:
    code = site.dbname.removesuffix("wiki")
    if code not in LANGUAGE_CODES:
        return ""
    return (
        f"; did you mean --language {code}? (--ignore-siteinfo, if the head of the dump is wrong)"
    )


def _suggest_setting(site: Siteinfo, settings: Mapping[str, str]) -> str:
    setting = settings.get(site.dbname)
    return f"; did you mean {setting}?" if setting else ""
