"""Replace templates by the text they show, in one pass over the braces of a text.

What a template shows is found by its name (see `lookup`): by a table, or by the definition that it has
in the wiki itself. Any other leaves a hole, which `tidy` closes, and is counted where it stood in
running text.
"""

import dataclasses
import re
from collections.abc import Callable
from typing import NamedTuple

from transforms.text.wikimedia.wikitext.marks import BREAK, HOLE, SECTION, protect_argument
from transforms.text.wikimedia.wikitext.templates.definitions import fill_in
from transforms.text.wikimedia.wikitext.templates.lookup import Template, TemplateTable
from transforms.text.wikimedia.wikitext.templates.rendering import Page

# MediaWiki stops at 100 nested brace frames ($wgMaxPPExpandDepth).
MAX_DEPTH = 100

_BRACES = re.compile(rf"\{{\{{|\}}\}}|{SECTION}")
_PARAMETER = re.compile(rf"\{{\{{\{{[^{{}}{SECTION}]*\}}\}}\}}")
_NOT_PROSE = ("*", "#", ":", ";", "|", "!")
_OPENER, _CLOSER = 1, -1
_MAX_NAME = 255  # characters; MediaWiki allows 255 bytes
_WINDOW = 200  # characters
_MAX_DEFINITIONS = 6  # nested in each other
_MAX_DEFINED = 256 * 1024  # characters that definitions may add to a page
_MAX_GROWN = 2 * 1024 * 1024  # MediaWiki's own limit on what templates expand to
_BLOCK_IN_DEFINITION = re.compile(r"\n[ \t]*[*#:;|!\n]|\{\||^[*#:;|!]")


class TooDeepError(ValueError):
    """Templates are nested deeper than MAX_DEPTH."""


@dataclasses.dataclass
class Expansion:
    """What expanding the templates of one page has come to."""

    unrendered: dict[str, int]  # templates in running text that left nothing, by normalised name
    defined: int = 0  # characters that definitions have added, at most
    grown: int = 0  # characters by which templates show more than they were given


class _Frame(NamedTuple):
    template: Template
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


class TemplateTexts:
    """Shows the templates of one wiki."""

    def __init__(self, table: TemplateTable, show_links: Callable[[str], str]) -> None:
        self._table = table
        self._show_links = show_links

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
                template = self._table.find_at(text, end)
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
                    pieces.append(_show(inner, frame.template, page, expansion))
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

    def _inner(self, text: str, template: Template) -> str:
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
        try:
            expanded = self.expand(text, page, expansion, (*within, definition))
        except TooDeepError:
            return HOLE
        shown = self._show_links(expanded).strip()
        if not shown or _BLOCK_IN_DEFINITION.search(shown):
            return HOLE
        return protect_argument(shown)


def _show(inner: str, template: Template, page: Page, expansion: Expansion) -> str:
    """Return what a template with a known display shows, or a hole."""
    assert template.show is not None
    if expansion.grown > _MAX_GROWN:
        return HOLE
    parse = parse_function_arguments if template.is_function else parse_arguments
    shown = template.show(parse(inner) if inner else {}, page)
    expansion.grown += max(0, len(shown) - len(inner))
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
