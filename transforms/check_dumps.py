"""What can be told of a dump before hours go into it: of which wiki it is, and whether it is whole."""

from collections.abc import Sequence

from transforms.open_input import InputError
from transforms.read_dumps import check_end, read_siteinfo
from transforms.text.wikimedia.language import LANGUAGE_CODES
from transforms.text.wikimedia.mediawiki_xml import Siteinfo

_XML_LANGUAGES = {"no": "nb", "zh-cn": "zh", "zh-tw": "zh"}


def check_dumps(
    paths: Sequence[str], language: str, dbname: str, *, whole: bool, ignore_siteinfo: bool = False
) -> Siteinfo:
    """The head of the dump.

    Args:
      paths: dump files of one wiki, at least one.
      language: corpus code, "zh-tw".
      dbname: the wiki, "zhwiki".
      whole: whether a dump that is cut off is an error.
      ignore_siteinfo: take the dump for one of `dbname` whatever its head says; of the head nothing is
        believed then, the names of its namespaces least of all.

    Raises InputError for a file of another wiki, or one that is not whole at its end.
    """
    for path in paths:
        site = read_siteinfo(path)
        if ignore_siteinfo:
            site = Siteinfo(dbname="", language=language, sitename="", namespaces={})
        elif not _is_of(site, language, dbname):
            is_of = site.dbname or f"a wiki in {site.language!r}"
            raise InputError(path, f"a dump of {is_of}, not of {dbname}{_suggest(site)}", 0)
        if whole:
            check_end(path)
    return site


def _is_of(site: Siteinfo, language: str, dbname: str) -> bool:
    if site.dbname:
        return site.dbname == dbname
    return site.language == _XML_LANGUAGES.get(language, language)


def _suggest(site: Siteinfo) -> str:
    code = site.dbname.removesuffix("wiki")
    if code not in LANGUAGE_CODES:
        return ""
    return (
        f"; did you mean --language {code}? (--ignore-siteinfo, if the head of the dump is wrong)"
    )
