"""Finds templates by their names, with the functions that expand them to text.

A name is looked up first in the tables of the language, then among MediaWiki's variables and parser functions
and families of templates (`lang-de`), and then in the wiki's own definitions. A variable has no arguments:
`{{PAGENAME|x}}` is a template. A country's code without arguments, such as `{{DEU}}`, is
looked up first in the definitions.

A wiki that is not English may use an English name for something else: `{{val}}` for a language instead of a
value. So a rule of `common.toml` that adds words or signs applies there only to arguments that fit the rule,
and only if the wiki does not define the template itself.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from ..language import TEMPLATE_NAMESPACE, Language, normalise_name
from ..wikis import function_names, languages_of_wiki
from . import terms
from .definitions import CHOICES, WIKIDATA, WikiTemplates
from .functions import FUNCTIONS, unknown
from .parser_functions import MAGIC_WORDS, PARSER_FUNCTIONS, VARIABLES
from .patterns import Arguments, Page, Show, compile_pattern, positional

# The name of a function in a definition
_FUNCTION = re.compile(r"(?<=\{\{)(\s*+)([^\s{}\[\]|:<>][^{}\[\]|:<>\n]{0,99}+)(?=:)")
_NAME = re.compile(r"\s*([^|{}<\[\]\n]*)")
_LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,8}){0,2}\d?")
# Number and maximum length of cached names.
_MAX_NAMES = 8_192
_MAX_NAME = 100
_MODIFIERS = ("msg", "msgnw", "raw", "subst", "safesubst")  # before the name of a template
_MAX_CODE = 3  # letters of the code of a country
_MAX_ALIASES = 3  # MediaWiki follows one redirect; a local name may be another alias
# What a pattern shows only with arguments, and tags
_FIELD = re.compile(r"\[.*\]|\{[^{}@]+\}|<[^<>]*>")
_PHRASE = re.compile(r"\{@(\w+)\} ?")
_POSITION = re.compile(r"\d(?=[|:,}])")  # the name of a positional argument in a pattern
_OF_NUMBERS = frozenset({"=val", "=fraction", "=fraction_upright", "=language_or_value"})
_OF_NUMBER = frozenset({"=currency", "=rupees"})
_WORD = re.compile(r"[^\W\d_]{2}")
_REQUIRED = re.compile(r"\{\{\{[^{}|]*\}\}\}")  # a parameter without a default
_IN_PLACE = "?"  # begins a pattern; see patterns.py
_PROPERTY = re.compile(r"[Pp]\d{1,6}")


class Template(NamedTuple):
    """A template, and the function that expands it."""

    name: str  # normalised; of a parser function, the part before the colon
    show: Show | None  # None: shows no prose, unless there is a definition
    known: bool  # is in a table
    is_function: bool = False  # the first argument follows a colon in the name
    definition: str = ""  # its wikitext in the wiki; `show` is used if it cannot be expanded
    fits: "Callable[[Arguments], bool] | None" = None  # False for arguments of another template
    otherwise: "Template | None" = None  # what the name means with arguments that do not fit
    is_placed: bool = False  # shows text only in the place of words

    def meant_with(self, arguments: Arguments) -> "Template":
        """Returns the template that a call with these arguments means."""
        is_other = self.otherwise and self.fits and not self.fits(arguments)
        return self.otherwise if self.otherwise and is_other else self


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


def _shape_of(pattern: str, *, is_worded: bool) -> Callable[[Arguments], bool] | None:
    """Returns a function that tells whether arguments fit a display pattern that adds words or signs.

    The arguments in the pattern must be numbers or formulas: `{{£|5 million}}`, `{{sqrt|x+1}}`. For values
    and fractions, all arguments must be. If the pattern has no arguments, the call must have none. If the
    language has no words for its phrases (`is_worded` is False), the call must have a first argument, or it
    would show nothing. Returns None if all arguments fit.
    """
    if pattern in _OF_NUMBERS:
        takes_code = pattern == "=language_or_value"
        return lambda arguments: (
            (takes_code and arguments.get("1", "").isalpha())
            or all(map(_is_formula, positional(arguments)))
        )
    if pattern not in _OF_NUMBER:
        added = _FIELD.sub("", pattern)
        if pattern.startswith(("=", "@")) or not any(map(_is_word_or_sign, added)):
            return None
        if "{" not in pattern.replace("{@", ""):
            return lambda arguments: not any(positional(arguments))
    positions = _POSITION.findall(pattern) or "1"
    return lambda arguments: (
        (is_worded or bool(arguments.get("1")))
        and all(_is_formula(arguments.get(name, "")) for name in positions)
    )


def _has_property(arguments: Arguments) -> bool:
    return any(map(_PROPERTY.fullmatch, arguments.values()))


def _is_word_or_sign(char: str) -> bool:
    return char in "%&‖⌊⌈′″" or unicodedata.category(char)[0] in "LNS"


def _is_empty(arguments: Arguments) -> bool:
    return not any(arguments.values())


def _has_no_words(arguments: Arguments) -> bool:
    return not any(map(_WORD.search, positional(arguments)))


def _is_formula(value: str) -> bool:
    return value.lstrip("+-−±~≈<>(. ")[:1].isdecimal() or not _WORD.search(value)


class MagicWords:
    """The names of variables and parser functions in one wiki.

    Args:
        code: the code of a corpus, such as "de".
        keys: the keys of the variables and functions to find.
    """

    def __init__(self, code: str, keys: Iterable[str]) -> None:
        languages = languages_of_wiki(code)
        self._is_local = any(language != "en" for language in languages)
        words = [(key, key) for key in keys]
        for language in reversed(languages):
            named = function_names().get(language, {})
            words += ((name, key) for key, names in named.items() for name in names)
        self._exact = {name: key for name, key in words if key.isupper()}
        self._folded = {name.casefold(): key for name, key in words if not key.isupper()}

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
        self._words = MagicWords(language.code, MAGIC_WORDS)
        self._namespace_prefixes = prefixes | self._words.names(_MODIFIERS)
        self._self_named = re.compile(language.self_named) if language.self_named else None
        self._shows = {name: self._compile(pattern) for name, pattern in language.templates.items()}
        self._placed = frozenset(
            name
            for name, pattern in language.templates.items()
            if self._resolved(pattern).startswith(_IN_PLACE)
        )
        self._find_known = functools.lru_cache(_MAX_NAMES)(self._find)

    def _compile(self, pattern: str) -> Show | None:
        pattern = self._without_missing_phrases(self._resolved(pattern)).removeprefix(_IN_PLACE)
        if not pattern.startswith("="):
            return compile_pattern(pattern) if pattern else None
        function = FUNCTIONS.get(pattern[1:])
        if not function:
            raise ValueError(
                f"unknown function {pattern!r}; expected '=' and one of {', '.join(FUNCTIONS)}"
            )
        return function

    def _without_missing_phrases(self, pattern: str) -> str:
        """Leaves out the phrases of a pattern for which the language has no words, such as `{@born}`."""
        phrases = self._language.phrases
        return _PHRASE.sub(lambda found: found[0] if found[1] in phrases else "", pattern)

    def _resolved(self, pattern: str) -> str:
        for _ in range(3):  # an alias may lead to an alias
            if pattern.startswith("@"):
                name = pattern[1:]
                aliased = self._language.templates.get(normalise_name(name))
                if aliased is None:
                    raise ValueError(
                        f"the pattern '@{name}' refers to the template {name!r}, which is not in the tables"
                    )
                pattern = aliased
        return pattern

    def _family_member(self, name: str) -> Show | None:
        """Returns the function for a template of a family, such as `lang-de` or `ipa-de`.

        Returns None for other templates.
        """
        language = self._language
        family, _, code = name.partition("-")
        names = language.language_names
        label = names.get(code.removesuffix("-short") if family == "lang" else code, "")
        if family == "lang" and (code in names or code.endswith("-short")):
            return _with_label(FUNCTIONS["labelled"], label)
        if family == "lang" and code.endswith("2") and code[:-1] in names:
            return self._shows["lang-x"]  # {{lang-el2}}: without the name of the language
        if family == "lang" and _LANGUAGE_CODE.fullmatch(code):
            return FUNCTIONS["labelled"]  # without a label rather than with an English one
        if family == "ipa":
            return _with_label(FUNCTIONS["ipa_of_language"], label)
        # {{ref-en}} names the language of a source
        mark = language.phrases.get("language_mark", "") if family == "ref" and label else ""
        return (lambda arguments, page: mark.format(label=label)) if mark else None

    def find_at(self, text: str, start: int) -> Template:
        """Returns the template whose name begins at the position `start` of the text."""
        written = _NAME.match(text, start)
        assert written
        name = written[1]
        found = self.find(name)
        may_be_country = name.isupper() or not found.known
        if may_be_country and text.startswith("}}", written.end()):
            return self.find_bare(name)
        return found

    def find_bare(self, written_name: str) -> Template:
        """Returns the template with the given name, which is called without arguments."""
        found = self.find(written_name)
        country = self._country(written_name.strip(), found)
        if not country:
            return found
        in_wiki = self._find_in_wiki(normalise_name(written_name))
        if in_wiki.known and not in_wiki.definition:
            return in_wiki
        # Names are compared without case: {{AUT}} is Austria, {{aut|…}} small capitals.
        definition = "" if _REQUIRED.search(in_wiki.definition) else in_wiki.definition
        return Template(in_wiki.name, lambda arguments, page: country, True, definition=definition)

    def _country(self, name: str, found: Template) -> str:
        """Returns the country that `{{name}}` shows; "" if there is none.

        The name is a code in upper case, or a name that the wiki redirects to a code.
        """
        countries = self._language.countries
        if name.isupper() and name.casefold() in countries:
            return countries[name.casefold()]
        target = "" if found.known else self._of_wiki.aliases.get(normalise_name(name), "")
        return countries.get(target, "")

    def knows(self, name: str) -> bool:
        """Returns True if a template can be expanded without its definition in the wiki."""
        found = self.find(name)
        return found.known and not found.fits and not self._is_better_in_wiki(found.name)

    def find(self, written_name: str) -> Template:
        """Returns the template with the given name, which may be spelled as in the wikitext."""
        find = self._find_known if len(written_name) <= _MAX_NAME else self._find
        return find(written_name)

    def _find(self, written_name: str) -> Template:
        name = normalise_name(written_name)
        prefix, colon, rest = name.partition(":")
        if colon and name not in self._shows and prefix.strip() in self._namespace_prefixes:
            name = rest.strip()
        magic = None if name in self._shows else self._find_magic_word(written_name.strip())
        if magic and magic.is_function:
            return magic
        if magic:
            return magic._replace(fits=_is_empty, otherwise=self._find_template(name, written_name))
        found = self._find_template(name, written_name)
        # A template such as {{currentyear}} is probably the variable.
        is_variable = not found.known and VARIABLES.get(name.upper()) is unknown
        return Template(name, unknown, True) if is_variable else found

    def _find_magic_word(self, written_name: str) -> Template | None:
        """Returns a variable or parser function with a given name, or None."""
        word, colon, rest = written_name.partition(":")
        key = self._words.key(word)
        name = normalise_name(key or word)
        if name == "#invoke" and colon:
            module = normalise_name(rest)
            is_value = bool(WIKIDATA.search(module))
            return Template(f"{name}:{module}", unknown if is_value else None, is_value, True)
        of_function = PARSER_FUNCTIONS.get(key) or CHOICES.get(key)
        show = of_function if colon else VARIABLES.get(key)
        if show or (colon and name.startswith("#")):
            return Template(name, show, show is not None, bool(colon))
        return None

    def _find_template(self, name: str, written_name: str) -> Template:
        found = self._find_in_tables(name, written_name)
        if not found or self._is_better_in_wiki(name):
            of_wiki = self._find_in_wiki(name)
            found = of_wiki if of_wiki.definition or not found else found
        if WIKIDATA.search(found.name) and not found.show:
            value = found._replace(show=unknown, known=True)
            return value._replace(fits=_has_property, otherwise=found)
        return self._with_shape(found, written_name) if found.name in self._shows else found

    def _with_shape(self, found: Template, written_name: str) -> Template:
        """Limits a template of the tables to the calls that its rule is made for, and returns it.

        A borrowed rule is for fitting arguments only, and the wiki's own definition takes precedence. Values,
        fractions and amounts of money have fitting arguments in every wiki. The prefix of a ship is in
        capitals: `{{SS|Normandie}}` is a ship, but `{{ss|…}}` often a language. So is the end of an
        abbreviation: `{{AbS|…}}` is Abkhazian in German, but `{{abs|…}}` is another template.
        """
        is_named = found.name == normalise_name(written_name)
        is_abbreviation = is_named and found.name in self._language.abbreviations
        written = written_name.strip()
        if is_abbreviation and not (written[-1:].isupper() and written[-2:-1].islower()):
            return self._find_in_wiki(found.name)
        pattern = self._resolved(self._language.templates.get(found.name, "")).removeprefix(
            _IN_PLACE
        )
        is_borrowed = found.name in self._language.borrowed
        is_prefix = pattern[1:] in terms.BY_PREFIX and is_named
        is_limited = is_borrowed or pattern in _OF_NUMBERS | _OF_NUMBER
        is_worded = pattern == self._without_missing_phrases(pattern)
        fits = _shape_of(pattern, is_worded=is_worded) if is_limited and found.show else None
        otherwise = self._find_in_wiki(found.name)
        is_code = len(found.name) <= _MAX_CODE and found.name.isascii()
        if is_code and len(pattern) > _MAX_CODE and pattern.replace(" ", "").isalpha():
            return found._replace(fits=_has_no_words, otherwise=otherwise)  # a country
        if not (is_prefix or fits):
            return found
        if is_prefix and not written_name.strip()[1:2].isupper():
            return otherwise
        if not is_borrowed or not otherwise.known:
            return found._replace(fits=fits, otherwise=otherwise)
        if is_prefix or not otherwise.definition:
            return otherwise
        return otherwise._replace(show=found.show, fits=fits, otherwise=otherwise)

    def _is_better_in_wiki(self, name: str) -> bool:
        """Returns True if the wiki's definition of a template takes precedence over the language's tables.

        This is so for templates in tables that were not written by hand, and for templates that contain data
        such as numbers of inhabitants.
        """
        if name in self._shows:
            return name in self._language.wiki_first
        if name.startswith(self._language.data_prefixes):
            return True
        return not self._language.is_complete and name.startswith(("lang-", "ipa-"))

    def _find_in_tables(self, name: str, written_name: str = "") -> Template | None:
        if name in self._shows:
            return Template(name, self._shows[name], True, is_placed=name in self._placed)
        show = self._family_member(name)
        if not show and written_name and self._self_named and self._self_named.fullmatch(name):
            show = _with_noun(written_name.strip())
        if name.startswith(self._language.data_prefixes):
            show = unknown  # unless the dump defines it
        is_known = show or name.startswith(self._language.silent_prefixes)
        return Template(name, show, True) if is_known else None

    def _find_in_wiki(self, name: str) -> Template:
        """Finds a template by its normalised name among the wiki's own aliases and definitions.

        If it is not found, the result has `known` set to False.
        """
        target, in_tables = name, None
        for _ in range(_MAX_ALIASES):
            if target in self._of_wiki.definitions:
                definition = self._words.with_keys(self._of_wiki.definitions[target])
                return Template(name, None, True, definition=definition)
            target = self._of_wiki.aliases.get(target, "")
            in_tables = in_tables or self._find_in_tables(target)
            if in_tables and not self._is_better_in_wiki(target):
                return in_tables
        return in_tables or Template(name, None, False)
