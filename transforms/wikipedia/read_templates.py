"""Collects the template definitions and headings of a wiki from the pages of a dump.

A template may be defined after the pages that use it, so the cleaning of pages starts when all definitions
are collected. Only definitions of templates that articles use are kept, so the uses of templates are counted.
If requested, the headings of sections without prose are learned too. For this, the sections are counted.
"""

import collections
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms.combiners import TopCombineFn
from apache_beam.transforms.window import GlobalWindows

from ..files import counters
from ..files.records import Page
from ..wikitext import sections
from ..wikitext.clean import MAX_CHARACTERS
from ..wikitext.language import TEMPLATE_NAMESPACE, Language
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


@dataclass(eq=False, repr=False)
class ReadTemplates(beam.PTransform):
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

    language: Language
    namespaces: Mapping[int, Sequence[str]]
    dbname: str
    table: EntityTable | None = None
    learns_headings: bool = False

    def expand(self, pages: beam.PCollection) -> ReadWiki:
        read = pages | "ReadPages" >> beam.ParDo(
            _ReadPage(self.language, self.namespaces, self.learns_headings)
        ).with_output_types(tuple[str, TemplateFact]).with_outputs("uses", "headings", main="facts")
        headings = read.headings | "LearnHeadings" >> LearnHeadings()
        facts = [read.facts]
        if self.table is not None:
            aliases = pages.pipeline | "ReadAliases" >> ReadTemplateAliases(self.table, self.dbname)
            known = frozenset(self.language.templates)
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


class LearnHeadings(beam.PTransform):
    """Learns the headings of sections without prose.

    PCollection[(HeadingKey, HeadingCounts)] → PCollection of one list of LearnedHeading.
    """

    def expand(self, counts: beam.PCollection) -> beam.PCollection:
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
