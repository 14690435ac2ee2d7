"""Lists the existing Wikipedias, and maps language codes to database names and back.

The code of a wiki is the one in its address: "zh-yue" for `zh_yuewiki`. Codes used elsewhere, such as "yue",
are aliases.

Reads data about languages from Unicode's CLDR: names, months, date formats, number formats and units.

The data is part of the library Babel. For languages with tables written by hand (languages/*.toml), only the
units are taken from CLDR.

Reads data about MediaWiki's parser functions: their names in all languages, forms of plurals, and quotation
marks. English names of functions are valid in all wikis.

Finds the code of a Wikipedia by the name of its language, in English or in the language itself.

The names are from CLDR.
"""

import decimal
import difflib
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ..files.markup import read_toml

if TYPE_CHECKING:
    from babel import Locale

# fmt: off
LANGUAGE_CODES: tuple[str, ...] = (
    "en", "ar", "zh-cn", "zh-tw", "nl", "fr", "de", "it", "ja", "ko", "pl", "pt", "ru", "es",
    "th", "tr", "bg", "ca", "cs", "da", "el", "et", "fa", "fi", "he", "hi", "hr", "hu", "id",
    "lt", "lv", "ms", "no", "ro", "sk", "sl", "sr", "sv", "tl", "uk", "vi",
)
# fmt: on
"""The corpora of the Wiki-40B paper, in the order of the paper."""

_SHARED_WIKIS = {"zh-cn": "zhwiki", "zh-tw": "zhwiki"}
# The only wiki whose code differs from the name of its database
_BE_TARASK = ("be-tarask", "be_x_oldwiki")
_CODE = re.compile(r"[a-z]{2,}(?:-[a-z]+)*")


def _of_mediawiki() -> Mapping[str, Any]:
    return read_toml(__package__, "languages/mediawiki.toml")


def mediawiki_table(code: str) -> Mapping[str, Any]:
    """Returns the table of a wiki in `languages/mediawiki.toml`, or {} if the file does not list the wiki.

    The table contains words from MediaWiki's own localisation and configuration. `code` is the code of the
    wiki, such as "zh-yue".
    """
    table: Mapping[str, Any] = _of_mediawiki()["wikis"].get(code, {})
    return table


@functools.cache
def switches() -> frozenset[str]:
    """Returns MediaWiki's behavior switches in all languages, such as `__notoc__`, case-folded."""
    return frozenset(word.casefold() for word in _of_mediawiki()["switches"])


@functools.cache
def longest_switch() -> int:
    """Returns the length of the longest behavior switch."""
    return max(map(len, switches()))


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
    not_wikipedias = _of_mediawiki()["not_wikipedias"]
    wikis = {name for name in dbnames if name.endswith("wiki")}.difference(not_wikipedias)
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
    near = difflib.get_close_matches(code, [*codes] or sorted(open_codes()), n=5, cutoff=0.5)
    return f"; similar codes are {', '.join(near)}" if near else ""


LIBRARY = "babel"

_NUMBERED_MONTH = re.compile(r"M\d\d")  # CLDR's root has this for a month without a name
_DATE_TOKEN = re.compile(r"'([^']*)'|(d{1,2}(?!d)|y+|[ML]{3,5})|([A-Za-z]+)")
_FIELDS = {"d": "{day}", "y": "{year}", "M": "{month}", "L": "{month}"}
_LATIN = re.compile(r"[\x00-\u02af\u1e00-\u1eff²³⋅·′″/ \u200e\u200f]*")
_MAX_DIGITS = 20
_SOME = 12  # sample number for units; 1 and 2 have forms of their own
# Codes of Wikipedias and corpora → codes of CLDR, if they differ
_CODES = {"zh-tw": "zh_Hant", "zh-cn": "zh_Hans", "no": "nb", "tl": "fil", "simple": "en"}


def _cldr_units() -> Mapping[str, str]:
    """Returns the symbol of a unit in `{{convert}}` → the unit in CLDR."""
    units: Mapping[str, str] = read_toml(__package__, "conversion/units.toml")["cldr"]
    return units


def cldr_version() -> str:
    """Returns the version of the CLDR data in Babel."""
    from babel.core import get_cldr_version

    return get_cldr_version()


def locale_of(languages: Iterable[str]) -> "Locale | None":
    """Returns the data of the first of the given languages that CLDR has, or None."""
    from babel import Locale
    from babel.localedata import exists

    codes = (_CODES.get(code, code).replace("-", "_") for code in languages)
    return next((Locale.parse(code) for code in codes if exists(code)), None)


def own_name(language: str) -> str:
    """Returns the name of a language in the language itself, or "" if CLDR does not have it."""
    locale = locale_of([language])
    code = _CODES.get(language, language).replace("-", "_")
    return locale.languages.get(code, "") if locale else ""


def first_known(languages: Iterable[str]) -> str:
    """Returns the first of the languages that CLDR has, or "" if it has none of them."""
    return next((code for code in languages if locale_of([code])), "")


def numbers_of(languages: Sequence[str], *, native: bool) -> dict[str, Any]:
    """Returns the number format of a language, as keyword arguments for NumberFormat.

    The language is the first of `languages` that CLDR has. Returns {} if CLDR has none of them.

    Args:
        languages: language codes in order of preference.
        native: True to use the separators of the language's own digits (such as Arabic-Indic digits), if
          there are any.
    """
    locale = locale_of(languages)
    if not locale:
        return {}
    symbols = locale.number_symbols
    own = symbols.get(locale.default_numbering_system, {}) if native else {}
    shown = own if own.get("group") and own.get("decimal") else symbols["latn"]
    grouping = locale.decimal_formats[None].grouping
    return {
        "group": shown["group"],
        "decimal": shown["decimal"],
        "group_size": 2 if grouping[-1] == 2 else 3,
    }


def months_of(language: str) -> tuple[str, ...]:
    """Returns the names of the twelve months in the form used in dates, or () if CLDR does not have them."""
    locale = locale_of([language])
    months = tuple(locale.months["format"]["wide"].values()) if locale else ()
    return () if len(months) != 12 or any(map(_NUMBERED_MONTH.fullmatch, months)) else months


def dates_of(language: str, months: Sequence[str]) -> dict[str, str]:
    """Returns the patterns for a date ("day") and for a month with its year ("month").

    A pattern that has other fields than day, month and year is left out.

    Args:
        language: the code of a Wikipedia or corpus.
        months: the names of the months. If all have the same ending, such as "月" in "1月", this ending is
          removed from the patterns, because the names already contain it.
    """
    locale = locale_of([language])
    if not locale:
        return {}
    patterns = {"day": locale.date_formats["long"], "month": locale.datetime_skeletons["yMMMM"]}
    ends = {month.lstrip("0123456789") for month in months}
    end = ends.pop() if len(ends) == 1 else ""  # "月" of "1月"
    shown = {key: _shown(str(pattern.pattern), end) for key, pattern in patterns.items()}
    return {key: form for key, form in shown.items() if form}


def _shown(pattern: str, end: str) -> str:
    """Converts a CLDR date pattern to a form such as "{day} {month} {year}".

    Returns "" if the pattern has fields other than day, month and year.

    Args:
        pattern: the CLDR date pattern.
        end: the common ending of all month names, which is removed from the pattern; "" for none.
    """
    if end:
        pattern = re.sub(rf"[ML]{{1,5}}(?:{re.escape(end)})?", "MMMM", pattern)
    if any(match[3] for match in _DATE_TOKEN.finditer(pattern)):
        return ""
    plain = pattern.replace("\u202f", " ").replace("\u00a0", " ")
    return _DATE_TOKEN.sub(lambda one: one[1] if one[2] is None else _FIELDS[one[2][0]], plain)


@functools.lru_cache(maxsize=64)
def languages_of(language: str) -> Mapping[str, str]:
    """Returns code of a language → its name in the given language, for all languages in CLDR."""
    locale = locale_of([language])
    names = locale.languages if locale else {}
    return {code.replace("_", "-").lower(): name for code, name in names.items()}


def countries_of(language: str) -> dict[str, str]:
    """Returns two-letter code of a country → its name in the given language, for all countries in CLDR."""
    locale = locale_of([language])
    names = locale.territories if locale else {}
    return {code: name for code, name in names.items() if len(code) == 2}


def units_of(language: str) -> dict[str, str]:
    """Returns the English symbol of a unit → its symbol in the given language, if the two differ."""
    locale = locale_of([language])
    if not locale:
        return {}
    shown = {symbol: _symbol(unit, locale) for symbol, unit in _cldr_units().items()}
    return {symbol: own for symbol, own in shown.items() if own not in ("", symbol)}


def units_in_other_script(language: str) -> dict[str, str]:
    """Returns those entries of `units_of` in which the symbol in the language is not in Latin script."""
    return {symbol: own for symbol, own in units_of(language).items() if not _LATIN.fullmatch(own)}


def _symbol(unit: str, locale: "Locale") -> str:
    """Returns the symbol of a unit, or "" if CLDR has none or writes the symbol before the number."""
    from babel.units import format_unit

    shown = format_unit(_SOME, unit, length="short", locale=locale, numbering_system="latn")
    is_missing = unit in shown or not shown.startswith(str(_SOME))
    return "" if is_missing else shown.removeprefix(str(_SOME)).strip()


@functools.lru_cache(maxsize=4096)
def unit_pattern(language: str, symbol: str, number: str) -> str:
    """Returns a pattern with a unit's name in the form that a number requires: "{number} кілометрів".

    Returns "" if CLDR has no name for the unit.

    Args:
        language: the code of a Wikipedia or corpus.
        symbol: the unit's English symbol.
        number: the number in plain digits, "70" or "1.5". The decimals may change the form of the name.
    """
    # Names of quotients such as kilometres per hour are wrong in some languages.
    unit = _cldr_units().get(symbol) if "/" not in symbol and len(number) <= _MAX_DIGITS else None
    locale = locale_of([language]) if unit else None
    if not locale or not unit:
        return ""
    from babel.numbers import format_decimal
    from babel.units import format_unit

    value = decimal.Decimal(number)
    written = format_decimal(value, locale=locale, numbering_system="latn")
    lengths: tuple[Literal["long", "short"], ...] = ("long", "short")
    for length in lengths:  # if both lengths have the same word, CLDR lists one
        shown = format_unit(value, unit, length=length, locale=locale, numbering_system="latn")
        if unit not in shown and shown.count(written) == 1:
            return shown.replace(written, "{number}").replace("\u00a0", " ").replace("\u202f", " ")
    return ""


_FORMS = ("zero", "one", "two", "few", "many", "other")


def _of_functions() -> Mapping[str, Any]:
    return read_toml(__package__, "languages/magic_words.toml")


def function_names() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Returns language → key → names of MediaWiki's variables and parser functions.

    The key of a variable or function is its English name: in capitals if MediaWiki distinguishes case
    ("PAGENAME"), otherwise in small letters ("formatnum", "#if"). A language has only other names.
    """
    words: Mapping[str, Mapping[str, Sequence[str]]] = _of_functions()["words"]
    return words


@functools.cache
def languages_of_wiki(code: str) -> tuple[str, ...]:
    """Returns MediaWiki's codes of the language of a wiki and of its fallback languages. English is last."""
    wiki = code_of(dbname_of(code))
    table = mediawiki_table(wiki)
    return (table.get("language", wiki), *table.get("fallbacks", ()), "en")


@functools.cache
def default_cases() -> frozenset[str]:
    """Returns the names of the default case of a `#switch` in all languages. They are case-folded."""
    named = (words.get("#default", ()) for words in function_names().values())
    return frozenset({"#default", *(name.casefold() for names in named for name in names)})


@functools.lru_cache(maxsize=1024)
def plural_form(code: str, number: float) -> int:
    """Returns the index of the form of a noun after a number, of the forms that the wiki's language has.

    In Russian, for example, the forms are those after 1, 2 and 5. `code` is the code of a corpus.
    """
    from babel.plural import PluralRule

    for language in languages_of_wiki(code):
        own = _of_functions()["plurals"].get(language)
        locale = None if own else locale_of([language])
        rule = PluralRule(own) if own else locale.plural_form if locale else None
        if rule:
            forms = [form for form in _FORMS if form in rule.tags or form == "other"]
            return forms.index(rule(int(number) if number == int(number) else number))
    return 0


def is_inflected(code: str) -> bool:
    """Returns True if `{{GRAMMAR:}}` changes words in a wiki. `code` is the code of a corpus."""
    return not {*languages_of_wiki(code)}.isdisjoint(_of_functions()["inflected"])


def quotation_marks(code: str) -> str:
    """Returns the marks that browsers show for `<q>` in a wiki, as four characters.

    They are the outer opening and closing marks, and the marks of a quotation in a quotation. `code` is the
    code of a corpus.
    """
    language = "zh-hant" if code == "zh-tw" else languages_of_wiki(code)[0]
    marks: Mapping[str, str] = _of_functions()["quotes"]
    return marks.get(language) or marks.get(language.partition("-")[0]) or marks["root"]


# zh has two corpora: an error message says so
_NOT_IN_CLDR = {"simple english": "simple", "chinese": "zh"}

_NEAR = 0.85  # least similarity of a misspelled name


def code_of_language(text: str) -> str:
    """Returns the code of a Wikipedia, given a code or the name of a language: "uk" for "Ukrainian".

    Case is ignored. A text that is no code or name, and not similar to a name, is returned in the form of a
    code (see `canonical_code`).

    Raises ValueError for a text that is probably a misspelt name. The message contains the correct name.
    """
    code = canonical_code(text)
    if code in LANGUAGE_CODES or code in open_codes():
        return code
    name = text.strip().casefold()
    found = _by_english_name().get(name) or _by_own_name().get(name)
    if near := [] if found else difflib.get_close_matches(name, _by_english_name(), 1, _NEAR):
        raise ValueError(f"no such language: {text!r}; did you mean {near[0].title()}?")
    return found or code


def _codes() -> Mapping[str, str]:
    """Returns a mapping from the code of each Wikipedia to the code of its language.

    "simple" is left out, because it has the same language as "en".
    """
    codes = dict.fromkeys((*LANGUAGE_CODES, *sorted(open_codes())))
    return {code: mediawiki_table(code).get("language", code) for code in codes if code != "simple"}


@functools.cache
def _by_english_name() -> Mapping[str, str]:
    from babel import Locale

    names = Locale("en").languages
    named = dict(_NOT_IN_CLDR)
    for code, language in _codes().items():
        for one in (code, _CODES.get(code, code), language, _CODES.get(language, language)):
            if name := names.get(one.replace("-", "_")):
                named.setdefault(name.casefold(), code)
    return named


@functools.cache
def _by_own_name() -> Mapping[str, str]:
    names = ((own_name(language) or own_name(code), code) for code, language in _codes().items())
    return {name.casefold(): code for name, code in names if name}
