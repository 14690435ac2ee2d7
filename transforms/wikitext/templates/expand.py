"""Expands the templates of a text in one pass over its braces.

The module `lookup` finds a template by its name, in the tables of the language or among the wiki's own
definitions. For any other template in running text, the module `guesses` guesses the text. If no text is
found, the template is replaced by a hole, a mark that the module `tidy` removes. Holes in running text are
counted.

A value that cannot be known, such as a price of today, leaves a hole with the mark UNKNOWN (see
`unknown_values`). It is counted separately.
"""

import dataclasses
import re
from collections.abc import Callable
from typing import NamedTuple

from ..marks import BREAK, GUARD, HOLE, SECTION, SENTENCE_SIGNS, UNKNOWN, protect_argument
from ..tags import drop_marks
from .definitions import DefinitionError, Evaluation, read_definition
from .guesses import guess, guess_quotation, is_in_place_of_words, is_quotation, leaves_a_gap
from .lookup import Template, TemplateTable
from .patterns import Arguments, Page

# MediaWiki stops at 100 nested brace frames ($wgMaxPPExpandDepth).
MAX_DEPTH = 100

# Each is searched separately: a regular expression without alternatives skips most characters quickly.
_TOKENS = [re.compile(token) for token in (r"\{\{", r"\}\}", SECTION)]
# A parameter on a page, whose value is the default (group 1). The default may contain templates.
_CALL = rf"\{{\{{(?:[^{{}}{SECTION}]++|\{{\{{[^{{}}{SECTION}]*+\}}\}})*+\}}\}}"
_DEFAULT = rf"(?:[^{{}}|{SECTION}]++|{_CALL})*+"
_PARAMETER = re.compile(
    rf"\{{\{{\{{[^{{}}|{SECTION}]*+(?:\|({_DEFAULT})(?:\|{_DEFAULT})*+)?\}}\}}\}}"
)
_MAX_PARAMETERS = 10  # nested in each other
_NOT_PROSE = ("*", "#", ":", ";", "|", "!")
_BETWEEN_TEMPLATES = re.compile(r"\}\}[^{}|]*\w[^{}|]*\{\{")
_CLOSER = -1
_MAX_NAME = 255  # characters; MediaWiki allows 255 bytes
_WINDOW = 200  # characters
# Least and greatest number of characters of a list item in which templates are shown as in running text
_MIN_ITEM = 30
_MAX_ITEM = 2_000
_MAX_DEFINITIONS = 10  # nested in each other
_MAX_GUESSED = 4_000  # characters
_MAX_WORK = 1_500_000  # of evaluating definitions, per page; see Evaluation
_MAX_GROWN = 2 * 1024 * 1024  # MediaWiki's own limit on what templates expand to
# Results of definitions that cannot be part of a sentence, and results that are notes
_BLOCK = re.compile(
    r"\n[ \t]*[*#:;|!\n]|\{\||^[*#:;|!]|</?(?:table|tr|td|div|li|ul|ol|dl|center|h[1-6]|hr)\b",
    re.IGNORECASE,
)
_LINE_MARKS = re.compile(r"\n+[:*#;]+[ \t]*")
_FOOTNOTE_MARK = re.compile(r"\s*<sup\b[^>]*>.*</sup\s*>\s*", re.DOTALL | re.IGNORECASE)
_QUOTED = re.compile(r"</?(?:blockquote|poem)\b[^>]*>", re.IGNORECASE)


class TooDeepError(ValueError):
    """Raised if templates are nested deeper than MAX_DEPTH."""


class Seen(NamedTuple):
    """A template call in the wikitext, and the text to which it was expanded."""

    start: int  # position of its braces in the text that was given
    template: Template
    source: str
    shown: str  # HOLE for nothing


@dataclasses.dataclass
class Expansion:
    """Results of expanding the templates of a page.

    `unrendered`, `guessed` and `unknown` count template calls by normalised template name.
    """

    unrendered: dict[str, int]  # in running text, with no text or incomplete text
    guessed: dict[str, int] = dataclasses.field(default_factory=dict)
    unknown: dict[str, int] = dataclasses.field(default_factory=dict)  # values marked as UNKNOWN
    dropped: list[str] = dataclasses.field(default_factory=list)  # see `drop_unknown_values`
    evaluation: Evaluation = dataclasses.field(default_factory=lambda: Evaluation(_MAX_WORK))
    grown: int = 0  # characters by which templates show more than they were given
    seen: list[Seen] | None = None  # if a list, all templates are added, the innermost first


class _Frame(NamedTuple):
    template: Template
    start: int  # position of its opening braces
    end: int  # position after its closing braces
    outer: list[str]  # pieces of the text around it
    unrendered: dict[str, int]  # counts before it
    is_nested: bool  # in another template


def _pair_braces(tokens: str) -> list[int]:
    """Finds the partner of each brace token. `tokens` has the first character of each token.

    Returns one number per token: the index of its closer for an opener, _CLOSER for a closer, and 0 for a
    token without partner.
    """
    roles = [0] * len(tokens)
    open_at: list[int] = []
    for index, token in enumerate(tokens):
        if token == SECTION:
            open_at.clear()
        elif token == "{":
            open_at.append(index)
        elif open_at:
            if len(open_at) > MAX_DEPTH:
                raise TooDeepError(f"templates are nested deeper than {MAX_DEPTH} levels")
            roles[open_at.pop()] = index
            roles[index] = _CLOSER
    return roles


def parse_arguments(text: str) -> dict[str, str]:
    """Parses the arguments `a|b|name=c` into name → value, without spaces around them.

    Positional arguments are named "1", "2" etc.
    """
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
    """Parses the arguments of a parser function into position → value, without spaces around the values.

    All arguments are positional, even those with `=`.
    """
    return {str(i): part.strip() for i, part in enumerate(text.split("|"), start=1)}


class TemplateTexts:
    """Expands the templates of one wiki to text."""

    def __init__(self, table: TemplateTable, show_links: Callable[[str], str]) -> None:
        self._table = table
        self._show_links = show_links

    def expand(self, text: str, page: Page, expansion: Expansion) -> str:
        """Expands all templates of a text, and returns the text.

        `expansion` counts the templates whose text is guessed or missing. Closing braces without a partner
        are removed. Opening braces without a partner are removed together with the rest of their line.

        Raises:
            TooDeepError: templates are nested deeper than MAX_DEPTH.
        """
        if "{{" not in text and "}}" not in text:
            return text
        if "{{{" in text:
            for _ in range(_MAX_PARAMETERS):
                text, count = _PARAMETER.subn(lambda found: found[1] or "", text)
                if not count:
                    break
        return _Text(self._table, self._show_links, text, page, expansion).expand()


@dataclasses.dataclass
class _Text:
    """A text whose templates are expanded."""

    table: TemplateTable
    show_links: Callable[[str], str]
    text: str
    page: Page
    expansion: Expansion

    def expand(self) -> str:
        text, expansion = self.text, self.expansion
        starts = sorted(found.start() for token in _TOKENS for found in token.finditer(text))
        tokens = "".join([text[start] for start in starts])
        pieces: list[str] = []
        frames: list[_Frame] = []
        skipped = -1  # index of the braces that close a template whose arguments show nothing
        position = 0
        for index, role in enumerate(_pair_braces(tokens)):
            if index <= skipped:
                continue
            start, token = starts[index], tokens[index]
            end = start + (len(SECTION) if token == SECTION else 2)
            pieces.append(text[position:start])
            position = end
            if role > 0:
                template = self.table.find_at(text, end)
                whole = starts[role] + 2
                counts = expansion.unrendered
                frame = _Frame(template, start, whole, pieces, counts, bool(frames))
                if template.show or template.definition:
                    frames.append(frame)
                    pieces = []
                    continue
                if not template.known:
                    is_inline = self._is_inline(frame)
                    if whole - start <= _MAX_GUESSED and (is_inline or is_quotation(template.name)):
                        # If the whole template is no gap, templates nested in it are not, either.
                        frames.append(frame._replace(unrendered=dict(counts)))
                        pieces = []
                        continue
                    if is_inline and leaves_a_gap(template.name, *self._around(frame)):
                        _count(template, counts)
                skipped, position = role, whole
                pieces.append(HOLE)
                if expansion.seen is not None:
                    expansion.seen.append(Seen(start, template, text[start:whole], HOLE))
            elif role == _CLOSER:
                frame = frames.pop()
                inner = "".join(pieces)
                inner = self.show_links(inner) if "[[" in inner else inner
                inner = inner.partition(":" if frame.template.is_function else "|")[2]
                pieces = frame.outer
                if frame.template.fits:
                    meant = frame.template.meant_with(parse_arguments(inner))
                    frame = frame._replace(template=meant)
                shown = self._shown(frame, inner)
                # An empty text is no hole for a function that tests it, as in {{#if:{{NAMESPACE}}|…}}.
                is_tested = frames and frames[-1].template.is_function and len(pieces) == 1
                shown = shown or ("" if is_tested and pieces[0].strip().endswith(":") else HOLE)
                pieces.append(shown)
                if expansion.seen is not None:
                    source = text[frame.start : frame.end]
                    shown = shown.replace(UNKNOWN, "")
                    expansion.seen.append(Seen(frame.start, frame.template, source, shown))
            elif token == "{":
                pieces.append("\n|")  # such lines are dropped as remains of a template
            elif token == SECTION:
                pieces.append(SECTION)
        pieces.append(text[position:])
        return "".join(pieces)

    def _shown(self, frame: _Frame, inner: str) -> str:
        """Returns the text to which a template expands, or a hole (the mark for missing text).

        The text of a function or variable may also be "".

        Args:
            frame: the template, and the positions of its braces.
            inner: the wikitext of its arguments, in which nested templates are already expanded.
        """
        template, expansion = frame.template, self.expansion
        parse = parse_function_arguments if template.is_function else parse_arguments
        arguments = parse(inner) if inner else {}
        if template.is_placed and not is_in_place_of_words(self._around(frame)[0]):
            return HOLE
        if template.show and not template.definition:
            shown = self._show(template, arguments, len(inner))
            is_unknown = shown == HOLE and HOLE not in inner
            # Spaces around a positional argument are part of it.
            if (
                not template.is_function
                and inner[:1] == " "
                and shown[:1].isalnum()
                and inner.partition("|")[0].strip() == shown
            ):
                shown = " " + shown
            if not is_unknown and UNKNOWN not in inner:
                return shown
            if not self._is_inline(frame) and not self._is_in_list(frame):
                return shown.replace(UNKNOWN, "")
            if is_unknown:
                _count(template, expansion.unknown)
            return HOLE + UNKNOWN if shown in ("", HOLE) else shown
        is_inline = self._is_inline(frame)
        if template.definition:
            return self._define(template, arguments, is_inline=is_inline)
        if template.known:
            return HOLE
        expansion.unrendered = frame.unrendered
        if not is_inline:
            quotation = guess_quotation(arguments)
            return f"{BREAK}{protect_argument(quotation)}{BREAK}" if quotation else HOLE
        return self._guessed(template, arguments, self._around(frame))

    def _define(self, template: Template, arguments: Arguments, *, is_inline: bool) -> str:
        """Returns the text to which a template's definition expands.

        Returns HOLE (the mark for missing text) if the text is not prose or cannot be computed. `is_inline`
        is True if the template is in running text, and False if it is on lines of its own.
        """
        is_quoted = bool(_QUOTED.search(template.definition))
        if not is_inline and not is_quoted:
            return HOLE  # probably a notice
        unrendered, unknown = self.expansion.unrendered, self.expansion.unknown
        try:
            expanded = self._evaluate(template, arguments, ())
        except DefinitionError:
            if not template.show:
                _count(template, unrendered)
                return HOLE
            shown = self._show(template, arguments, 0)
            if shown != HOLE:
                return shown
            _count(template, unknown)
            return HOLE + UNKNOWN
        shown = drop_marks(self.show_links(expanded)).strip()
        if UNKNOWN in shown and UNKNOWN not in "".join(arguments.values()):
            _count(template, unknown)
        if is_quoted:
            shown = _QUOTED.sub(BREAK, shown)
        if not shown or _FOOTNOTE_MARK.fullmatch(shown):
            return HOLE
        if _BLOCK.search(shown):
            if is_inline:
                _count(template, unrendered)
            return HOLE
        return protect_argument(shown)

    def _evaluate(self, template: Template, arguments: Arguments, within: tuple[str, ...]) -> str:
        """Evaluates a template's definition, and returns the resulting wikitext.

        `within` are the names of the templates whose definitions call this one, the outermost first.

        Raises:
            DefinitionError: the evaluation takes too many steps, or the definition contains itself or calls a
                Lua module.
        """
        if template.name in within or len(within) == _MAX_DEFINITIONS:
            raise DefinitionError("the definition contains itself, or is nested too deeply")
        inside = (*within, template.name)

        def show(name: str, arguments: Arguments, *, is_function: bool) -> str:
            find = self.table.find if arguments else self.table.find_bare
            written = f"{name}:" if is_function else name
            if name == "#invoke":
                written += arguments.get("1", "")
            called = find(written).meant_with(arguments)
            if called.definition:
                return self._evaluate(called, arguments, inside)
            if called.show:
                shown = self._show(called, arguments, sum(map(len, arguments.values())))
                return HOLE + UNKNOWN if shown == HOLE else shown
            if is_function and not called.known:
                raise DefinitionError(f"no such function: {name}")
            return HOLE if called.known else self._guessed(called, arguments, (" ", " "))

        definition = read_definition(template.definition)
        return self.expansion.evaluation.text(definition, arguments, show)

    def _show(self, template: Template, arguments: Arguments, given: int) -> str:
        """Calls the `show` function of a template. Returns its text, or HOLE if the text cannot be known.

        The length of a page is limited. The text of a template may be longer than its arguments, whose length
        in characters is `given`. The differences are added up in `expansion.grown`. Once the sum is greater
        than _MAX_GROWN, the result is always HOLE.
        """
        assert template.show is not None
        if self.expansion.grown > _MAX_GROWN:
            return HOLE
        shown = template.show(arguments, self.page)
        self.expansion.grown += max(0, len(shown) - given)
        if shown.startswith("\n\n"):
            shown = _LINE_MARKS.sub("\n\n", shown)  # of a verse in a quotation, say
        return protect_argument(shown).replace("\n\n", BREAK)

    def _guessed(self, template: Template, arguments: Arguments, around: tuple[str, str]) -> str:
        """Returns a guessed text for an unknown template, or HOLE if no text can be guessed.

        The text of an unknown function or module is never guessed.

        Counts guesses and holes in `expansion`. `around` are the characters before and after the template
        (see `_around`).
        """
        is_function = template.is_function
        shown = "" if is_function else guess(template.name, arguments, self.page, *around)
        if shown:
            _count(template, self.expansion.guessed)
            return protect_argument(shown)
        if leaves_a_gap(template.name, *around):
            _count(template, self.expansion.unrendered)
        return HOLE

    def _around(self, frame: _Frame) -> tuple[str, str]:
        """Returns the character before a template and the two characters after it.

        At the beginning of a line, the character before is "\\n".
        """
        before = self.text[max(frame.start - 1, 0) : frame.start]
        return "\n" if before == GUARD else before, self.text[frame.end : frame.end + 2]

    def _is_in_list(self, frame: _Frame) -> bool:
        """Returns True if a template is in a list item or an indented line, which may be kept."""
        window_start = max(0, frame.start - _WINDOW)
        line_start = self.text.rfind("\n", window_start, frame.start) + 1
        return line_start > 0 and self.text.startswith(("*", "#", ":"), line_start)

    def _is_inline(self, frame: _Frame) -> bool:
        """Returns True if a template is in running text, and False if it is on lines of its own.

        Only the text near the template is searched, so long lines take no more time than short ones.
        """
        text = self.text
        window_start = max(0, frame.start - _WINDOW)
        line_start = text.rfind("\n", window_start, frame.start) + 1 or window_start
        before = text[line_start : frame.start].strip()
        if before.startswith(("*", "#")) and _is_sentence(text, line_start):
            return True
        if before.startswith(_NOT_PROSE):
            return False
        if frame.is_nested or (before and not before.endswith("}}")):
            return True
        lead = before.partition("{{")[0]
        is_lead = bool(lead) and "}}" not in lead and line_start > window_start
        if is_lead or _BETWEEN_TEMPLATES.search(before):
            return True  # a template after another one, in a sentence
        end = frame.end
        line_end = text.find("\n", end, end + _WINDOW)
        after = text[end : end + _WINDOW if line_end < 0 else line_end].strip()
        return bool(after) and not after.startswith(("{{", "[[", "|"))


def _count(template: Template, counts: dict[str, int]) -> None:
    name = template.name[:_MAX_NAME]
    counts[name] = counts.get(name, 0) + 1


def _is_sentence(text: str, start: int) -> bool:
    """Returns True if the list item at the position `start` may be a sentence, which is kept."""
    end = text.find("\n", start, start + _MAX_ITEM)
    end = end if end >= 0 else min(len(text), start + _MAX_ITEM)
    return end - start >= _MIN_ITEM and text[end - 1] in SENTENCE_SIGNS
