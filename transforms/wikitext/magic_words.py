"""Finds MediaWiki's variables and parser functions by their names in the language of a wiki.

`{{PAGENAME}}` is `{{SEITENNAME}}` in German, and `{{#if:}}` is `{{#لو:}}` in Arabic. English names are valid
in all wikis. The names are those of MediaWiki's own tables, and so are some rules that variables and
functions follow: the forms of plurals, and quotation marks. Behavior switches such as `__NOTOC__` are removed
from a text in all languages.

The key of a variable or function is its English name: in capitals if MediaWiki distinguishes case
("PAGENAME"), otherwise in small letters ("formatnum", "#if").
"""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..files.markup import read_toml
from .wikis import code_of, dbname_of, locale_of, mediawiki_table, switches

# The name of a function in a definition
_FUNCTION = re.compile(r"(?<=\{\{)(\s*+)([^\s{}\[\]|:<>][^{}\[\]|:<>\n]{0,99}+)(?=:)")
_UNDERSCORES = re.compile(r"(?:__|＿＿)(?=[^_＿])")
_FORMS = ("zero", "one", "two", "few", "many", "other")


def _tables() -> Mapping[str, Any]:
    return read_toml(__package__, "languages/magic_words.toml")


def _words() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Returns language → key → names."""
    words: Mapping[str, Mapping[str, Sequence[str]]] = _tables()["words"]
    return words


@functools.cache
def languages_of_wiki(code: str) -> tuple[str, ...]:
    """Returns MediaWiki's codes of the language of a wiki and of its fallback languages. English is last."""
    wiki = code_of(dbname_of(code))
    table = mediawiki_table(wiki)
    return (table.get("language", wiki), *table.get("fallbacks", ()), "en")


class MagicWords:
    """The names of variables and parser functions in one wiki.

    Args:
        code: the code of a corpus, such as "de".
        keys: the keys of the variables and functions to find.
    """

    def __init__(self, code: str, keys: Iterable[str]) -> None:
        self._exact: dict[str, str] = {}
        self._folded: dict[str, str] = {}
        self._add((key, key) for key in keys)
        self._is_local = False
        for language in reversed(languages_of_wiki(code)):
            words = _words().get(language, {})
            self._add((name, key) for key, names in words.items() for name in names)
            self._is_local = self._is_local or language != "en"

    def _add(self, words: Iterable[tuple[str, str]]) -> None:
        for name, key in words:
            if key.isupper():
                self._exact[name] = key
            else:
                self._folded[name.casefold()] = key

    def key(self, name: str) -> str:
        """Returns the key of a variable or function with a given name, or "" if there is none.

        The name of a function is the part before the colon.
        """
        return self._exact.get(name) or self._folded.get(name.casefold(), "")

    def names(self, keys: Iterable[str]) -> frozenset[str]:
        """Returns the names of the functions with the given keys, which are in small letters."""
        wanted = frozenset(keys)
        return frozenset(name for name, key in self._folded.items() if key in wanted)

    def with_keys(self, definition: str) -> str:
        """Returns the wikitext of a template's definition with English names of functions."""
        if not self._is_local:
            return definition
        return _FUNCTION.sub(lambda found: found[1] + (self.key(found[2]) or found[2]), definition)


@functools.cache
def default_cases() -> frozenset[str]:
    """Returns the names of the default case of a `#switch` in all languages. They are case-folded."""
    named = (words.get("#default", ()) for words in _words().values())
    return frozenset({"#default", *(name.casefold() for names in named for name in names)})


@functools.lru_cache(maxsize=1024)
def plural_form(code: str, number: float) -> int:
    """Returns the index of the form of a noun after a number, of the forms that the wiki's language has.

    In Russian, for example, the forms are those after 1, 2 and 5. `code` is the code of a corpus.
    """
    from babel.plural import PluralRule

    for language in languages_of_wiki(code):
        own = _tables()["plurals"].get(language)
        locale = None if own else locale_of([language])
        rule = PluralRule(own) if own else locale.plural_form if locale else None
        if rule:
            forms = [form for form in _FORMS if form in rule.tags or form == "other"]
            return forms.index(rule(int(number) if number == int(number) else number))
    return 0


def is_inflected(code: str) -> bool:
    """Returns True if `{{GRAMMAR:}}` changes words in a wiki. `code` is the code of a corpus."""
    return not {*languages_of_wiki(code)}.isdisjoint(_tables()["inflected"])


def quotation_marks(code: str) -> str:
    """Returns the marks that browsers show for `<q>` in a wiki, as four characters.

    They are the outer opening and closing marks, and the marks of a quotation in a quotation. `code` is the
    code of a corpus.
    """
    language = "zh-hant" if code == "zh-tw" else languages_of_wiki(code)[0]
    marks: Mapping[str, str] = _tables()["quotes"]
    return marks.get(language) or marks.get(language.partition("-")[0]) or marks["root"]


def drop_switches(text: str) -> str:
    """Removes MediaWiki's behavior switches. Other words between double underscores stay."""
    kept: list[str] = []
    position = 0
    for opener in _UNDERSCORES.finditer(text):
        start, first = opener.span()
        end = text.find(opener[0], first, first + _longest_switch()) + len(opener[0])
        if start >= position and end > first and text[start:end].casefold() in switches():
            kept.append(text[position:start])
            position = end
    kept.append(text[position:])
    return "".join(kept)


@functools.cache
def _longest_switch() -> int:
    return max(map(len, switches()))
