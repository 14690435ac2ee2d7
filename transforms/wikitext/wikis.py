"""Lists the existing Wikipedias, and maps language codes to database names and back.

The code of a wiki is the one in its address: "zh-yue" for `zh_yuewiki`. Codes used elsewhere, such as "yue",
are aliases.
"""

import difflib
import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from corpusmill.transforms.files.toml_tables import read_table

# fmt: off
LANGUAGE_CODES: tuple[str, ...] = (
    "en", "ar", "zh-cn", "zh-tw", "nl", "fr", "de", "it", "ja", "ko", "pl", "pt", "ru", "es",
    "th", "tr", "bg", "ca", "cs", "da", "el", "et", "fa", "fi", "he", "hi", "hr", "hu", "id",
    "lt", "lv", "ms", "no", "ro", "sk", "sl", "sr", "sv", "tl", "uk", "vi",
)
# fmt: on
"""The corpora of the Wiki-40B paper. Their tables were written by hand and checked against pages."""

_SHARED_WIKIS = {"zh-cn": "zhwiki", "zh-tw": "zhwiki"}
_BE_TARASK = (
    "be-tarask",
    "be_x_oldwiki",
)  # the only wiki whose code differs from the name of its database
_CODE = re.compile(r"[a-z]{2,}(?:-[a-z]+)*")


def _of_mediawiki() -> Mapping[str, Any]:
    return read_table(__package__, "languages/mediawiki.toml")


def mediawiki_table(code: str) -> Mapping[str, Any]:
    """Returns the table of a wiki in `languages/mediawiki.toml`, or {} if the file does not list the wiki.

    The table contains words from MediaWiki's own localisation and configuration. `code` is the code of the
    wiki, such as "zh-yue".
    """
    table: Mapping[str, Any] = _of_mediawiki()["wikis"].get(code, {})
    return table


@functools.cache
def switches() -> frozenset[str]:
    """Returns MediaWiki's behavior switches without their underscores, such as "notoc" for `__NOTOC__`.

    The words are case-folded.
    """
    return frozenset(word.casefold() for word in _of_mediawiki()["switches"])


def mediawiki_versions() -> str:
    """Returns the sources of `languages/mediawiki.toml` and their versions, as text.

    For example: "MediaWiki 1.43.9 (Debian …), operations-mediawiki-config 349dc09 (2026-08-21), …".
    """
    return str(_of_mediawiki()["versions"])


def code_of(dbname: str) -> str:
    """Returns the code in the address of a Wikipedia, given its database name: "zh-yue" for "zh_yuewiki"."""
    code, named = _BE_TARASK
    return code if dbname == named else dbname.removesuffix("wiki").replace("_", "-")


def _database_of(code: str) -> str:
    tarask, dbname = _BE_TARASK
    return dbname if code == tarask else code.replace("-", "_") + "wiki"


@functools.cache
def _aliases() -> Mapping[str, str]:
    """Returns language code → code of the wiki, for languages where these differ: "yue" → "zh-yue"."""
    tables = _of_mediawiki()["wikis"]
    return {
        table["language"]: code
        for code, table in tables.items()
        if table["language"] not in (*tables, code)
    }


def canonical_code(code: str) -> str:
    """Returns the code in a wiki's address, given any of the wiki's codes: "zh-yue" for "yue", "no" for "nb".

    An unknown code is returned in lower case with hyphens: it may be a new wiki.
    """
    if code in LANGUAGE_CODES:
        return code
    plain = code_of(_database_of(code.strip().lower().replace("_", "-")))
    return _aliases().get(plain, plain)


def dbname_of(code: str) -> str:
    """Returns the database name of the wiki from which a corpus is built: "zhwiki" for "zh-tw".

    `code` is the code of a corpus of the Wiki-40B paper, or the code in the address of another Wikipedia.

    Raises:
        ValueError: the code is neither of these. If it is an alias of a wiki's code, the message gives the
          wiki's code.
    """
    if code in LANGUAGE_CODES:
        return _SHARED_WIKIS.get(code, f"{code}wiki")
    dbname = _database_of(code)
    if dbname in _SHARED_WIKIS.values():
        corpora = " and ".join(one for one, wiki in _SHARED_WIKIS.items() if wiki == dbname)
        raise ValueError(f"{dbname} has two corpora, {corpora}: choose one, not {code!r}")
    if not _CODE.fullmatch(code) or dbname in _of_mediawiki()["not_wikipedias"]:
        raise ValueError(f"no such language: {code!r}{near_codes(code)}")
    if canonical_code(code) != code:
        raise ValueError(
            f"no such language: {code!r}; use the code of its wiki, {canonical_code(code)}"
        )
    return dbname


def codes_of(dbnames: Iterable[str]) -> tuple[str, ...]:
    """Returns the codes of all corpora that can be built from the given wikis.

    Wikis that are not Wikipedias are ignored. The corpora of the Wiki-40B paper come first, in the order of
    the paper.
    """
    wikis = {name for name in dbnames if name.endswith("wiki")} - {
        *_of_mediawiki()["not_wikipedias"]
    }
    of_paper = [code for code in LANGUAGE_CODES if dbname_of(code) in wikis]
    others = wikis - {dbname_of(code) for code in LANGUAGE_CODES}
    codes = (code_of(name) for name in sorted(others))
    return *of_paper, *(code for code in codes if _CODE.fullmatch(code))


def open_codes() -> tuple[str, ...]:
    """Returns the codes of the corpora of all Wikipedias that are not closed.

    Only the Wikipedias that `languages/mediawiki.toml` lists are known.
    """
    known = {_database_of(code) for code in _of_mediawiki()["wikis"]}
    return codes_of(known - {*_of_mediawiki()["closed"]})


def near_codes(code: str, codes: Iterable[str] = ()) -> str:
    """Returns the end of an error message about an unknown code: "; similar codes are hy, hyw".

    Returns "" if no codes are similar. `codes` are the codes to choose from; if it is empty, the codes of all
    open Wikipedias are used.
    """
    known = [*codes] or sorted(open_codes())
    near = difflib.get_close_matches(code, known, n=5, cutoff=0.5)
    return f"; similar codes are {', '.join(near)}" if near else ""
