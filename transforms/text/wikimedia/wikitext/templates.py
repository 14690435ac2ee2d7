"""Replace templates by the text they show, in one pass over the braces of a text.

Which template shows what is data (see `patterns` and `languages/*.toml`). A template that is in no
table leaves a hole, which `tidy` closes, and is counted where it stood in running text.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from transforms.text.wikimedia.language import Language, normalise_name
from transforms.text.wikimedia.wikitext.functions import FUNCTIONS, formatters_of
from transforms.text.wikimedia.wikitext.marks import BREAK, HOLE, protect_argument
from transforms.text.wikimedia.wikitext.parser_functions import PARSER_FUNCTIONS, VARIABLES
from transforms.text.wikimedia.wikitext.patterns import Arguments, compile_pattern
from transforms.text.wikimedia.wikitext.rendering import Page

# MediaWiki stops at 100 nested brace frames ($wgMaxPPExpandDepth).
MAX_DEPTH = 100

_BRACES = re.compile(r"\{\{|\}\}")
_NAME = re.compile(r"\s*([^|{}<\[\]\n]*)")
_PARAMETER = re.compile(r"\{\{\{[^{}]*\}\}\}")
_NOT_PROSE = ("*", "#", ":", ";", "|", "!")
_OPENER, _CLOSER = 1, -1
_MAX_NAME = 255  # characters; MediaWiki allows 255 bytes
_WINDOW = 200  # characters
_TEMPLATE_NAMESPACE = 10

Show = Callable[[Arguments, Page], str]


class TooDeepError(ValueError):
    """Templates are nested deeper than MAX_DEPTH."""


class _Template(NamedTuple):
    name: str  # normalised; of a parser function, what stands before the colon
    show: Show | None  # None: shows no prose
    known: bool  # is in a table
    is_function: bool = False  # the first argument follows a colon in the name


class _Frame(NamedTuple):
    template: _Template
    start: int  # position of its braces
    outer: list[str]  # pieces of the text around it


def _pair_braces(text: str) -> list[int]:
    """Return the role of each brace token: _OPENER and _CLOSER of a pair, or 0."""
    roles: list[int] = []
    open_at: list[int] = []
    for brace in _BRACES.finditer(text):
        if text[brace.start()] == "{":
            open_at.append(len(roles))
            roles.append(0)
        elif open_at:
            if len(open_at) > MAX_DEPTH:
                raise TooDeepError(f"templates nested deeper than {MAX_DEPTH}")
            roles[open_at.pop()] = _OPENER
            roles.append(_CLOSER)
        else:
            roles.append(0)
    return roles


def parse_arguments(text: str) -> dict[str, str]:
    """Return the arguments of `a|b|name=c`: positional ones under "1", "2", … All are stripped."""
    arguments: dict[str, str] = {}
    count = 0
    for part in text.split("|"):
        name, equals, value = part.partition("=")
        if equals:
            arguments[name.strip()] = value.strip()
        else:
            count += 1
            arguments[str(count)] = part.strip()
    return arguments


def _with_label(function: Show, label: str) -> Show:
    return lambda arguments, page: function({**arguments, "label": label}, page)


class TemplateTexts:
    """Shows the templates of one wiki."""

    def __init__(
        self,
        language: Language,
        namespaces: Mapping[int, Sequence[str]],
        show_links: Callable[[str], str],
    ) -> None:
        self._language = language
        self._show_links = show_links
        self._formatters = formatters_of(language)
        prefixes = {normalise_name(name) for name in namespaces.get(_TEMPLATE_NAMESPACE, ())}
        self._namespace_prefixes = prefixes | {"template", "msg", "subst", "safesubst"}
        self._self_named = re.compile(language.self_named) if language.self_named else None
        self._shows: dict[str, Show | None] = {}
        for name, pattern in language.templates.items():
            self._shows[name] = self._compile(pattern)

    def _compile(self, pattern: str) -> Show | None:
        for _ in range(3):  # an alias may lead to an alias
            if pattern.startswith("@"):
                pattern = self._language.templates[normalise_name(pattern[1:])]
        if not pattern:
            return None
        if pattern.startswith("="):
            function = FUNCTIONS[pattern[1:]]
            return lambda arguments, page: function(arguments, page)
        show = compile_pattern(pattern)
        phrases, formatters = self._language.phrases, self._formatters
        return lambda arguments, page: show(arguments, phrases, formatters)

    def _family_member(self, name: str) -> Show | None:
        """Return how a template of a family shows itself: `lang-de`, `ipa-de`, and `deu`."""
        language = self._language
        family, _, code = name.partition("-")
        if family == "lang" and code in language.language_names:
            return _with_label(FUNCTIONS["labelled"], language.language_names[code])
        if family == "lang" and code.endswith("2") and code[:-1] in language.language_names:
            return self._shows["lang-x"]  # {{lang-el2}}: without the name of the language
        if family == "ipa":
            label = language.language_names.get(code, "")
            return _with_label(FUNCTIONS["ipa_of_language"], label)
        country = language.countries.get(name)
        return (lambda arguments, page: country) if country else None

    def _find(self, written_name: str) -> _Template:
        name = normalise_name(written_name)
        if name in self._shows:
            return _Template(name, self._shows[name], True)
        prefix, colon, rest = name.partition(":")
        if colon:
            if prefix.strip() in self._namespace_prefixes:
                name = rest.strip()
                if name in self._shows:
                    return _Template(name, self._shows[name], True)
            function = PARSER_FUNCTIONS.get(prefix)
            if function or prefix.startswith("#"):
                return _Template(prefix, function, function is not None, True)
        if name in VARIABLES:
            return _Template(name, VARIABLES[name], True)
        show = self._family_member(name)
        if show:
            return _Template(name, show, True)
        if self._self_named and self._self_named.fullmatch(name):
            shown = written_name.strip()
            return _Template(name, lambda arguments, page: shown, True)
        known = name.startswith(self._language.silent_prefixes)
        return _Template(name, None, known)

    def expand(self, text: str, page: Page, unrendered: dict[str, int]) -> str:
        """Replace all templates of a text; count the unknown ones in `unrendered`.

        Braces without a partner go, an opener with the rest of its line.

        Raises:
            TooDeepError: templates are nested deeper than MAX_DEPTH.
        """
        if "{{" not in text and "}}" not in text:
            return text
        if "{{{" in text:
            text = _PARAMETER.sub("", text)  # parameters are for the pages of templates
        pieces: list[str] = []
        frames: list[_Frame] = []
        silent_depth = 0  # open braces within a template that shows nothing
        position = 0
        for brace, role in zip(_BRACES.finditer(text), _pair_braces(text), strict=True):
            start, end = brace.span()
            if silent_depth:
                silent_depth += role
                if not silent_depth:
                    _count_unknown(text, frames.pop(), end, bool(frames), unrendered)
                    pieces.append(HOLE)
                    position = end
                continue
            pieces.append(text[position:start])
            position = end
            if role == _OPENER:
                template = self._find(_NAME.match(text, end)[1])  # type: ignore[index]
                frames.append(_Frame(template, start, pieces))
                if template.show:
                    pieces = []
                else:
                    silent_depth = 1
            elif role == _CLOSER:
                frame = frames.pop()
                shown = self._show("".join(pieces), frame.template, page)
                pieces = frame.outer
                pieces.append(shown)
            elif text[start] == "{":
                pieces.append("\n|")  # such lines are dropped as what is left of a template
        pieces.append(text[position:])
        return "".join(pieces)

    def _show(self, inner: str, template: _Template, page: Page) -> str:
        """Return what a template with a known display shows, or a hole."""
        assert template.show is not None
        if "[[" in inner:
            inner = self._show_links(inner)
        inner = inner.partition(":" if template.is_function else "|")[2]
        shown = template.show(parse_arguments(inner) if inner else {}, page)
        return protect_argument(shown).replace("\n\n", BREAK) if shown else HOLE


def _count_unknown(
    text: str, frame: _Frame, end: int, is_nested: bool, unrendered: dict[str, int]
) -> None:
    if not frame.template.known and _is_inline(text, frame, end, is_nested):
        name = frame.template.name[:_MAX_NAME]
        unrendered[name] = unrendered.get(name, 0) + 1


def _is_inline(text: str, frame: _Frame, end: int, is_nested: bool) -> bool:
    """Whether a template stands in running text rather than on lines of its own.

    Only its neighbourhood is looked at, so that long lines cost no more than short ones.
    """
    window_start = max(0, frame.start - _WINDOW)
    line_start = text.rfind("\n", window_start, frame.start) + 1 or window_start
    before = text[line_start : frame.start].strip()
    if before.startswith(_NOT_PROSE):
        return False
    if is_nested or (before and not before.endswith("}}")):
        return True
    line_end = text.find("\n", end, end + _WINDOW)
    after = text[end : end + _WINDOW if line_end < 0 else line_end].strip()
    return bool(after) and not after.startswith(("{{", "[[", "|"))
