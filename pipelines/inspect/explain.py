"""Explains how a page of a dump, or wikitext from a file, is cleaned: as text for a terminal, or as an HTML
page.

If the dump is a multistream dump with its index file beside it, only the parts that contain these pages are
read. Otherwise the whole dump is read.

The wikitext and the cleaned text of a section are side by side. The rules that were applied are below them.
"""

import argparse
import bz2
import difflib
import heapq
import html
import logging
import pathlib
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import NamedTuple

from rich.cells import cell_len

from corpusmill.transforms.files import read_files
from corpusmill.transforms.files.markup import escape, html_table, make_head
from corpusmill.transforms.files.records import Page
from corpusmill.transforms.files.terminal import draw_texts, escape_line
from corpusmill.transforms.wikipedia import mediawiki_xml
from corpusmill.transforms.wikipedia.article_accounts import RowSource
from corpusmill.transforms.wikipedia.clean_wikitext import CLEAN_STAGE, read_language
from corpusmill.transforms.wikipedia.read_dumps import check_dumps, plan_units, read_good_pages
from corpusmill.transforms.wikipedia.screening import ARTICLE_NAMESPACE, PageScreening
from corpusmill.transforms.wikitext.explain import explained_page
from corpusmill.transforms.wikitext.explain.explained_page import ExplainedPage, explain_page
from corpusmill.transforms.wikitext.language import TEMPLATE_NAMESPACE, Language, normalise_name
from corpusmill.transforms.wikitext.templates import definitions
from corpusmill.transforms.wikitext.templates.lookup import TemplateTable
from corpusmill.transforms.wikitext.wikis import dbname_of

from ..run.editions import choose_build
from .build_facts import Origin

STAGE = "inspect"
MAX_CALLED = 1_000
"""Maximum number of template pages that are read for one page. Templates that the page itself calls are read
before those that are called by other templates.
"""

_MAX_NEAR = 5  # similar titles in an error message
_NEAR_PREFIX = 3  # characters at the beginning that similar titles have in common
_NEAR_LENGTH = 2  # maximum difference of their lengths

_READ_BYTES = 1 << 18
_TITLE = re.compile(rb"<title>(.*?)</title>", re.DOTALL)
_HEAD_BYTES = 4_096  # size of the beginning of a page's XML, which contains its title and namespace


class FoundPage(NamedTuple):
    """A page of a dump, and the templates of the same wiki that the page uses."""

    page: Page
    dump: str  # the file that contains the page
    of_wiki: definitions.WikiTemplates


class _Place(NamedTuple):
    path: str
    offset: int  # position in this file of the stream with the page


def find_page(
    paths: Sequence[str],
    title: str,
    language: Language,
    site: mediawiki_xml.Siteinfo,
    *,
    wiki_templates: bool,
) -> FoundPage:
    """Returns the page with a given title, and the templates that it uses.

    Args:
      paths: The files of a dump.
      title: The title of the page.
      language: The language of the wiki, with its table of templates.
      site: The head of the dump, which has the namespaces of the wiki.
      wiki_templates: Whether to read the template pages that the page needs.

    Raises InputError if no file has the page.
    """
    tables = TemplateTable(language, site.namespaces, definitions.NO_TEMPLATES)
    index = _Index(paths, language.namespace_names(TEMPLATE_NAMESPACE, site.namespaces), title)
    if index.is_whole:
        if not index.page:
            raise read_files.InputError(", ".join(paths), index.near.message())
        page = next(one for one in pages_at(index.page) if one.title == title)
        of_wiki = _called(page, index, tables) if wiki_templates else definitions.NO_TEMPLATES
        return FoundPage(page, index.page.path, of_wiki)
    return _read_all(paths, title, tables, wiki_templates)


class _Near:
    """Collects the titles that contain or resemble a wanted title, ignoring case."""

    def __init__(self, title: str):
        self.title = title
        self.folded = normalise_name(title)
        self.containing: list[tuple[int, str]] = []  # a heap of (-length, title): the shortest
        self.alike: dict[str, str] = {}  # folded title → title

    def add(self, name: str) -> None:
        """Keeps a title of the dump if it is similar."""
        folded = normalise_name(name)
        if self.folded in folded:
            keep = heapq.heappush if len(self.containing) < _MAX_NEAR else heapq.heappushpop
            keep(self.containing, (-len(name), name))
        elif (
            folded[:_NEAR_PREFIX] == self.folded[:_NEAR_PREFIX]
            and abs(len(folded) - len(self.folded)) <= _NEAR_LENGTH
        ):
            self.alike[folded] = name

    def message(self) -> str:
        """Returns the message of an error: the title does not exist, but similar ones do."""
        near = [name for _, name in sorted(self.containing, reverse=True)]
        alike = difflib.get_close_matches(self.folded, self.alike, _MAX_NEAR)
        near += [self.alike[folded] for folded in alike]
        others = f"; similar titles: {', '.join(near[:_MAX_NEAR])}" if near else ""
        return f"no page with the title {self.title!r}{others}"


class _Index:
    """The positions of a page and of all template pages, read from the index files of a multistream dump.

    If a file of the dump has no index file beside it, `is_whole` is False and the positions are incomplete.
    """

    def __init__(self, paths: Sequence[str], prefixes: Container[str], title: str):
        self.page: _Place | None = None
        self.templates: dict[str, _Place] = {}
        self.near = _Near(title)
        self.is_whole = True
        for path in paths:
            index = mediawiki_xml.index_path_of(path)
            if not index or not read_files.is_there(index):
                self.is_whole = False
                return
            for place, name in _lines(path, index):
                if name == title:
                    self.page = place
                self.near.add(name)
                prefix, colon, rest = name.partition(":")
                if colon and normalise_name(prefix) in prefixes:
                    self.templates[normalise_name(rest)] = place


def _lines(path: str, index: str) -> Iterator[tuple[_Place, str]]:
    with read_files.open_input(index) as lines:
        for line in lines:
            offset, _, title = line.decode("utf-8").rstrip("\n").split(":", 2)
            yield _Place(path, int(offset)), html.unescape(title)


def pages_at(place: _Place) -> list[Page]:
    """Returns the pages of the stream that begins at `place`, a position in a multistream dump.

    Raises InputError if no stream begins there.
    """
    unpacked = bz2.BZ2Decompressor()
    xml = bytearray()
    with read_files.open_raw(place.path) as stream:
        stream.seek(place.offset)
        try:
            while not unpacked.eof and (data := stream.read(_READ_BYTES)):
                xml += unpacked.decompress(data)
        except OSError as error:
            message = (
                f"no stream begins at byte {place.offset}, although the index lists it: {error}"
            )
            raise read_files.InputError(place.path, message, place.offset) from None
    begin, end = mediawiki_xml.PAGE_START, mediawiki_xml.PAGE_END
    pages = (begin + one.partition(end)[0] + end for one in xml.split(begin)[1:])
    return [mediawiki_xml.parse_page(one) for one in pages]


def _called(page: Page, index: _Index, tables: TemplateTable) -> definitions.WikiTemplates:
    """Returns the definition or redirect of each template that a page calls.

    Templates that are called by other templates are included. Templates that `tables` contains are left out.
    """
    facts = {}
    wanted = [*definitions.count_calls(page.text)]
    seen: set[str] = set()
    while wanted and len(seen) < MAX_CALLED:
        name = wanted.pop(0)
        if name in seen or name not in index.templates or tables.knows(name):
            continue
        seen.add(name)
        for one in pages_at(index.templates[name]):
            fact = definitions.read_template(one) if one.namespace == TEMPLATE_NAMESPACE else None
            if fact and fact.name == name:
                facts[name] = fact
                is_alias = fact.kind == "alias"
                wanted += [fact.value] if is_alias else definitions.count_calls(fact.value)
    return definitions.collect(facts.values())


def _read_all(
    paths: Sequence[str], title: str, tables: TemplateTable, wiki_templates: bool
) -> FoundPage:
    """Finds the page with the given title by reading a dump without an index.

    If `wiki_templates` is True, also returns all templates of the wiki except those in `tables`. Then the
    whole dump is read, because a template may be defined after the page that calls it.
    """
    logging.getLogger(__name__).info(
        "no index of a multistream dump found: reading all of %s", paths
    )
    found: tuple[Page, str] | None = None
    facts: dict[str, definitions.TemplateFact] = {}
    near = _Near(title)
    for path, page in _pages(paths, near, wiki_templates):
        if page.namespace == TEMPLATE_NAMESPACE and page.title != title:
            if (fact := definitions.read_template(page)) and not tables.knows(fact.name):
                facts[fact.name] = fact
        elif page.title == title:
            found = page, path
            if not wiki_templates:
                break
    if not found:
        raise read_files.InputError(", ".join(paths), near.message())
    return FoundPage(*found, definitions.collect(facts.values()))


def _pages(paths: Sequence[str], near: _Near, wiki_templates: bool) -> Iterator[tuple[str, Page]]:
    """Yields a pair (path of the dump file, page) for the page with the wanted title, which is `near.title`.
    Adds the titles of all pages to `near`.

    If `wiki_templates` is True, also yields such a pair for each template page.
    """
    template = f"<ns>{TEMPLATE_NAMESPACE}</ns>".encode()
    for path in paths:
        for unit in plan_units(path, 1):
            for xml in read_good_pages(unit, "keep-good", STAGE):
                head = xml[:_HEAD_BYTES]
                found = _TITLE.search(head)
                title = html.unescape(found[1].decode("utf-8", "replace")) if found else ""
                near.add(title)
                if title == near.title or (wiki_templates and template in head):
                    yield path, mediawiki_xml.parse_page(xml)


STANDARD_INPUT = "-"


def explain_dump(settings: argparse.Namespace) -> tuple[ExplainedPage, list[tuple[str, str]]]:
    """Explains how the page `settings.title` of the dump `settings.dump` is cleaned.

    Returns the explanation, and (name, value) of facts about the source of the page.

    Raises InputError if a file is not a dump or is a dump of another wiki, or if no file contains the page.
    """
    paths = read_files.match_inputs(settings.dump)
    tables = read_files.match_inputs(settings.templates)
    language = read_language(settings.language, tables, settings.lists)
    dbname = dbname_of(settings.language)
    site = check_dumps(paths, settings.language, dbname, whole=False)
    found = find_page(paths, settings.title, language, site, wiki_templates=settings.wiki_templates)
    page = found.page
    explained = explain_page(page.text, page.title, language, site.namespaces, found.of_wiki)
    url = RowSource(settings.language, dbname).url(page.title, str(page.revision_id))
    counts = len(found.of_wiki.definitions), len(found.of_wiki.aliases)
    facts = [
        ("page", f"{page.page_id} {page.title}"),
        ("revision", f"{page.revision_id} {page.revised}".strip()),
        ("source", url),
        ("dump", found.dump),
        ("templates of the wiki", "{:,} definitions, {:,} redirects".format(*counts)),
    ]
    return explained, [*facts, *_fate(page, language, explained)]


def explain_text(settings: argparse.Namespace) -> tuple[ExplainedPage, list[tuple[str, str]]]:
    """Explains how the wikitext in a file, which `settings` names, is cleaned.

    Raises InputError if the file is missing or not UTF-8.
    """
    path = settings.wikitext
    tables = read_files.match_inputs(settings.templates)
    language = read_language(settings.language, tables, settings.lists)
    try:
        is_standard = path == STANDARD_INPUT
        data = sys.stdin.buffer.read() if is_standard else read_files.read_input(path)
        wikitext = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise read_files.InputError(path, f"not UTF-8: {error}", error.start) from None
    title = settings.title or ("" if is_standard else pathlib.PurePath(path).stem)
    page = Page(0, ARTICLE_NAMESPACE, title, 0, "wikitext", False, False, wikitext)
    explained = explain_page(wikitext, title, language, {}, definitions.NO_TEMPLATES)
    facts = [("wikitext", path), ("title", title)]
    return explained, [*facts, *_fate(page, language, explained)]


def _fate(page: Page, language: Language, explained: ExplainedPage) -> list[tuple[str, str]]:
    """Returns (name, value) pairs about the result of cleaning a page.

    They contain the reason for a rejection, the holes (places where words are missing), and the templates
    whose text was guessed. Rules that depend on other pages are not applied.
    """
    told = []
    if reason := PageScreening(language, uses_template_names=True).reason_to_reject(page):
        told.append(("rejected", f"screen-pages/{reason.slug} {reason.detail}".strip()))
    elif not explained.cleaned:
        told.append(("rejected", f"{CLEAN_STAGE}/{explained.fault}"))
    elif not explained.cleaned.sections:
        told.append(("rejected", f"{CLEAN_STAGE}/empty-after-cleaning"))
    if explained.cleaned:
        for name, counts in (
            ("holes", explained.cleaned.unrendered),
            ("guessed", explained.cleaned.guessed),
            ("unknown values", explained.cleaned.unknown),
        ):
            if counts:
                told.append((name, ", ".join(f"{one} × {uses}" for one, uses in counts.items())))
        if explained.cleaned.dropped:
            told.append(("dropped sentences", " | ".join(explained.cleaned.dropped)))
    return told


def title_and_language(folder: str, origin: Origin) -> tuple[str, str]:
    """Returns the pair (title, language code) of an article that was found in a build.

    Args:
      folder: The folder of the build, or a folder that has builds of one edition in its subfolders.
      origin: What the build says about the article.

    Raises ValueError if the build is not a build of Wiki-40B.
    """
    build = choose_build(folder)
    if build.corpus != "wiki40b":
        raise ValueError(f"--dump is for builds of wiki40b, but this is a build of {build.corpus}")
    return dict(origin.facts)["title"], build.language


NARROW = 76
"""On a screen with fewer columns, the text is printed below the source instead of beside it."""

TEXT_SHOWN = 1_500
"""Maximum number of characters of a document's text that are displayed."""

_PIECE = 160  # maximum number of characters of a source that are shown
_NOTHING = "–"


def draw_origin(origin: Origin, width: int) -> str:
    """Returns the facts about a document and the beginning of its text, wrapped to `width` columns."""
    lines = [f"{origin.fate}", *(f"{name}: {escape_line(value)}" for name, value in origin.facts)]
    text = origin.text.strip()
    left = len(text) - TEXT_SHOWN
    shown = text[:TEXT_SHOWN] + (f" … ({left:,} more characters)" if left > 0 else "")
    return _wrapped(lines, width) + (f"\n{_wrapped([shown], width, '')}" if text else "") + "\n"


def draw_page(
    page: explained_page.ExplainedPage, facts: Sequence[tuple[str, str]], width: int
) -> str:
    """Returns a page, and the explanation of how it was cleaned, as text for a terminal.

    Args:
      facts: (name, value) pairs to display above the page, such as its source.
      width: The number of columns of the screen.
    """
    told = (f"{name}: {escape_line(value)}" for name, value in facts)
    sections = (part for section in page.sections for part in _section(section, width))
    return _wrapped(told, width) + "".join(sections)


def _wrapped(lines: Iterable[str], width: int, indent: str = "  ") -> str:
    """Returns the lines, wrapped to `width` columns.

    Args:
      indent: The indentation of continuation lines.
    """
    wrapped = (
        textwrap.wrap(one, width, subsequent_indent=indent, break_on_hyphens=False) or [""]
        for line in lines
        for one in line.split("\n")
    )
    return "".join(f"{one}\n" for of_line in wrapped for one in of_line)


def _section(section: explained_page.ExplainedSection, width: int) -> Iterator[str]:
    title = f"{section.heading or 'lead'} · {section.fate} "
    yield f"\n{_wrapped([title + '=' * (width - cell_len(title))], width)}"
    if section.rule:
        yield _wrapped([section.rule.text, f"  {section.rule.place}".rstrip()], width)
    source = _folded(section).strip("\n")
    if section.fate not in (explained_page.KEPT, explained_page.EMPTY):
        if source:
            yield draw_texts(("source",), [(_shortened(source),)], (1,), width)
        return
    text = "\n\n".join((*filter(None, [section.text.heading]), *section.text.paragraphs))
    if not source:
        return
    if width < NARROW:
        yield draw_texts(("source",), [(source,)], (1,), width)
        yield draw_texts(("text",), [(text or _NOTHING,)], (1,), width)
    else:
        yield draw_texts(("source", "text"), [(source, text or _NOTHING)], (1, 1), width)
    yield from _pieces(section.pieces, width)


def _folded(section: explained_page.ExplainedSection) -> str:
    """Returns the wikitext of a section. Long parts that add nothing to the cleaned text are shortened."""
    parts, position = [], 0
    for piece in section.pieces:
        start = piece.start + _PIECE
        if not piece.shown and piece.start >= position and piece.end > start + _PIECE:
            parts += [section.source[position:start], f" … ({piece.end - start:,} characters) "]
            position = piece.end
    return "".join((*parts, section.source[position:]))


def _pieces(pieces: Iterable[explained_page.Piece], width: int) -> Iterator[str]:
    """Yields a table of the parts of a section that cleaning has changed, then lines with counts.

    The table leaves out links that are kept as text, and parts that are always removed, such as comments.
    These parts are counted by rule, in lines such as "3 × <rule>".
    """
    told: list[explained_page.Piece] = []
    counted: Counter[tuple[str, str]] = Counter()
    for piece in pieces:
        is_plain = piece.kind == explained_page.LINK and bool(piece.shown)
        if is_plain or piece.kind == explained_page.OUTSIDE:
            counted[piece.rule.text, piece.rule.place] += 1
        else:
            told.append(piece)
    if told:
        rows = [
            (
                _shortened(piece.source),
                _shortened(piece.shown) or _NOTHING,
                f"{piece.rule.text}\n{piece.rule.place}".strip(),
            )
            for piece in told
        ]
        yield draw_texts(("in the source", "in the text", "by"), rows, (5, 4, 6), width)
    for (what, place), count in counted.items():
        yield _wrapped([f"{count:,} × {what} ({place})"], width)


def _shortened(text: str) -> str:
    shown = " ".join(text.split())
    return shown if len(shown) <= _PIECE else f"{shown[:_PIECE]} …"


_LEGEND = (
    '<p class="legend"><span class="template">template</span> <span class="link">link</span>'
    ' <span class="cut">cut out</span> · point at one, or open the list below a section, to see its text</p>'
)
_SHOWN = 300  # maximum number of characters of a source that a table shows


def make_page(
    page: explained_page.ExplainedPage, facts: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Yields the parts of the HTML file.

    Args:
      facts: (name, value) pairs to display above the page, such as its source.
    """
    yield make_head(page.title)
    yield f"<main class=wide>\n<h1>{escape(page.title)}</h1>\n<dl>"
    for name, value in facts:
        yield f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>"
    yield f"</dl>\n{_LEGEND}\n"
    for section in page.sections:
        yield from _html_section(section)
    yield "</main></body></html>\n"


def _html_section(section: explained_page.ExplainedSection) -> Iterator[str]:
    yield f"<section><h2>{escape(section.heading or 'lead')} <small>· {section.fate}</small></h2>\n"
    if section.rule:
        yield f"<p>{escape(section.rule.text)} <code>{escape(section.rule.place)}</code></p>\n"
    paragraphs = "".join(f"<p>{escape(one)}</p>" for one in section.text.paragraphs)
    yield '<div class="pair"><div class="source" dir="auto">'
    yield from _marked(section.source.strip("\n"), section)
    heading = f"<h3>{escape(section.text.heading)}</h3>" if section.text.heading else ""
    yield f'</div><div class="text" dir="auto">{heading}{paragraphs or "–"}</div></div>\n'
    if section.pieces:
        yield f"<details><summary>Templates, links and other parts: {len(section.pieces):,}</summary>"
        yield html_table(
            ("in the source", "in the text", "by", "where"), map(_cells, section.pieces)
        )
        yield "</details>"
    yield "</section>\n"


def _marked(source: str, section: explained_page.ExplainedSection) -> Iterator[str]:
    """Yields the wikitext of a section as HTML, and highlights the parts that have an explanation.

    A part inside a highlighted part is not highlighted separately.

    Args:
      source: The wikitext of the section, without line feeds at its ends.
      section: The section and its parts.
    """
    shift = len(section.source) - len(section.source.lstrip("\n"))
    position = 0
    for piece in section.pieces:
        start, end = piece.start - shift, min(piece.end - shift, len(source))
        if piece.start < 0 or start < position:
            continue
        yield escape(source[position:start])
        told = escape(f"→ {piece.shown or '–'}\n{piece.rule.text}\n{piece.rule.place}")
        yield f'<span class="{piece.kind}" title="{told}">{escape(source[start:end])}</span>'
        position = end
    yield escape(source[position:])


def _cells(piece: explained_page.Piece) -> tuple[str, ...]:
    source, shown = (" ".join(one.split())[:_SHOWN] for one in (piece.source, piece.shown))
    return source, shown or "–", piece.rule.text, piece.rule.place
