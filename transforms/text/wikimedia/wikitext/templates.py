"""Replace templates by the text they show, in one pass over the braces of a text.

Which template shows what is data (see `patterns` and `languages/*.toml`). A name that is in no table
may be an alias of one that is, or have a definition in the wiki itself (see `template_pages`). Any
other template leaves a hole, which `tidy` closes, and is counted where it stood in running text.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from transforms.text.wikimedia.language import TEMPLATE_NAMESPACE, Language, normalise_name
from transforms.text.wikimedia.template_pages import WikiTemplates
from transforms.text.wikimedia.wikitext.definitions import fill_in
from transforms.text.wikimedia.wikitext.functions import FUNCTIONS, formatters_of
from transforms.text.wikimedia.wikitext.marks import BREAK, HOLE, SECTION, protect_argument
from transforms.text.wikimedia.wikitext.parser_functions import PARSER_FUNCTIONS, VARIABLES
from transforms.text.wikimedia.wikitext.patterns import Arguments, compile_pattern, formatters_in
from transforms.text.wikimedia.wikitext.rendering import Page

# MediaWiki stops at 100 nested brace frames ($wgMaxPPExpandDepth).
MAX_DEPTH = 100

_BRACES = re.compile(rf"\{{\{{|\}}\}}|{SECTION}")
_NAME = re.compile(r"\s*([^|{}<\[\]\n]*)")
_PARAMETER = re.compile(rf"\{{\{{\{{[^{{}}{SECTION}]*\}}\}}\}}")
_NOT_PROSE = ("*", "#", ":", ";", "|", "!")
_OPENER, _CLOSER = 1, -1
_MAX_NAME = 255  # characters; MediaWiki allows 255 bytes
_WINDOW = 200  # characters
_MAX_ALIASES = 3  # MediaWiki follows one redirect; a local name may stand for another one besides
_MAX_DEFINITIONS = 6  # nested in each other
_MAX_DEFINED = 256 * 1024  # characters that definitions may add to a page
_BLOCK_IN_DEFINITION = re.compile(r"\n[ \t]*[*#:;|!\n]|\{\||^[*#:;|!]")

Show = Callable[[Arguments, Page], str]


class TooDeepError(ValueError):
    """Templates are nested deeper than MAX_DEPTH."""


@dataclasses.dataclass
class Expansion:
    """What expanding the templates of one page has come to."""

    unrendered: dict[str, int]  # templates in running text that left nothing, by normalised name
    defined: int = 0  # characters that definitions have added, at most


class _Template(NamedTuple):
    name: str  # normalised; of a parser function, what stands before the colon
    show: Show | None  # None: shows no prose, unless there is a definition
    known: bool  # is in a table
    is_function: bool = False  # the first argument follows a colon in the name
    definition: str = ""  # the wikitext that the wiki itself puts in its place


class _Frame(NamedTuple):
    template: _Template
    start: int  # position of its braces
    outer: list[str]  # pieces of the text around it


def _pair_braces(text: str) -> list[int]:
    """Return the role of each brace token: _OPENER and _CLOSER of a pair, or 0."""
    roles: list[int] = []
    open_at: list[int] = []
    for brace in _BRACES.finditer(text):
        first = text[brace.start()]
        if first == SECTION:
            open_at.clear()
            roles.append(0)
        elif first == "{":
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


def parse_function_arguments(text: str) -> dict[str, str]:
    """Return the arguments of a parser function: all are positional, whatever they hold."""
    return {str(i): part.strip() for i, part in enumerate(text.split("|"), start=1)}


def _with_label(function: Show, label: str) -> Show:
    def show(arguments: Arguments, page: Page) -> str:
        is_hidden = arguments.get("label") in ("none", "no")
        return function({**arguments, "label": "" if is_hidden else label}, page)

    return show


def _with_noun(text: str) -> Show:
    """{{XXe siècle}}, and {{84e|congrès}}."""
    return lambda arguments, page: " ".join(filter(None, (text, arguments.get("1"))))


class TemplateTexts:
    """Shows the templates of one wiki."""

    def __init__(
        self,
        language: Language,
        namespaces: Mapping[int, Sequence[str]],
        show_links: Callable[[str], str],
        of_wiki: WikiTemplates,
    ) -> None:
        self._language = language
        self._show_links = show_links
        self._of_wiki = of_wiki
        self._formatters = formatters_of(language)
        prefixes = language.namespace_names(TEMPLATE_NAMESPACE, namespaces)
        self._namespace_prefixes = prefixes | {"msg", "subst", "safesubst"}
        self._self_named = re.compile(language.self_named) if language.self_named else None
        self._shows: dict[str, Show | None] = {}
        for name, pattern in language.templates.items():
            self._shows[name] = self._compile(pattern)

    def _compile(self, pattern: str) -> Show | None:
        for _ in range(3):  # an alias may lead to an alias
            if pattern.startswith("@"):
                pattern = self._aliased(pattern[1:])
        if not pattern:
            return None
        if pattern.startswith("="):
            function = FUNCTIONS.get(pattern[1:])
            if not function:
                raise ValueError(f"no such function: {pattern!r}; there are {', '.join(FUNCTIONS)}")
            return lambda arguments, page: function(arguments, page)
        show = compile_pattern(pattern)
        for name in formatters_in(pattern):
            if name not in self._formatters:
                known = ", ".join(self._formatters)
                raise ValueError(f"no such formatter: {name!r} in {pattern!r}; there are {known}")
        phrases, formatters = self._language.phrases, self._formatters
        return lambda arguments, page: show(arguments, phrases, formatters)

    def _aliased(self, name: str) -> str:
        pattern = self._language.templates.get(normalise_name(name))
        if pattern is None:
            raise ValueError(f"an alias of a template that is in no table: {name!r}")
        return pattern

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
        if (
            family == "ref"
            and code in language.language_names
            and "language_mark" in language.phrases
        ):
            mark = language.phrases["language_mark"].format(label=language.language_names[code])
            return lambda arguments, page: mark
        country = language.countries.get(name)
        return (lambda arguments, page: country) if country else None

    def _find_at(self, text: str, start: int) -> _Template:
        """Return the template whose name begins at a position."""
        written = _NAME.match(text, start)
        assert written
        name = written[1]
        if name.isupper() and text.startswith("}}", written.end()):
            country = self._language.countries.get(name.strip().casefold())
            if country:  # {{AUT}} is Austria, {{aut|…}} small capitals
                return _Template(name.casefold(), lambda arguments, page: country, True)
        return self._find(name)

    def knows(self, name: str) -> bool:
        """Whether a template can be shown without what the wiki says of it."""
        return self._find(name).known

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
            return _Template(name, _with_noun(written_name.strip()), True)
        if name.startswith(self._language.silent_prefixes):
            return _Template(name, None, True)
        return self._find_in_wiki(name)

    def _find_in_wiki(self, name: str) -> _Template:
        """Return a template by what the wiki says of it: another name, or its definition."""
        target = name
        for _ in range(_MAX_ALIASES):
            if target in self._of_wiki.definitions:
                return _Template(name, None, True, definition=self._of_wiki.definitions[target])
            target = self._of_wiki.aliases.get(target, "")
            if target in self._shows:
                return _Template(target, self._shows[target], True)
            show = self._family_member(target)
            if show:
                return _Template(target, show, True)
            if target.startswith(self._language.silent_prefixes):
                return _Template(target, None, True)
        return _Template(name, None, False)

    def expand(
        self, text: str, page: Page, expansion: Expansion, within: tuple[str, ...] = ()
    ) -> str:
        """Replace all templates of a text; count the unknown ones in `expansion`.

        Braces without a partner go, an opener with the rest of its line. `within` are the
        definitions that the text stands in.

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
                    frame = frames.pop()
                    _count_unknown(text, frame, end, bool(frames), expansion.unrendered)
                    pieces.append(HOLE)
                    position = end
                continue
            pieces.append(text[position:start])
            position = end
            if role == _OPENER:
                template = self._find_at(text, end)
                frames.append(_Frame(template, start, pieces))
                if template.show or template.definition:
                    pieces = []
                else:
                    silent_depth = 1
            elif role == _CLOSER:
                frame = frames.pop()
                inner = self._inner("".join(pieces), frame.template)
                pieces = frame.outer
                if not frame.template.definition:
                    pieces.append(_show(inner, frame.template, page))
                elif _is_inline(text, frame, end, bool(frames)):
                    definition = frame.template.definition
                    pieces.append(self._define(definition, inner, page, expansion, within))
                else:
                    pieces.append(HOLE)  # a notice, perhaps
            elif text[start] == "{":
                pieces.append("\n|")  # such lines are dropped as what is left of a template
            elif text[start] == SECTION:
                pieces.append(SECTION)
        pieces.append(text[position:])
        return "".join(pieces)

    def _inner(self, text: str, template: _Template) -> str:
        """Return the arguments of a template, as they are written, from its name and arguments."""
        if "[[" in text:
            text = self._show_links(text)
        return text.partition(":" if template.is_function else "|")[2]

    def _define(
        self, definition: str, inner: str, page: Page, expansion: Expansion, within: tuple[str, ...]
    ) -> str:
        """Return what the definition of a template shows, or a hole where that is no prose."""
        added = len(definition) + len(inner) * definition.count("{{{")
        expansion.defined += added
        if definition in within or len(within) == _MAX_DEFINITIONS:
            return HOLE
        if expansion.defined > _MAX_DEFINED:
            return HOLE
        text = fill_in(definition, parse_arguments(inner) if inner else {})
        shown = self._show_links(self.expand(text, page, expansion, (*within, definition))).strip()
        if not shown or _BLOCK_IN_DEFINITION.search(shown):
            return HOLE
        return protect_argument(shown)


def _show(inner: str, template: _Template, page: Page) -> str:
    """Return what a template with a known display shows, or a hole."""
    assert template.show is not None
    parse = parse_function_arguments if template.is_function else parse_arguments
    shown = template.show(parse(inner) if inner else {}, page)
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
