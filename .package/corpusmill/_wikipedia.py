"""Reads the pages and templates of a dump of a Wikipedia, and cleans pages."""

import collections
import dataclasses
import functools
import heapq
import itertools
import operator
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from ._errors import CorpusmillError, check_text, path_of, reported
from .transforms.files.compression import DECODE_ERRORS, codec_of
from .transforms.files.records import Page
from .transforms.files.work_units import FileUnit
from .transforms.wikipedia.mediawiki_xml import (
    Damage,
    Siteinfo,
    check_single_revision,
    parse_page,
    parse_siteinfo,
    read_head,
    read_unit,
)
from .transforms.wikitext.article_markers import render_article
from .transforms.wikitext.clean import UncleanableError, WikitextCleaner
from .transforms.wikitext.language import (
    LISTS,
    TEMPLATE_NAMESPACE,
    Language,
    hand_written,
    load_language,
)
from .transforms.wikitext.sections import Section
from .transforms.wikitext.templates.definitions import (
    NO_TEMPLATES,
    TemplateFact,
    WikiTemplates,
    collect,
    count_calls,
    read_template,
)
from .transforms.wikitext.templates.lookup import TemplateTable
from .transforms.wikitext.wikis import mediawiki_table, near_codes

_ARTICLES = 0
_MAX_TEMPLATES = 20_000  # as in a build: the most used templates
_CLEANERS = 8


class CleanPage(NamedTuple):
    """The running text of a page, as a reader of the wiki sees it."""

    title: str  # in the script of the corpus
    sections: tuple[
        Section, ...
    ]  # those that have prose; the first may be the lead, with heading ""
    unrendered: Mapping[str, int]  # template → uses that left no text, because it is not known

    @property
    def text(self) -> str:
        """The headings and paragraphs, with a blank line between them."""
        blocks = ((one.heading, *one.paragraphs) for one in self.sections)
        return "\n\n".join(filter(None, itertools.chain.from_iterable(blocks)))

    @property
    def wiki40b(self) -> str:
        """The page in the layout of Wiki-40B, with markers such as `_START_SECTION_`."""
        return render_article(self.title, self.sections)


@dataclass(frozen=True, eq=False, repr=False)
class Templates:
    """The templates and namespaces of a wiki, from its dump. `read_templates` reads them."""

    language: str
    namespaces: Mapping[int, tuple[str, ...]]
    definitions: WikiTemplates

    def __len__(self) -> int:
        return len(self.definitions.aliases) + len(self.definitions.definitions)


def clean(
    wikitext: str,
    language: str,
    templates: Templates | None = None,
    *,
    title: str = "",
    lists: str = "sentences",
) -> CleanPage:
    """Converts the wikitext of a page to the running text that a reader sees.

    Parameters
    ----------
    wikitext : str
        The source of the page.
    language : str
        The code of a Wikipedia, such as "uk" or "simple"; for Chinese "zh-cn" or "zh-tw".
    templates : Templates, optional
        The templates of the wiki's dump, from `read_templates`. Without them, only the templates that
        corpusmill knows leave a text.
    title : str, optional
        The title of the page, which some templates show.
    lists : {"sentences", "none", "all"}
        Which lists are kept: those that a sentence announces, and items that are sentences; none; or all.

    Returns
    -------
    CleanPage
        The sections that have prose. A page of tables and lists has none.

    Raises
    ------
    CorpusmillError
        The language or the choice of lists is unknown, the templates are those of another language, the page
        has more than 16 Mi characters, or its templates are nested too deeply.

    Examples
    --------
    >>> import corpusmill
    >>> wikitext = "'''Pi''' is a [[number]].{{citation needed}}\\n== See also ==\\n* [[E]]"
    >>> page = corpusmill.clean(wikitext, "en")
    >>> page.text
    'Pi is a number.'
    """
    check_text(wikitext, "wikitext")
    check_text(title, "title")
    if not isinstance(templates, Templates | None):
        raise CorpusmillError(
            f"templates must come from read_templates, not be {type(templates).__name__}"
        )
    check_lists(lists)
    with reported():
        cleaner = _cleaner(language, templates, lists)
        try:
            cleaned = cleaner.clean(wikitext, title)
        except UncleanableError as error:
            raise CorpusmillError(
                f"the page cannot be cleaned ({error.reason}): {error.detail}"
            ) from error
    return CleanPage(cleaned.title, cleaned.sections, cleaned.unrendered)


@functools.lru_cache(_CLEANERS)
def _cleaner(language: str, templates: Templates | None, lists: str) -> WikitextCleaner:
    tables = dataclasses.replace(language_of(language), lists=lists)
    if templates is None:
        return WikitextCleaner(tables, {})
    if templates.language != language:
        raise CorpusmillError(f"the templates are those of {templates.language}, not of {language}")
    return WikitextCleaner(tables, templates.namespaces, templates.definitions)


def check_lists(lists: str) -> None:
    """Raises CorpusmillError if there is no such choice of lists."""
    if lists not in LISTS:
        raise CorpusmillError(f"lists must be one of {', '.join(LISTS)}, not {lists!r}")


def language_of(code: str) -> Language:
    """Returns the tables of a language. Raises CorpusmillError for a code that no known Wikipedia has."""
    check_text(code, "language")
    with reported():
        tables = load_language(code)  # refuses less: there may be a new wiki
    if not hand_written(code) and not mediawiki_table(code):
        raise CorpusmillError(f"no such language: {code!r}{near_codes(code)}")
    return tables


def read_pages(dump: str | os.PathLike[str]) -> Iterator[Page]:
    """Reads the pages of a dump file one by one, those of all namespaces.

    The head of the file is checked at once, and the pages are read as they are asked for.

    Parameters
    ----------
    dump : path
        A file like `enwiki-20260101-pages-articles.xml.bz2`: plain, .bz2, .gz, .xz or .zst.

    Returns
    -------
    iterator of Page
        Tuples with `page_id`, `namespace`, `title`, `revision_id`, `content_model`, `is_redirect`,
        `is_deleted`, `text` (the wikitext), `redirect_target`, `created`, `comment` and `revised`.

    Raises
    ------
    CorpusmillError
        The file is missing, is no dump, has all revisions of its pages, or is damaged or truncated. While
        pages are read, it is raised at the damage, after all pages before it.

    Examples
    --------
    >>> import importlib.resources
    >>> import corpusmill
    >>> samples = importlib.resources.files("corpusmill") / "pipelines/samples/wikipedia/enwiki"
    >>> pages = corpusmill.read_pages(samples / "enwiki-20260101-pages-articles-multistream.xml.bz2")
    >>> page = next(pages)
    >>> page.title, page.is_redirect
    ('Mt Fuji', True)
    """
    path = path_of(dump, "dump")
    _read_siteinfo(path)
    return _pages(path)


def _pages(path: str) -> Iterator[Page]:
    pages = _read_pages(path)
    while True:
        with reported(path, DECODE_ERRORS):  # not around `yield`: errors of the caller are not ours
            page = next(pages, None)
        if page is None:
            return
        yield page


def _read_pages(path: str) -> Iterator[Page]:
    with open(path, "rb") as stream:  # noqa: PTH123
        for event in read_unit(stream, _whole(stream, path)):
            if isinstance(event, Damage):
                raise CorpusmillError(f"{path}, byte {event.start}: {event.message}")
            check_single_revision(event.xml)
            yield parse_page(event.xml)


def _whole(stream: BinaryIO, path: str) -> FileUnit:
    codec = codec_of(stream)
    kind = {"": "plain", "bz2": "bz2"}.get(codec, "whole")
    size = os.fstat(stream.fileno()).st_size
    return FileUnit(path, kind, 0, size, size, 0, 1)


def _read_siteinfo(path: str) -> Siteinfo:
    with reported(path, DECODE_ERRORS), open(path, "rb") as stream:  # noqa: PTH123
        return parse_siteinfo(read_head(stream))


def read_templates(dump: str | os.PathLike[str], language: str) -> Templates:
    """Reads the templates of a wiki from its dump, for `clean`.

    The whole dump is read once. As in a build, those templates are kept that pages use, that can be part of a
    sentence, and that corpusmill has no text for: at most 20,000, the most used ones. A build with a table of
    Wikidata items also knows local names of templates that corpusmill knows by their English names, and a
    build of a wiki without tables of its own learns which sections have no prose. This function does neither.

    Parameters
    ----------
    dump : path
        A dump file that has the pages of namespace 10, as for `read_pages`.
    language : str
        The code of the wiki, as for `clean`.

    Returns
    -------
    Templates

    Raises
    ------
    CorpusmillError
        As for `read_pages`, and for an unknown language.

    Examples
    --------
    >>> import importlib.resources
    >>> import corpusmill
    >>> samples = importlib.resources.files("corpusmill") / "pipelines/samples/wikipedia/ukwiki"
    >>> dump = samples / "ukwiki-20260101-pages-articles-multistream.xml.bz2"
    >>> templates = corpusmill.read_templates(dump, "uk")
    >>> wikitext = "Дзвіниця {{Заввишки|30}} стоїть на горі."
    >>> corpusmill.clean(wikitext, "uk").text
    'Дзвіниця 30 стоїть на горі.'
    >>> corpusmill.clean(wikitext, "uk", templates).text
    'Дзвіниця 30 м заввишки стоїть на горі.'
    """
    path = path_of(dump, "dump")
    tables = language_of(language)
    namespaces = _read_siteinfo(path).namespaces
    knows = TemplateTable(tables, namespaces, NO_TEMPLATES).knows
    facts: dict[str, list[TemplateFact]] = {}
    uses: collections.Counter[str] = collections.Counter()
    for page in _pages(path):
        if page.namespace == _ARTICLES:
            uses.update(count_calls(page.text))
        elif page.namespace == TEMPLATE_NAMESPACE:
            fact = read_template(page)
            if fact and not knows(fact.name):
                facts.setdefault(fact.name, []).append(fact)
                uses.update([fact.value] if fact.kind == "alias" else count_calls(fact.value))
    return Templates(language, namespaces, _most_used(facts, uses, knows))


def _most_used(
    facts: Mapping[str, list[TemplateFact]],
    uses: Mapping[str, int],
    knows: Callable[[str], bool],
) -> WikiTemplates:
    used = (
        (uses[name], fact)
        for name, some in facts.items()
        if uses.get(name) and not knows(name)
        for fact in some
    )
    return collect(map(operator.itemgetter(1), heapq.nlargest(_MAX_TEMPLATES, used)))
