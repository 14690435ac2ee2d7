"""Cleans pages: collects the templates of a wiki, and converts wikitext to text in Wiki-40B layout.

Functions of C libraries, which cannot be interrupted and may crash on malformed input, are called in a
separate process, so that they cannot stop the worker. It is killed if a call takes too long.

A template may be defined after the pages that use it, so the cleaning of pages starts when all definitions
are collected. Only definitions of templates that articles use are kept, so the uses of templates are counted.
If requested, the headings of sections without prose are learned too. For this, the sections are counted.
"""

import collections
import contextlib
import dataclasses
import functools
import multiprocessing
import os
import pickle
import tomllib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms.combiners import TopCombineFn
from apache_beam.transforms.window import GlobalWindows

from ..files import counters
from ..files.counters import reject
from ..files.distribution import Gather, transform
from ..files.line_blocks import pack_block, unpack_block
from ..files.read_files import InputError, read_input
from ..files.records import Article, Page, Reason
from ..files.scratch import Scratch, fetch
from ..wikitext import sections
from ..wikitext.article_markers import estimate_words, find_marker, render_article
from ..wikitext.clean import MAX_CHARACTERS, CleanedPage, UncleanableError, WikitextCleaner
from ..wikitext.language import LISTS, TEMPLATE_NAMESPACE, Language, add_tables, load_language
from ..wikitext.lists import render_markdown
from ..wikitext.templates.definitions import (
    NO_TEMPLATES,
    TemplateFact,
    WikiTemplates,
    collect,
    count_calls,
    read_template,
)
from ..wikitext.templates.lookup import TemplateTable
from .read_entity_table import EntityTable, ReadTemplateAliases
from .screening import ARTICLE_NAMESPACE

STAGE = "read-templates"

MAX_TEMPLATES = 20_000
"""Maximum number of kept templates, the most frequent ones in articles. It limits the memory of every
worker."""

MAX_DEFINED = 64 * 1024 * 1024
"""Maximum number of characters of the kept definitions; the most frequent templates come first."""

MAX_HEADINGS = 10_000
"""Maximum number of headings that are evaluated, the most frequent ones."""

MAX_COUNTED = 100_000
"""Number of names that a worker counts before it emits the counts."""


class ReadWiki(NamedTuple):
    """The outputs of ReadTemplates: the template definitions, and the headings of sections without prose."""

    templates: beam.PCollection  # of one WikiTemplates
    headings: beam.PCollection  # of one list of LearnedHeading; [] if none are learned


@transform
def ReadTemplates(
    pages: beam.PCollection,
    language: Language,
    namespaces: Mapping[int, Sequence[str]],
    dbname: str,
    table: EntityTable | None = None,
    learns_headings: bool = False,
) -> ReadWiki:
    """Reads the templates of a wiki, and learns the headings of sections without prose.

    PCollection[Page] → ReadWiki. A template is kept if it is not in the tables of the language, can be part
    of prose, and is used by articles.

    Args:
      language: templates in its tables are not collected.
      namespaces: number → name in this wiki.
      dbname: database name of the wiki, such as "ukwiki".
      table: entity table, or None. It has the local names of templates that the tables of the language know
        by their English names.
      learns_headings: True to learn the headings of sections without prose from the articles.
    """
    read = pages | "ReadPages" >> beam.ParDo(
        _ReadPage(language, namespaces, learns_headings)
    ).with_output_types(tuple[str, TemplateFact]).with_outputs("uses", "headings", main="facts")
    headings = read.headings | "LearnHeadings" >> LearnHeadings()
    facts = [read.facts]
    if table is not None:
        aliases = pages.pipeline | "ReadAliases" >> ReadTemplateAliases(table, dbname)
        known = frozenset(language.templates)
        facts.append(aliases | "LocalNames" >> beam.FlatMap(local_names, known))
    uses = read.uses | "SumUses" >> beam.CombinePerKey(sum)
    templates = (
        {"facts": facts | "Facts" >> beam.Flatten(), "uses": uses}
        | "JoinUses" >> beam.CoGroupByKey()
        | "UsedFacts" >> beam.FlatMapTuple(used_facts)
        | "MostUsed" >> beam.CombineGlobally(TopCombineFn(MAX_TEMPLATES))
        | "Collect" >> beam.Map(collect_most_used, beam.pvalue.AsSingleton(headings))
    )
    return ReadWiki(templates, headings)


@transform
def LearnHeadings(counts: beam.PCollection) -> beam.PCollection:
    """Learns the headings of sections without prose.

    PCollection[(HeadingKey, HeadingCounts)] → PCollection of one list of LearnedHeading.
    """
    added = beam.CombinePerKey(sections.add_counts).with_output_types(
        tuple[sections.HeadingKey, sections.HeadingCounts]
    )
    frequent = TopCombineFn(MAX_HEADINGS, key=lambda counted: (counted[1].sections, counted[0]))
    return (
        counts
        | "AddUp" >> added
        | "MostFrequent" >> beam.CombineGlobally(frequent)
        | "Learn" >> beam.Map(sections.learn_headings)
    )


@dataclass(eq=False)
class _ReadPage(beam.DoFn):
    language: Language
    namespaces: Mapping[int, Sequence[str]]
    learns_headings: bool

    def setup(self) -> None:
        self.tables = TemplateTable(self.language, self.namespaces, NO_TEMPLATES)

    def start_bundle(self) -> None:
        self.calls: collections.Counter[str] = collections.Counter()

    def process(self, page: Page) -> Iterator[Any]:
        if page.namespace == ARTICLE_NAMESPACE:
            self.calls.update(count_calls(page.text))
            if self.learns_headings:
                yield from _headings(page)
            if len(self.calls) > MAX_COUNTED:
                yield from self._take_uses()
        elif page.namespace == TEMPLATE_NAMESPACE:
            fact = read_template(page)
            if fact and not self.tables.knows(fact.name):
                counters.count(STAGE, fact.kind)
                yield fact.name, fact
                called = {fact.value: 1} if fact.kind == "alias" else count_calls(fact.value)
                yield from self._uses(called)

    def finish_bundle(self) -> Iterator[beam.pvalue.TaggedOutput]:
        in_window = GlobalWindows.windowed_value_at_end_of_window
        for output in self._take_uses():
            yield beam.pvalue.TaggedOutput(output.tag, in_window(output.value))

    def _take_uses(self) -> Iterator[beam.pvalue.TaggedOutput]:
        calls, self.calls = self.calls, collections.Counter()
        return self._uses(calls)

    def _uses(self, calls: Mapping[str, int]) -> Iterator[beam.pvalue.TaggedOutput]:
        """Yields (name, number of calls) for each template that is not in the tables of the language.

        `calls` maps the name of a template to its number of calls.
        """
        for name, count in calls.items():
            if not self.tables.knows(name):
                yield beam.pvalue.TaggedOutput("uses", (name, count))


def _headings(page: Page) -> Iterator[beam.pvalue.TaggedOutput]:
    """Yields (heading, counts) for each section of an article, on the output "headings".

    The heading "" stands for the article itself. Redirects, pages that are not wikitext, pages with more than
    MAX_CHARACTERS characters, and pages that `count_headings` skips yield nothing.
    """
    if page.is_redirect or page.content_model != "wikitext" or len(page.text) > MAX_CHARACTERS:
        return
    for counted in sections.count_headings(page.title, page.text):
        yield beam.pvalue.TaggedOutput("headings", counted)


def local_names(alias: TemplateFact, known: Container[str]) -> Iterator[tuple[str, TemplateFact]]:
    """Yields (local name of a template, alias) if the tables of the language have its English name.

    Args:
      alias: the local and the English name of the template.
      known: the names of all templates in the tables of the language.
    """
    if alias.value in known:
        yield alias.name, alias


def used_facts(name: str, found: Mapping[str, Iterable[Any]]) -> Iterator[tuple[int, TemplateFact]]:
    """Yields (number of uses, fact) for each fact about the template `name`, if the template is used.

    `found` has two lists: "uses" has the number of uses, or is empty if the template is not used; "facts" has
    the facts.
    """
    for uses in found["uses"]:
        for fact in found["facts"]:
            yield uses, fact


def collect_most_used(
    facts: Iterable[tuple[int, TemplateFact]], headings: Sequence[sections.LearnedHeading]
) -> WikiTemplates:
    """Collects the facts about the most used templates, and the learned headings, into one WikiTemplates.

    `facts` are (number of uses, fact), sorted by descending use. All their definitions together
    may have MAX_DEFINED characters; facts beyond this limit are left out.
    """
    kept = []
    characters = 0
    for _, fact in facts:
        characters += len(fact.value)
        if characters > MAX_DEFINED:
            break
        kept.append(fact)
    return collect(kept)._replace(headings={one.name: one.is_top_only for one in headings})


class CallTimeoutError(Exception):
    """Raised if a call took longer than allowed."""


class CallEndedError(Exception):
    """Raised if the process ended during a call, because of an uncaught error or a lack of memory."""


class TimedCalls:
    """Calls a function of a module in a separate process, one call after the other. It is not thread-safe.

    Args:
      function: function with one argument. The argument and the result must be picklable.
      seconds: time until a call must begin to answer. The start of the process does not count.
    """

    def __init__(self, function: Callable[[Any], Any], seconds: float):
        self._function, self._seconds = function, seconds
        self._process: BaseProcess | None = None

    def call(self, argument: Any) -> Any:
        """Calls the function and returns its result.

        Raises CallTimeoutError or CallEndedError if the call fails; the next call then starts a new process.
        """
        try:
            if not self._process:
                self._start()
            self._pipe.send(argument)
            return self._receive(self._seconds)
        except (EOFError, OSError):
            self.close()
            raise CallEndedError(self._function.__qualname__) from None
        except CallTimeoutError:
            self.close()
            raise

    def close(self) -> None:
        """Kills the separate process. The next call starts a new one."""
        process, self._process = self._process, None
        if process:
            process.kill()
            process.join()
            self._pipe.close()

    def _start(self) -> None:
        # Beam and Arrow start threads, and a forked process with threads may hang.
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        process = context.Process(target=_serve, args=(other, self._function), daemon=True)
        with other:
            process.start()
        self._process = process
        self._receive(10 * self._seconds)  # imports may take long on a busy machine

    def _receive(self, seconds: float) -> Any:
        if not self._pipe.poll(seconds):
            raise CallTimeoutError
        return self._pipe.recv()


def _serve(pipe: Connection, function: Callable[[Any], Any]) -> None:
    """Runs in the separate process: executes calls until the pipe is closed."""
    os.dup2(2, 1)  # output of the function goes to stderr
    pipe.send(None)
    with contextlib.suppress(EOFError):
        while True:
            pipe.send(function(pipe.recv()))


def read_language(code: str, paths: Sequence[str] = (), lists: str = LISTS[0]) -> Language:
    """Returns the tables of a language, with additions from the TOML files in `paths`.

    `code` is the code of a Wikipedia, such as "uk", or of one of the Chinese corpora, such as "zh-cn". The
    files take precedence over the built-in tables. `lists` says which lists the cleaner keeps. Raises
    InputError with the cause for an invalid file, and ValueError if a library for the language is not
    installed.
    """
    language = dataclasses.replace(load_language(code), lists=lists)
    WikitextCleaner(language, {})
    for path in paths:
        data = read_input(path)
        try:
            language = add_tables(language, tomllib.loads(data.decode("utf-8")))
            WikitextCleaner(language, {})  # compiles the patterns
        except (ValueError, RecursionError) as error:  # includes errors of tomllib and the decoder
            raise InputError(path, str(error)) from None
    return language


HOLD_STAGE, CLEAN_STAGE = "hold-pages", "clean-wikitext"
HELD_CHARACTERS = 1 << 20
"""Size of pages that are written to a file together; a page may be larger."""

HOLE = "a hole"
GUESS = "a guess"
# the sentence, or the part in brackets, was removed, because the template's value cannot be known
NO_SENTENCE = "no sentence"


class Unrendered(NamedTuple):
    """A template whose text is not known, in the running text of an article.

    The template has no usable definition, or its value cannot be known, such as a price of today.
    """

    name: str  # normalised name of the template
    uses: int
    title: str  # title of the article
    left: str = HOLE  # what is in the text in place of the template: HOLE, GUESS or NO_SENTENCE


class Cleaned(NamedTuple):
    """The outputs of CleanWikitext. Each page is kept or rejected."""

    kept: beam.PCollection  # of Article
    rejected: beam.PCollection  # of Rejected
    unrendered: beam.PCollection  # of Unrendered, of kept articles


@transform
def CleanWikitext(
    pages: beam.PCollection,
    language: Language,
    namespaces: Mapping[int, Sequence[str]],
    templates: beam.PCollection | None = None,
    scratch: str = "",
    min_words: int = 0,
    markdown: bool = False,
) -> Cleaned:
    """Cleans the wikitext of pages. PCollection[Page] → Cleaned.

    Pages that have no paragraph or cannot be cleaned are rejected.

    Args:
      language: tables of the corpus language.
      namespaces: number → name in this wiki, from the head of the dump.
      templates: PCollection of one WikiTemplates with the wiki's own definitions of templates, or None to use
        no such definitions. Pages are stored in files until the definitions are collected.
      scratch: folder for the stored pages; see scratch.py.
      min_words: articles with fewer words in their paragraphs are rejected.
      markdown: True to also convert articles to Markdown, which takes 2.7 times as long.
    """
    settings = language, namespaces, min_words, markdown
    if templates:
        store = functools.partial(_hold_pages, scratch=Scratch(scratch))
        hold = Gather(None, store, HELD_CHARACTERS, lambda page: len(page.text))
        pages = pages | "HoldPages" >> beam.ParDo(hold).with_output_types(bytes)
        clean = beam.ParDo(_CleanHeld(*settings), beam.pvalue.AsSingleton(templates))
    else:
        clean = beam.ParDo(_Clean(*settings), NO_TEMPLATES)
    split = pages | clean.with_output_types(Article).with_outputs(
        "rejected", "unrendered", main="kept"
    )
    return Cleaned(split.kept, split.rejected, split.unrendered)


def _hold_pages(pages: Sequence[Page], scratch: Scratch) -> Iterator[bytes]:
    """Stores pages together in the scratch folder, and yields the reference to them."""
    counters.count(HOLD_STAGE, "pages", len(pages))
    yield scratch.put(pack_block(pickle.dumps([tuple(page) for page in pages], protocol=5)))


@dataclass(eq=False)
class _Clean(beam.DoFn):
    language: Language
    namespaces: Mapping[int, Sequence[str]]
    min_words: int
    markdown: bool = False

    def setup(self) -> None:
        self.of_wiki: WikiTemplates | None = None

    def process(self, page: Page, of_wiki: WikiTemplates) -> Iterable[Any]:
        if of_wiki is not self.of_wiki:  # a new Beam bundle may pass a new object
            self.of_wiki = of_wiki
            self.cleaner = WikitextCleaner(self.language, self.namespaces, of_wiki)
        try:
            cleaned = self.cleaner.clean(page.text, page.title)
            article = to_article(page, cleaned, self.min_words)
            if self.markdown and isinstance(article, Article):
                article = article._replace(markdown=self._markdown(page, cleaned))
        except UncleanableError as error:
            article = Reason(error.reason, str(error))
        if isinstance(article, Reason):
            yield reject(page.page_id, page.title, CLEAN_STAGE, article)
            return
        counters.count(CLEAN_STAGE, "cleaned")
        if cleaned.dropped:
            counters.count(CLEAN_STAGE, "dropped-sentences", len(cleaned.dropped))
            words = sum(map(estimate_words, cleaned.dropped))
            counters.count(CLEAN_STAGE, "words-of-dropped-sentences", words)
        yield article
        for counter, left, counts in (
            ("unrendered", HOLE, cleaned.unrendered),
            ("guessed", GUESS, cleaned.guessed),
            ("unknown-values", NO_SENTENCE, cleaned.unknown),
        ):
            for name, uses in counts.items():
                counters.count(CLEAN_STAGE, counter, uses)
                found = Unrendered(name, uses, page.title, left)
                yield beam.pvalue.TaggedOutput("unrendered", found)

    def _markdown(self, page: Page, cleaned: CleanedPage) -> str:
        """Returns the article as Markdown.

        If the conversion fails, it is repeated without lists and tables.
        """
        try:
            return self.cleaner.markdown(page.text, page.title)
        except UncleanableError:
            return render_markdown(cleaned.title, [(0, one) for one in cleaned.sections])


class _CleanHeld(_Clean):
    """Cleans pages that are stored in the scratch folder."""

    def process(self, held: bytes, of_wiki: WikiTemplates) -> Iterator[Any]:  # type: ignore[override]
        for page in map(Page._make, pickle.loads(unpack_block(fetch(held)))):
            yield from super().process(page, of_wiki)
            counters.count(HOLD_STAGE, "cleaned")


def to_article(page: Page, cleaned: CleanedPage, min_words: int = 0) -> Article | Reason:
    """Returns the article of a cleaned page, or the reason why it is rejected.

    An article with fewer than `min_words` words is rejected.
    """
    if not cleaned.sections:
        return Reason("empty-after-cleaning")
    if min_words:
        words = sum(
            estimate_words(one) for section in cleaned.sections for one in section.paragraphs
        )
        if words < min_words:
            return Reason("few-words", str(words))
    if find_marker(cleaned.title) or any(
        find_marker(text)
        for section in cleaned.sections
        for text in (section.heading, *section.paragraphs)
    ):
        # joining pieces of text has formed a marker
        return Reason("marker-in-source", "after cleaning")
    return Article(
        page_id=page.page_id,
        title=page.title,
        version_id=str(page.revision_id),
        text=render_article(cleaned.title, cleaned.sections),
        revised=page.revised,
    )
