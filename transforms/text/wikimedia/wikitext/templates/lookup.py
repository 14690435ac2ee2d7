"""Finds templates by their names, with the functions that expand them to text.

A name is looked up first in the tables of the language, then among parser functions and families of templates
(`lang-de`, `deu`), and then in the wiki's own definitions.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from transforms.text.wikimedia.language import TEMPLATE_NAMESPACE, Language, normalise_name
from transforms.text.wikimedia.template_pages import WikiTemplates
from transforms.text.wikimedia.wikitext.templates.functions import FUNCTIONS
from transforms.text.wikimedia.wikitext.templates.parser_functions import (
    PARSER_FUNCTIONS,
    VARIABLES,
)
from transforms.text.wikimedia.wikitext.templates.patterns import Arguments, Show, compile_pattern
from transforms.text.wikimedia.wikitext.templates.rendering import Page

_NAME = re.compile(r"\s*([^|{}<\[\]\n]*)")
_LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,8}){0,2}\d?")
# Number and maximum length of cached names.
_MAX_NAMES = 8_192
_MAX_NAME = 100
_MAX_ALIASES = 3  # MediaWiki follows one redirect; a local name may be another alias


class Template(NamedTuple):
    """A template, and the function that expands it."""

    name: str  # normalised; of a parser function, the part before the colon
    show: Show | None  # None: shows no prose, unless there is a definition
    known: bool  # is in a table
    is_function: bool = False  # the first argument follows a colon in the name
    definition: str = ""  # its wikitext in the wiki


def _with_label(function: Show, label: str) -> Show:
    def show(arguments: Arguments, page: Page) -> str:
        is_hidden = arguments.get("label") in ("none", "no")
        return function({**arguments, "label": "" if is_hidden else label}, page)

    return show


def _with_noun(text: str) -> Show:
    """Returns a function that expands templates such as {{XXe siècle}} and {{84e|congrès}}.

    The function returns `text`, followed by the template's first argument (a noun) if there is one.
    """
    return lambda arguments, page: " ".join(filter(None, (text, arguments.get("1"))))


class TemplateTable:
    """The templates of one wiki, from the language's tables and the wiki's own definitions.

    Raises:
        ValueError: a display pattern in the language's tables is invalid.
    """

    def __init__(
        self,
        language: Language,
        namespaces: Mapping[int, Sequence[str]],
        of_wiki: WikiTemplates,
    ) -> None:
        self._language = language
        self._of_wiki = of_wiki
        prefixes = language.namespace_names(TEMPLATE_NAMESPACE, namespaces)
        self._namespace_prefixes = prefixes | {"msg", "subst", "safesubst"}
        self._self_named = re.compile(language.self_named) if language.self_named else None
        self._shows = {name: self._compile(pattern) for name, pattern in language.templates.items()}
        self._find_known = functools.lru_cache(_MAX_NAMES)(self._find)

    def _compile(self, pattern: str) -> Show | None:
        for _ in range(3):  # an alias may lead to an alias
            if pattern.startswith("@"):
                pattern = self._aliased(pattern[1:])
        if not pattern.startswith("="):
            return compile_pattern(pattern) if pattern else None
        function = FUNCTIONS.get(pattern[1:])
        if not function:
            raise ValueError(
                f"unknown function {pattern!r}; expected '=' and one of {', '.join(FUNCTIONS)}"
            )
        return function

    def _aliased(self, name: str) -> str:
        pattern = self._language.templates.get(normalise_name(name))
        if pattern is None:
            raise ValueError(
                f"the pattern '@{name}' refers to the template {name!r}, which is not in the tables"
            )
        return pattern

    def _family_member(self, name: str) -> Show | None:
        """Returns the function for a template of a family, such as `lang-de`, `ipa-de` or `deu`.

        Returns None for other templates.
        """
        language = self._language
        family, _, code = name.partition("-")
        if family == "lang" and code in language.language_names:
            return _with_label(FUNCTIONS["labelled"], language.language_names[code])
        if family == "lang" and code.endswith("2") and code[:-1] in language.language_names:
            return self._shows["lang-x"]  # {{lang-el2}}: without the name of the language
        if family == "lang" and code.endswith("-short"):
            label = language.language_names.get(code.removesuffix("-short"), "")
            return _with_label(FUNCTIONS["labelled"], label)
        if family == "lang" and _LANGUAGE_CODE.fullmatch(code):
            return FUNCTIONS["labelled"]  # without a label rather than with an English one
        if family == "ipa":
            label = language.language_names.get(code, "")
            return _with_label(FUNCTIONS["ipa_of_language"], label)
        text = self._language_mark(code) if family == "ref" else language.countries.get(name)
        return (lambda arguments, page: text) if text else None

    def _language_mark(self, code: str) -> str:
        """Returns the text of a template such as {{ref-en}}, which names the language of a source.

        `code` is the code of that language, such as "en". Returns "" if the code is unknown, or if the wiki
        has no such templates.
        """
        label = self._language.language_names.get(code)
        return self._language.phrases.get("language_mark", "").format(label=label) if label else ""

    def find_at(self, text: str, start: int) -> Template:
        """Returns the template whose name begins at the position `start` of the text."""
        written = _NAME.match(text, start)
        assert written
        name = written[1]
        if name.isupper() and text.startswith("}}", written.end()):
            country = self._language.countries.get(name.strip().casefold())
            if country:  # {{AUT}} is Austria, {{aut|…}} small capitals
                return Template(name.casefold(), lambda arguments, page: country, True)
        return self.find(name)

    def knows(self, name: str) -> bool:
        """Returns True if a template can be expanded without its definition in the wiki."""
        found = self.find(name)
        return found.known and not self._is_better_in_wiki(found.name)

    def find(self, written_name: str) -> Template:
        """Returns the template with the given name, which may be spelled as in the wikitext."""
        find = self._find_known if len(written_name) <= _MAX_NAME else self._find
        return find(written_name)

    def _find(self, written_name: str) -> Template:
        name = normalise_name(written_name)
        prefix, colon, rest = name.partition(":")
        if colon and name not in self._shows and prefix.strip() in self._namespace_prefixes:
            name = rest.strip()
        if name not in self._shows:
            function = PARSER_FUNCTIONS.get(prefix) if colon else None
            if function or (colon and prefix.startswith("#")):
                return Template(prefix, function, function is not None, True)
            if name in VARIABLES:
                return Template(name, VARIABLES[name], True)
        found = self._find_in_tables(name, written_name)
        if found and not self._is_better_in_wiki(name):
            return found
        of_wiki = self._find_in_wiki(name)
        return of_wiki if of_wiki.definition or not found else found

    def _is_better_in_wiki(self, name: str) -> bool:
        """Returns True if the wiki's definition of a template takes precedence over the language's tables.

        This is so for templates in tables that were not written by hand, and for templates that contain data
        such as numbers of inhabitants.
        """
        if name in self._shows:
            return name in self._language.wiki_first
        if name.startswith(self._language.data_prefixes):
            return True
        return not self._language.is_proven and name.startswith(("lang-", "ipa-"))

    def _find_in_tables(self, name: str, written_name: str = "") -> Template | None:
        if name in self._shows:
            return Template(name, self._shows[name], True)
        show = self._family_member(name)
        if not show and written_name and self._self_named and self._self_named.fullmatch(name):
            show = _with_noun(written_name.strip())
        if name.startswith(self._language.data_prefixes):
            show = FUNCTIONS["unknown"]  # unless the dump defines it
        is_known = show or name.startswith(self._language.silent_prefixes)
        return Template(name, show, True) if is_known else None

    def _find_in_wiki(self, name: str) -> Template:
        """Finds a template by its normalised name among the wiki's own aliases and definitions.

        If it is not found, the result has `known` set to False.
        """
        target, in_tables = name, None
        for _ in range(_MAX_ALIASES):
            if target in self._of_wiki.definitions:
                definition = self._of_wiki.definitions[target]
                return Template(name, None, True, definition=definition)
            target = self._of_wiki.aliases.get(target, "")
            in_tables = in_tables or self._find_in_tables(target)
            if in_tables and not self._is_better_in_wiki(target):
                return in_tables
        return in_tables or Template(name, None, False)
