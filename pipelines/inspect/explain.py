"""Explains how a page of a dump, or wikitext from a file, is cleaned.

Finds one page of a dump, and the template pages that it uses.

If the dump is a multistream dump with its index file beside it, only the parts that contain these pages are
read. Otherwise the whole dump is read.
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
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from corpusmill.transforms.files import read_files
from corpusmill.transforms.files.records import Page
from corpusmill.transforms.wikipedia import mediawiki_xml
from corpusmill.transforms.wikipedia.article_accounts import RowSource
from corpusmill.transforms.wikipedia.clean_wikitext import CleanWikitext, read_language
from corpusmill.transforms.wikipedia.read_dumps import check_dumps, plan_units, read_good_pages
from corpusmill.transforms.wikipedia.screening import ARTICLE_NAMESPACE, PageScreening
from corpusmill.transforms.wikitext.explain.explained_page import ExplainedPage, explain_page
from corpusmill.transforms.wikitext.language import TEMPLATE_NAMESPACE, Language, normalise_name
from corpusmill.transforms.wikitext.templates import definitions
from corpusmill.transforms.wikitext.templates.lookup import TemplateTable
from corpusmill.transforms.wikitext.wikis import dbname_of

from .build_document import Origin, build_in

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
        told.append(("rejected", f"{CleanWikitext.STAGE}/{explained.fault}"))
    elif not explained.cleaned.sections:
        told.append(("rejected", f"{CleanWikitext.STAGE}/empty-after-cleaning"))
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
    build = build_in(folder)
    if build.corpus != "wiki40b":
        raise ValueError(f"--dump is for builds of wiki40b, but this is a build of {build.corpus}")
    return dict(origin.facts)["title"], build.language
