"""Finds the code of a Wikipedia by the name of its language, in English or in the language itself.

The names are from CLDR.
"""

import difflib
import functools
from collections.abc import Mapping

from corpusmill.transforms.wikitext.cldr import english_names, own_name
from corpusmill.transforms.wikitext.wikis import (
    LANGUAGE_CODES,
    canonical_code,
    mediawiki_table,
    open_codes,
)

_NOT_IN_CLDR = {
    "simple english": "simple",
    "chinese": "zh",
}  # zh has two corpora: an error message says so

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
    named: dict[str, str] = dict(_NOT_IN_CLDR)
    for code, language in _codes().items():
        for name in english_names((code, language)):
            named.setdefault(name.casefold(), code)
    return named


@functools.cache
def _by_own_name() -> Mapping[str, str]:
    names = ((own_name(language) or own_name(code), code) for code, language in _codes().items())
    return {name.casefold(): code for name, code in names if name}
