"""Loads the tables that the cleaner uses for a Wikipedia: headings, redirect words, templates and more.

The tables are TOML files. `languages/common.toml` contains the entries that all wikis share,
`languages/<code>.toml` the additions and changes for one corpus, and `zh.toml` the entries that the two
Chinese corpora share. If no file of a wiki says that it is complete, other entries come from MediaWiki, CLDR
and `unproven.toml`. Before keys are compared, they are case-folded, runs of white space become one space, and
`_` becomes a space.
"""

import dataclasses
import functools
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

from . import wikis
from .wikis import code_of, dbname_of, mediawiki_table, mediawiki_versions, open_codes

MEDIA_NAMESPACE = -2
FILE_NAMESPACE = 6
TEMPLATE_NAMESPACE = 10
CATEGORY_NAMESPACE = 14
TABLES = resources.files(__package__)
LISTS = ("sentences", "none", "all")  # which lists a corpus keeps; see lists.py
# Files of the folder that belong to no corpus.
SHARED_FILES = (
    "calendar", "common", "magic_words", "mediawiki", "namespaces", "unproven", "zh",
)  # fmt: skip
# Wiki → the wiki in the same language whose tables it uses.
_WRITTEN_IN = {"simple": "en"}
# Corpus → the file whose entries it shares.
_SHARED_WITH = {**_WRITTEN_IN, "zh-cn": "zh", "zh-tw": "zh"}
_SAME_NAMES = 0.7
_MAX_ABBREVIATION = 5
# number → (table of namespaces.toml, English names)
_NAMESPACES = {
    MEDIA_NAMESPACE: ("media", "Media"),
    FILE_NAMESPACE: ("file", "File", "Image"),
    TEMPLATE_NAMESPACE: ("template", "Template"),
    CATEGORY_NAMESPACE: ("category", "Category"),
}


@dataclasses.dataclass(frozen=True)
class NumberFormat:
    """The separators and digits with which a wiki writes numbers."""

    group: str  # between groups of digits; "" for none
    decimal: str  # before the fraction
    min_grouped_digits: int  # numbers with fewer digits before the point are not grouped
    digits: str = "0123456789"  # the ten digits of the wiki
    group_size: int = 3  # of all groups but the last, which has three digits


@dataclasses.dataclass(frozen=True)
class Language:
    """The tables that the cleaner uses for one corpus. Names in them are normalised by `normalise_name`."""

    code: str  # corpus code: "uk", "zh-tw"
    dropped_headings: frozenset[str]  # of sections without prose, dropped with their subsections
    dropped_top_headings: frozenset[str]  # dropped at level 2 only: "Literature" may be prose below
    disambiguation_templates: frozenset[str]
    redirect_words: tuple[str, ...]  # "#redirect", "#перенаправлення"; casefolded
    numbers: NumberFormat
    formatnum: NumberFormat  # of MediaWiki's function; templates may write numbers otherwise
    sitename: str
    templates: Mapping[str, str]  # name → display pattern; "" for a template that shows no prose
    self_named: str  # regex of names of templates that show their own name: "XXe siècle"; or ""
    silent_prefixes: tuple[str, ...]  # of names of templates that show no prose: "infobox "
    language_names: Mapping[str, str]  # language code → the label that a lang-xx template shows
    language_label: str  # pattern of that label and its text: "{label}: {text}"
    countries: Mapping[str, str]  # casefolded three-letter code, ISO or IOC → name
    months: tuple[str, ...]  # twelve, in the form used in dates; () if unknown
    date: str  # pattern of a date: "{day} {month} {year}"
    phrases: Mapping[str, str]  # words that templates add: "as_of" → "As of"
    variants: tuple[str, ...]  # language variants to choose in -{…}-, the best first
    interlanguage_codes: frozenset[str]  # prefixes of links that show nothing
    namespaces: Mapping[int, frozenset[str]]  # number → names and aliases, also in English
    data_prefixes: tuple[str, ...] = ()  # of names of templates that hold data: "自治体人口/"
    is_complete: bool = True  # nothing is from MediaWiki, CLDR and unproven.toml
    is_english: bool = False
    lists: str = LISTS[0]
    list_announcements: str = ""  # regex of words in a sentence that announces a list: "as follows"
    # Templates whose definition in the wiki is preferred to the tables.
    wiki_first: frozenset[str] = frozenset()
    # Templates of the common table, by their English names, in a wiki that is not English.
    borrowed: frozenset[str] = frozenset()
    # Templates whose names end in a capital after a small letter: "AbS".
    abbreviations: frozenset[str] = frozenset()

    @property
    def library(self) -> str:
        """The name of the library that has a part of the tables, or "" if all were written by hand."""
        return "" if self.is_complete else wikis.LIBRARY

    def namespace_names(self, number: int, of_dump: Mapping[int, Iterable[str]]) -> frozenset[str]:
        """Returns all names of a namespace: those in the tables and those in the dump.

        Args:
          number: the number of the namespace.
          of_dump: number of a namespace → its names at the beginning of the dump.
        """
        return self.namespaces[number] | normalise_names(of_dump.get(number, ()))


def normalise_name(name: str) -> str:
    """Returns a heading or template name in the form that the tables use: case-folded, with single spaces."""
    return " ".join(name.replace("_", " ").split()).casefold()


def normalise_names(names: Iterable[str]) -> frozenset[str]:
    """Returns headings or template names in the form that the tables use (see `normalise_name`)."""
    return frozenset(map(normalise_name, names))


def read_table(folder: str, name: str) -> dict[str, Any]:
    """Returns the content of a TOML file in this package.

    `folder` is "languages" or "sites"; `name` has no suffix.
    """
    return tomllib.loads((TABLES / folder / f"{name}.toml").read_text(encoding="utf-8"))


def hand_written(code: str) -> tuple[str, ...]:
    """Returns the names, without suffix, of the TOML files written by hand for a corpus.

    The file of the corpus itself comes first, if there is one. The second is that of both Chinese corpora, or
    of another wiki in the same language.
    """
    own = code not in SHARED_FILES and (TABLES / "languages" / f"{code}.toml").is_file()
    shared = _SHARED_WITH.get(code)
    return (*((code,) if own else ()), *((shared,) if shared else ()))


def _read_local(code: str) -> dict[str, Any]:
    """Returns the tables that were written by hand for a corpus; {} if there are none."""
    local: dict[str, Any] = {}
    for name in reversed(hand_written(code)):
        local = _added(local, read_table("languages", name))
    return local


def _added(tables: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Returns tables with those of another file.

    Its values replace values, and are added to lists and tables. The months are replaced together.
    """
    merged = dict(tables)
    for key, value in more.items():
        if isinstance(value, dict):
            merged[key] = {**tables.get(key, {}), **value}
        elif isinstance(value, list) and key != "months":
            merged[key] = [*value, *tables.get(key, [])]
        else:
            merged[key] = value
    return merged


def _merged(common: Mapping[str, Any], local: Mapping[str, Any], key: str) -> dict[str, str]:
    tables = (common.get(key, {}), local.get(key, {}))
    return {normalise_name(name): value for table in tables for name, value in table.items()}


def _language_names(common: Mapping[str, Any], local: Mapping[str, Any]) -> dict[str, str]:
    names = _merged(common, local, "language_names")
    aliases: Mapping[str, str] = common["language_aliases"]
    return {**{alias: names[code] for alias, code in aliases.items() if code in names}, **names}


def _with_cldr_names(names: dict[str, str], code: str) -> dict[str, str]:
    """Adds names of languages from CLDR to a wiki's own names, if most of its own names agree with CLDR.

    The names are the labels that templates show before a foreign word. In some languages, a label has another
    form than the name in CLDR. Then the names from CLDR would be wrong as labels.

    Args:
      names: code of a language → its name in the wiki.
      code: the code of the wiki.
    """
    of_cldr = wikis.languages_of(code)
    same = sum(of_cldr.get(one) == name for one, name in names.items())
    return {**of_cldr, **names} if same >= _SAME_NAMES * len(names) else names


def _namespaces(code: str, is_complete: bool) -> dict[int, frozenset[str]]:
    if is_complete:
        names = read_table("languages", "namespaces")
        local = {key: of_wikis.get(code, []) for key, of_wikis in names.items()}
    else:
        local = dict(mediawiki_table(code))
    return {
        number: normalise_names([*english, *local.get(key, [])])
        for number, (key, *english) in _NAMESPACES.items()
    }


def proof_of(code: str) -> Mapping[str, Any]:
    """Returns the evidence that the cleaner's tables for a corpus are proven; {} if they are not.

    The evidence is the entry "proven" of `<code>.toml`: "cases", the number of paragraphs in
    `tests/pages/<code>.page`; "reader", the person who compared cleaned pages with the wiki; and "date".
    """
    proof: Mapping[str, Any] = _read_local(code).get("proven", {})
    return proof


def has_own_tables(code: str) -> bool:
    """Returns True if complete tables were written by hand for this corpus itself.

    Returns False for a corpus that uses the tables of another wiki in the same language.
    """
    return load_language(code).is_complete and code not in _WRITTEN_IN


def lists_headings(code: str) -> bool:
    """Returns True if headings of sections without prose were listed by hand for this corpus itself."""
    names = (name for name in hand_written(code) if name != borrowed_tables(code))
    return any("dropped_headings" in read_table("languages", name) for name in names)


def borrowed_tables(code: str) -> str:
    """Returns the code of the wiki whose tables a corpus in the same language uses; "" if there is none."""
    return _WRITTEN_IN.get(code, "")


def tables_taken(code: str) -> dict[str, str]:
    """Returns the manifest's entry about the sources of a corpus's tables.

    Returns {} if all of the tables were written by hand for this corpus.
    """
    if has_own_tables(code):
        return {}
    if lender := borrowed_tables(code):
        return {"language": lender, "proven": f"made by people, for {lender}"}
    proof, by_hand = proof_of(code), hand_written(code)
    return {
        "language": mediawiki_table(code).get("language", code),
        "proven": "{cases} cases, {reader}, {date}".format(**proof) if proof else "no",
        **({"written by hand": f"{by_hand[0]}.toml"} if by_hand else {}),
        "namespaces": "the head of the dump, and MediaWiki",
        "redirects, disambiguation pages, digits": "MediaWiki",
        "dates, units, names of languages and countries": f"CLDR {wikis.cldr_version()}",
        "read": mediawiki_versions(),
    }


def _generated_tables(code: str) -> dict[str, Any]:
    """Returns tables from MediaWiki, CLDR and `unproven.toml`, in the format of a TOML file."""
    of_wiki = mediawiki_table(code)
    language = of_wiki.get("language", code)
    fallbacks = of_wiki.get("fallbacks", [])
    # Words are taken only from the same language, "be-tarask" from "be"; numbers from any fallback.
    related = [one for one in (language, *fallbacks) if one.split("-")[0] == language.split("-")[0]]
    own = wikis.first_known(related)
    written = dict(of_wiki.get("numbers", {}))
    local = read_table("languages", "unproven")
    months = wikis.months_of(language) or of_wiki.get("months", ()) or wikis.months_of(own)
    dates = wikis.dates_of(own, months)
    units = {f"unit {symbol}": shown for symbol, shown in wikis.units_of(own).items()}
    month_year = dates.get("month", local["phrases"]["month_year"])
    return {
        **local,
        "redirect_words": of_wiki.get("redirect_words", []),
        "disambiguation_templates": of_wiki.get("disambiguation_templates", []),
        "numbers": wikis.numbers_of([language, *fallbacks], native="digits" in written) | written,
        "months": months,
        "date": dates.get("day", local["date"]),
        "language_names": wikis.languages_of(own),
        "countries": wikis.countries_of(own),
        "phrases": {**local["phrases"], **units, "month_year": month_year},
    }


@functools.cache
def load_language(code: str) -> Language:
    """Returns the tables that the cleaner uses for the corpus with a given code, such as "zh-cn".

    Raises:
        ValueError: no Wikipedia has this code.
    """
    dbname_of(code)
    common = read_table("languages", "common")
    by_hand = _read_local(code)
    is_complete = bool(by_hand.get("complete"))
    generated = {} if is_complete else _generated_tables(code)
    local = _added(generated, by_hand)
    phrases = common["phrases"] if is_complete else {}
    if is_complete and not code.startswith("zh-"):  # zh tables have names of units for each region
        units = wikis.units_in_other_script(code)
        phrases = {**phrases, **{f"unit {symbol}": shown for symbol, shown in units.items()}}

    def listed(key: str) -> list[str]:
        return [*common.get(key, []), *local.get(key, [])]

    templates = _merged(common, local, "templates")
    for name in listed("doubt_templates"):
        templates.setdefault(normalise_name(name), "?=doubted_or_reason")
    for name in listed("silent_templates"):
        templates.setdefault(normalise_name(name), "")
    named = local.get("countries", {})
    codes = {**{two: two for two in listed("two_letter_countries")}, **common["country_codes"]}
    is_english = _WRITTEN_IN.get(code, code) == "en"
    borrowed = normalise_names(common["templates"]) - normalise_names(local.get("templates", {}))
    redirects = ["#REDIRECT", *listed("redirect_words")]
    numbers = NumberFormat(**{**common["numbers"], **local.get("numbers", {})})
    of_wiki = mediawiki_table(code_of(dbname_of(code)))
    return Language(
        code=code,
        dropped_headings=normalise_names(listed("dropped_headings")),
        dropped_top_headings=normalise_names(listed("dropped_top_headings")),
        disambiguation_templates=normalise_names(listed("disambiguation_templates")),
        redirect_words=tuple(dict.fromkeys(word.casefold() for word in redirects)),
        numbers=numbers,
        formatnum=_formatnum(numbers, of_wiki) if is_complete else numbers,
        sitename=of_wiki.get("sitename", "Wikipedia"),
        templates=templates,
        self_named=local.get("self_named", ""),
        silent_prefixes=tuple(prefix.casefold() for prefix in listed("silent_prefixes")),
        data_prefixes=tuple(prefix.casefold() for prefix in listed("data_prefixes")),
        language_names=_with_cldr_names(_language_names(common, local), code),
        language_label=local.get("language_label", common["language_label"]),
        countries={code.casefold(): named[two] for code, two in codes.items() if two in named},
        months=tuple(listed("months")),
        date=local.get("date", common["date"]),
        phrases={**phrases, **local.get("phrases", {})},
        variants=tuple(listed("variants")),
        interlanguage_codes=frozenset(
            (*common["interlanguage_codes"], *(() if is_complete else open_codes()))
        ),
        namespaces=_namespaces(code, is_complete),
        is_complete=is_complete,
        is_english=is_english,
        list_announcements=local.get("list_announcements", ""),
        wiki_first=normalise_names(generated.get("templates", {}))
        - normalise_names(by_hand.get("templates", {})),
        borrowed=frozenset() if is_english else borrowed,
        abbreviations=normalise_names(filter(_is_abbreviation, local.get("templates", {}))),
    )


def _formatnum(numbers: NumberFormat, of_wiki: Mapping[str, Any]) -> NumberFormat:
    """Returns the format that MediaWiki gives to numbers in a wiki with its own table of `numbers`."""
    written = of_wiki.get("numbers", {})
    marks = {key: written.get(key, "") for key in ("group", "decimal")}
    return dataclasses.replace(
        numbers,
        min_grouped_digits=written.get("min_grouped_digits", 4),
        **{key: mark for key, mark in marks.items() if mark and not mark.isspace()},
    )


def _is_abbreviation(name: str) -> bool:
    return len(name) <= _MAX_ABBREVIATION and name[-2:-1].islower() and name[-1:].isupper()


_USER_TABLES = {"templates": dict, "silent_templates": list, "dropped_headings": list}


def add_tables(language: Language, tables: Mapping[str, Any]) -> Language:
    """Returns the tables of a language with additional templates and headings.

    New entries replace existing ones with the same key.

    Args:
        language: the tables to add to.
        tables: entries as in `languages/<code>.toml`: "templates" (name → display pattern),
            "silent_templates" (list of names), "dropped_headings" (list of headings).

    Raises:
        ValueError: `tables` has a key other than these, or an entry of a wrong type.
    """
    for key, table in tables.items():
        if key not in _USER_TABLES:
            raise ValueError(f"unknown table {key!r}; expected one of {', '.join(_USER_TABLES)}")
        if not isinstance(table, _USER_TABLES[key]):
            raise ValueError(
                f"{key}: expected a {_USER_TABLES[key].__name__}, found a {type(table).__name__}"
            )
        for value in table.values() if isinstance(table, dict) else table:
            if not isinstance(value, str):
                raise ValueError(f"{key}: every value must be a string, found {value!r}")
    silent = {normalise_name(name): "" for name in tables.get("silent_templates", ())}
    shown = {normalise_name(name): value for name, value in tables.get("templates", {}).items()}
    headings = normalise_names(tables.get("dropped_headings", ()))
    return dataclasses.replace(
        language,
        templates={**language.templates, **silent, **shown},
        dropped_headings=language.dropped_headings | headings,
        wiki_first=language.wiki_first - {*silent, *shown},
        borrowed=language.borrowed - {*silent, *shown},
        abbreviations=language.abbreviations - {*silent, *shown},
    )
