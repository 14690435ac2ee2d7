"""Explains how a page was cleaned: the text of each section, template and link, and the rule that caused it.

The cleaner is observed while it cleans the page, so the page is cleaned only once.
"""

import difflib
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..clean import CleanedPage, UncleanableError, WikitextCleaner
from ..language import Language
from ..links import show_external_links
from ..marks import HOLE, drop_noncharacters, restore
from ..sections import RawSection, Section, drop_sections, split_at_headings, split_sections
from ..tags import strip_extensions, strip_tables
from ..templates.definitions import NO_TEMPLATES, WikiTemplates
from ..templates.expand import Expansion, Seen
from ..templates.patterns import Page
from .cleaning_rules import Rule, RuleBook

KEPT, DROPPED, EMPTY, LOST = "kept", "dropped", "no prose is left", "not looked at"
TEMPLATE, LINK, OUTSIDE = "template", "link", "cut"
_CUT = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<tag>ref|references|gallery|timeline|score|math|chem|imagemap|graph|mapframe|source"
    r"|syntaxhighlight|pre|templatestyles)\b[^<>]*?(?:/>|>.*?(?:</(?P=tag)\s*>|\Z))"
    r"|(?:^|(?<=\n))[ \t:]*\{\|.*?\n[ \t]*\|\}(?!\})",
    re.DOTALL | re.IGNORECASE,
)
_FORMULAS = ("math", "chem")
_EXTERNAL = re.compile(r"\[(?:https?:|ftps?:)?//[^\[\]\n]*\]", re.IGNORECASE)
_TOKEN = re.compile(r"\{\{|\}\}|\[\[|\]\]")
_TAG = re.compile(r"<[^<>]*>")
_NO_LETTER = re.compile(r"\W+")
_NO_PROSE = "its line, or the markup around it, is not prose"
_NAME_END = re.compile(r"[|}\n]")


class Piece(NamedTuple):
    """A part of the wikitext that is not plain text, such as a template, and the text that replaced it.

    `rule` is the rule that determined the replacement.
    """

    kind: str  # TEMPLATE, LINK or OUTSIDE
    source: str  # as the cleaner received it
    shown: str  # "" for nothing
    rule: Rule
    start: int = -1  # in the source of the section; -1 if not found
    end: int = -1


class ExplainedSection(NamedTuple):
    """A section of a page: its wikitext, whether it was kept, and its text in the article."""

    heading: str  # wikitext; "" for the lead
    level: int
    source: str  # wikitext, without the heading
    fate: str  # KEPT, DROPPED, EMPTY or LOST
    rule: Rule | None  # the rule that drops it
    text: Section  # as in the article
    pieces: Sequence[Piece] = ()  # in the order of the source


class ExplainedPage(NamedTuple):
    """A page, with an explanation of how each of its sections was cleaned."""

    title: str
    sections: Sequence[ExplainedSection]
    cleaned: CleanedPage | None  # None for a page that cannot be cleaned
    fault: str = ""  # the reason why it cannot be cleaned


def explain_page(
    wikitext: str,
    title: str,
    language: Language,
    namespaces: Mapping[int, Sequence[str]],
    of_wiki: WikiTemplates = NO_TEMPLATES,
) -> ExplainedPage:
    """Cleans a page. Returns the text of each of its parts, and the rule that determined this text.

    Args:
      wikitext: the wikitext of the page.
      title: its title.
      language: the tables that the cleaner uses for the wiki.
      namespaces: number of a namespace → its names in the dump.
      of_wiki: what the cleaner knows about the wiki's own templates.
    """
    cleaner = _WatchedCleaner(language, namespaces, of_wiki)
    sources = list(split_at_headings(drop_noncharacters(wikitext)))
    try:
        cleaned = cleaner.clean(wikitext, title)
    except UncleanableError as error:
        lost = [ExplainedSection(*one, LOST, None, _NOTHING) for one in sources]
        return ExplainedPage(title, lost, None, f"{error.reason}: {error.detail}")
    rules = RuleBook(language, of_wiki)
    page = Page(drop_noncharacters(title), language)
    raw = cleaner.split(wikitext)
    places = _align(sources, raw)
    sections = [
        cleaner.explain(one, sources[place] if place is not None else one, rules, page)
        for one, place in zip(raw, places, strict=True)
    ]
    return ExplainedPage(cleaned.title, sections, cleaned)


_NOTHING = Section("", ())


def _align(sources: Sequence[RawSection], raw: Sequence[RawSection]) -> list[int | None]:
    """Matches the sections that the cleaner sees with the sections of the original wikitext.

    Returns for each section in `raw` the index of the same section in `sources`, or None if it is missing
    there.

    Args:
      sources: the sections of the original wikitext, including those whose heading is inside a comment.
      raw: the sections that the cleaner sees.
    """
    names = [[f"{one.level} {one.heading}" for one in sections] for sections in (raw, sources)]
    places: list[int | None] = [None] * len(raw)
    matcher = difflib.SequenceMatcher(None, names[0], names[1], autojunk=False)
    for here, there, length in matcher.get_matching_blocks():
        places[here : here + length] = range(there, there + length)
    return places


class _WatchedCleaner(WikitextCleaner):
    """A cleaner that records the text of each section and template while it cleans a page."""

    def __init__(self, *tables: Any) -> None:
        super().__init__(*tables)
        self._shown: list[tuple[Section, list[Seen]]] = []
        self._is_in_heading = False

    def shown_name(self, heading: str, level: int) -> str:
        self._is_in_heading = True
        try:
            return super().shown_name(heading, level)
        finally:
            self._is_in_heading = False

    def _show(
        self, sections: Sequence[RawSection], page: Page, expansion: Expansion, *rest: Any, **_: Any
    ) -> list[Section]:
        if self._is_in_heading:
            return super()._show(sections, page, expansion, *rest)
        before = len(self._shown)
        for one in sections:
            expansion.seen = []
            (shown,) = super()._show([one], page, expansion, *rest)
            self._shown.append((shown, expansion.seen))
        return [shown for shown, _ in self._shown[before:]]

    def split(self, wikitext: str) -> list[RawSection]:
        """Returns all sections of a page as the cleaner parses them, including those that it drops."""
        variants = self._read_variants(strip_extensions(drop_noncharacters(wikitext)))
        raw = list(split_sections(strip_tables(variants.text)))
        kept = {id(one) for one in drop_sections(iter(raw), self.is_dropped)}
        shown = iter(self._shown)  # in the order of the kept sections
        self._of = {id(one): next(shown) for one in raw if id(one) in kept}
        return raw

    def explain(
        self, raw: RawSection, source: RawSection, rules: RuleBook, page: Page
    ) -> ExplainedSection:
        """Returns the text of a section, or the rule that dropped it, and the rule for each of its parts.

        Args:
          raw: the section as returned by `split`.
          source: the same section in the original wikitext.
          rules: finds the rules that the cleaner applied.
          page: the page of the section.
        """
        of_source = source.heading, source.level, source.body
        if id(raw) not in self._of:
            is_own = self.is_dropped(raw.heading, raw.level)
            name = self.shown_name(raw.heading, raw.level)
            rule = rules.of_heading(name, raw.level) if is_own else None
            above = Rule("the section above it is dropped")
            return ExplainedSection(*of_source, DROPPED, rule or above, _NOTHING)
        text, seen = self._of[id(raw)]
        pieces = [*self._templates_of(seen, rules), *self._links_of(raw.body, page, rules)]
        pieces = [_in_text(piece, text) for piece in pieces]
        placed = [*_placed(source.body, pieces), *_cut(source.body)]
        placed.sort(key=lambda piece: (piece.start < 0, piece.start, -piece.end))
        return ExplainedSection(*of_source, KEPT if text.paragraphs else EMPTY, None, text, placed)

    def _templates_of(self, seen: Sequence[Seen], rules: RuleBook) -> Iterator[Piece]:
        for one in sorted(seen, key=lambda one: one.start):
            rule = rules.of_template(one.template, one.source, one.shown)
            yield Piece(TEMPLATE, restore(one.source), _plain(one.shown), rule)

    def _links_of(self, body: str, page: Page, rules: RuleBook) -> Iterator[Piece]:
        """Yields the links in a section's body that are not inside templates."""
        for start, end in _outermost(body):
            if body.startswith("[[", start):
                source = body[start:end]
                text = self._templates.expand(source, page, Expansion({}))
                shown = _plain(self._links.show(text))
                target = source[2:].partition("|")[0].removesuffix("]]")
                yield Piece(LINK, restore(source), shown, rules.of_link(target, shown))
        for match in _EXTERNAL.finditer(body):
            rule = Rule("an external link: its label, if it has one", "links.py")
            yield Piece(LINK, restore(match[0]), _plain(show_external_links(match[0])), rule)


def _in_text(piece: Piece, text: Section) -> Piece:
    """Returns the piece unchanged if its text is a part of the cleaned section.

    Otherwise returns a copy without text, whose rule says that the text was not kept as prose.

    Args:
      piece: a template or link of the section.
      text: the cleaned section.
    """
    shown = _letters(piece.shown)
    if not shown or shown in _letters("".join((text.heading, *text.paragraphs))):
        return piece
    return piece._replace(shown="", rule=Rule(f"{piece.rule.text}; {_NO_PROSE}", piece.rule.place))


def _letters(text: str) -> str:
    return _NO_LETTER.sub("", html.unescape(_TAG.sub("", text)))


def _plain(shown: str) -> str:
    return restore(shown.replace(HOLE, "")).strip()


def _outermost(text: str) -> Iterator[tuple[int, int]]:
    """Yields the offsets (start, end) of each template and link in a text that is not inside another one."""
    opened: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        if token[0] in ("{{", "[["):
            opened.append(token)
        elif opened and opened[-1][0] == ("{{" if token[0] == "}}" else "[["):
            start = opened.pop()
            if not opened:
                yield start.start(), token.end()


def _placed(source: str, pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yields the templates and links of a section with their positions in its wikitext.

    Args:
      source: the wikitext of the section.
      pieces: the templates and links of the section. Templates must be in the order in which they occur in
        the wikitext, and so must links.
    """
    position = {TEMPLATE: 0, LINK: 0}
    spans = [found.span() for found in _CUT.finditer(source)]
    for piece in pieces:
        name = _NAME_END.split(piece.source, maxsplit=1)[0]
        start = source.find(name, position[piece.kind]) if len(name) > 1 else -1
        while start >= 0 and any(begin <= start < end for begin, end in spans):
            start = source.find(name, start + 1)
        if start < 0:
            yield piece
            continue
        position[piece.kind] = start + 1
        yield piece._replace(start=start, end=_end_of(source, start))


def _end_of(source: str, start: int) -> int:
    """Returns the offset of the end of the template or link that begins at the offset `start`.

    If its closing braces or brackets are missing, it extends to the end of `source`.
    """
    opener = "[" if source.startswith("[") else source[start : start + 2]
    if opener not in ("{{", "[["):
        return source.find("]", start) + 1 or len(source)
    closer = {"{{": "}}", "[[": "]]"}[opener]
    depth = 0
    for token in _TOKEN.finditer(source, start):
        depth += (token[0] == opener) - (token[0] == closer)
        if not depth:
            return token.end()
    return len(source)


def _cut(source: str) -> Iterator[Piece]:
    """Yields the parts of a section that the cleaner removes before it handles templates and links.

    These are comments, tables, and tags whose content is not prose.
    """
    for found in _CUT.finditer(source):
        tag = (found["tag"] or "").lower()
        if tag in _FORMULAS:
            continue
        text = "a comment" if found[0].startswith("<!--") else "a table"
        rule = Rule(f"<{tag}>: no prose" if tag else text, "tags.py")
        yield Piece(OUTSIDE, found[0], "", rule, *found.span())
