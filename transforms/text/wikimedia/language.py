"""What the cleaner has to know about one Wikipedia: its headings, redirect words, and templates.

The tables are data: `languages/common.toml` holds what every wiki shares, `languages/<code>.toml`
what one corpus adds or words differently. Keys of all tables are compared casefolded with white
space collapsed and `_` read as a blank, so case and spacing in the files do not matter.
"""

import dataclasses
import functools
import tomllib
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

# fmt: off
LANGUAGE_CODES: tuple[str, ...] = (
    "en", "ar", "zh-cn", "zh-tw", "nl", "fr", "de", "it", "ja", "ko", "pl", "pt", "ru", "es",
    "th", "tr", "bg", "ca", "cs", "da", "el", "et", "fa", "fi", "he", "hi", "hr", "hu", "id",
    "lt", "lv", "ms", "no", "ro", "sk", "sl", "sr", "sv", "tl", "uk", "vi",
)
# fmt: on


@dataclasses.dataclass(frozen=True)
class NumberFormat:
    """How a wiki writes numbers."""

    group: str  # between groups of three digits; "" for none
    decimal: str  # before the fraction
    min_grouped_digits: int  # numbers with fewer digits before the point stay ungrouped


@dataclasses.dataclass(frozen=True)
class Language:
    """The tables of one corpus. All names in it are normalised by `normalise_name`."""

    code: str  # corpus code: "uk", "zh-tw"
    dropped_headings: frozenset[str]  # sections that are no prose, with their subsections
    dropped_top_headings: frozenset[str]  # dropped at level 2 only: "Literature" may be prose below
    disambiguation_templates: frozenset[str]
    redirect_words: tuple[str, ...]  # "#redirect", "#перенаправлення"; casefolded
    numbers: NumberFormat
    templates: Mapping[str, str]  # name → display pattern; "" for one that shows no prose
    self_named: str  # regex of names of templates that show their own name: "XXe siècle"; or ""
    silent_prefixes: tuple[str, ...]  # of names of templates that show no prose: "infobox "
    language_names: Mapping[str, str]  # language code → the label a lang-xx template shows
    language_label: str  # pattern of that label and its text: "{label}: {text}"
    countries: Mapping[str, str]  # casefolded three-letter code, ISO or IOC → name
    months: tuple[str, ...]  # twelve, in the form a date takes; () where unknown
    date: str  # pattern of a date: "{day} {month} {year}"
    phrases: Mapping[str, str]  # words that templates put in: "as_of" → "As of"
    variants: tuple[str, ...]  # conversion variants to pick from -{…}-, best first
    interlanguage_codes: frozenset[str]  # link prefixes that show nothing
    file_names: frozenset[str]  # extra names of the file namespace


def normalise_name(name: str) -> str:
    """Return a heading or template name as the tables hold it: casefolded, blanks collapsed."""
    return " ".join(name.replace("_", " ").split()).casefold()


def _read_table(name: str) -> dict[str, Any]:
    folder = resources.files(__package__) / "languages"
    return tomllib.loads((folder / f"{name}.toml").read_text(encoding="utf-8"))


def _normalised(names: Iterable[str]) -> frozenset[str]:
    return frozenset(normalise_name(name) for name in names)


def _merged(common: Mapping[str, Any], local: Mapping[str, Any], key: str) -> dict[str, str]:
    tables = (common.get(key, {}), local.get(key, {}))
    return {normalise_name(name): value for table in tables for name, value in table.items()}


def _language_names(common: Mapping[str, Any], local: Mapping[str, Any]) -> dict[str, str]:
    names = _merged(common, local, "language_names")
    aliases: Mapping[str, str] = common["language_aliases"]
    return {**{alias: names[code] for alias, code in aliases.items() if code in names}, **names}


def _countries(codes: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    return {three.casefold(): names[two] for three, two in codes.items() if two in names}


@functools.cache
def load_language(code: str) -> Language:
    """Return the tables of one of LANGUAGE_CODES.

    Raises:
        ValueError: the code is not one of LANGUAGE_CODES; the message lists them.
    """
    if code not in LANGUAGE_CODES:
        known = ", ".join(LANGUAGE_CODES)
        raise ValueError(f"no such language: {code!r}; known are {known}")
    common = _read_table("common")
    local = _read_table(code)
    headings = [*common["dropped_headings"], *local.get("dropped_headings", [])]
    templates = _merged(common, local, "templates")
    for name in [*common["silent_templates"], *local.get("silent_templates", [])]:
        templates.setdefault(normalise_name(name), "")
    prefixes = [*common["silent_prefixes"], *local.get("silent_prefixes", [])]
    redirects = ["#REDIRECT", *local.get("redirect_words", [])]
    return Language(
        code=code,
        dropped_headings=_normalised(headings),
        dropped_top_headings=_normalised(local.get("dropped_top_headings", [])),
        disambiguation_templates=_normalised(
            [*common["disambiguation_templates"], *local.get("disambiguation_templates", [])]
        ),
        redirect_words=tuple(dict.fromkeys(word.casefold() for word in redirects)),
        numbers=NumberFormat(**{**common["numbers"], **local.get("numbers", {})}),
        templates=templates,
        self_named=local.get("self_named", ""),
        silent_prefixes=tuple(prefix.casefold() for prefix in prefixes),
        language_names=_language_names(common, local),
        language_label=local.get("language_label", common["language_label"]),
        countries=_countries(common["country_codes"], local.get("countries", {})),
        months=tuple(local.get("months", ())),
        date=local.get("date", common["date"]),
        phrases={**common["phrases"], **local.get("phrases", {})},
        variants=tuple(local.get("variants", ())),
        interlanguage_codes=frozenset(common["interlanguage_codes"]),
        file_names=_normalised(["File", "Image", *local.get("file_names", [])]),
    )
