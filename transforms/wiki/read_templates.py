"""Dump files → what the wiki says of its own templates, and of its headings.

A pass over the dump before the cleaning, which needs the result: a template may be defined after the
pages that use it. The pass decompresses and looks at the template pages; of articles it counts which
templates they call, as only those are worth knowing, and where wanted, what stands under their headings.
"""

import collections
import html
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms.combiners import TopCombineFn

from transforms.files import counters
from transforms.text.wikimedia.dump_units import WorkUnit
from transforms.text.wikimedia.language import TEMPLATE_NAMESPACE, Language
from transforms.text.wikimedia.mediawiki_xml import MalformedPageError, parse_page
from transforms.text.wikimedia.screening import ARTICLE_NAMESPACE
from transforms.text.wikimedia.template_pages import (
    NO_TEMPLATES,
    TemplateFact,
    WikiTemplates,
    collect,
    count_calls,
    read_template,
)
from transforms.text.wikimedia.wikitext.clean import MAX_CHARACTERS
from transforms.text.wikimedia.wikitext.section_kinds import (
    HeadingCounts,
    HeadingKey,
    LearnedHeading,
    add_counts,
    count_headings,
    learn_headings,
)
from transforms.text.wikimedia.wikitext.templates.lookup import TemplateTable
from transforms.wiki.read_dumps import read_good_pages, spread_units
from transforms.wiki.read_entity_table import EntityTable, ReadTemplateAliases

STAGE = "read-templates"

MAX_TEMPLATES = 20_000
"""So many of the templates that articles call most often are kept. It bounds what every worker holds."""

MAX_HEADINGS = 10_000
"""So many of the most frequent headings are looked at."""

_NAMESPACE = re.compile(rb"<ns>(\d+)</ns>")
_HEAD_BYTES = 4_000  # <title>, <ns> and <id> stand first


class ReadWiki(NamedTuple):
    """What ReadTemplates gives."""

    templates: beam.PCollection  # of one WikiTemplates
    headings: beam.PCollection  # of one list of LearnedHeading; [] where none are learned


@dataclass(eq=False, repr=False)
class ReadTemplates(beam.PTransform):
    """Reads what a wiki says of its own templates, and learns headings of sections without prose.

    Only templates that the tables of the language do not know, that fit into prose, and that articles
    call are in it. Damaged parts of a dump are passed over where `on_corrupt` is "keep-good":
    ReadDump reports them.

    Args:
      paths: dump files, as for ReadDump.
      language: its tables say which names need no looking up.
      namespaces: number → names in this wiki.
      dbname: the wiki, "ukwiki", as sitelinks name it.
      table: of entities, or None; items of templates tell local names of known templates.
      learns_headings: learn the headings of sections without prose from the articles.
    """

    paths: Sequence[str]
    language: Language
    namespaces: Mapping[int, Sequence[str]]
    dbname: str
    table: EntityTable | None = None
    stripes: int = 1
    on_corrupt: str = "fail"
    learns_headings: bool = False

    def expand(self, root: beam.Pipeline) -> ReadWiki:
        read = spread_units(root, self.paths, self.stripes) | "ReadUnits" >> beam.ParDo(
            _ReadUnit(self.language, self.namespaces, self.on_corrupt, self.learns_headings)
        ).with_output_types(tuple[str, TemplateFact]).with_outputs("uses", "headings", main="facts")
        headings = read.headings | "LearnHeadings" >> LearnHeadings()
        facts = [read.facts]
        if self.table is not None:
            aliases = root | "ReadAliases" >> ReadTemplateAliases(self.table, self.dbname)
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
    """PCollection[(HeadingKey, HeadingCounts)] → PCollection of one list of LearnedHeading."""

    def expand(self, counts: beam.PCollection) -> beam.PCollection:
        added = beam.CombinePerKey(add_counts).with_output_types(tuple[HeadingKey, HeadingCounts])
        frequent = TopCombineFn(MAX_HEADINGS, key=by_sections)
        return (
            counts
            | "AddUp" >> added
            | "MostFrequent" >> beam.CombineGlobally(frequent)
            | "Learn" >> beam.Map(learn_headings)
        )


@dataclass(eq=False)
class _ReadUnit(beam.DoFn):
    language: Language
    namespaces: Mapping[int, Sequence[str]]
    on_corrupt: str
    learns_headings: bool

    def setup(self) -> None:
        self.tables = TemplateTable(self.language, self.namespaces, NO_TEMPLATES)

    def process(self, unit: WorkUnit) -> Iterable[Any]:
        calls: collections.Counter[str] = collections.Counter()
        for page in read_good_pages(unit, self.on_corrupt, STAGE):
            found = _NAMESPACE.search(page, 0, _HEAD_BYTES)
            namespace = int(found[1]) if found else ARTICLE_NAMESPACE
            if namespace == ARTICLE_NAMESPACE:
                calls.update(count_calls(page.decode("utf-8", "replace")))
                if self.learns_headings:
                    yield from _headings(page)
            elif namespace == TEMPLATE_NAMESPACE:
                yield from self._facts(page)
        yield from self._uses(calls)

    def _facts(self, xml: bytes) -> Iterator[Any]:
        try:
            fact = read_template(parse_page(xml))
        except MalformedPageError:
            return  # ReadDump rejects it
        if fact and not self.tables.knows(fact.name):
            counters.count(STAGE, fact.kind)
            yield fact.name, fact
            called = {fact.value: 1} if fact.kind == "alias" else count_calls(fact.value)
            yield from self._uses(called)

    def _uses(self, calls: Mapping[str, int]) -> Iterator[beam.pvalue.TaggedOutput]:
        """The calls of templates that are in no table."""
        for name, count in calls.items():
            plain = html.unescape(name)
            if not self.tables.knows(plain):
                yield beam.pvalue.TaggedOutput("uses", (plain, count))


def _headings(xml: bytes) -> Iterator[beam.pvalue.TaggedOutput]:
    """What the sections of an article are."""
    try:
        page = parse_page(xml)
    except MalformedPageError:
        return
    if page.is_redirect or page.content_model != "wikitext" or len(page.text) > MAX_CHARACTERS:
        return
    for counted in count_headings(page.title, page.text):
        yield beam.pvalue.TaggedOutput("headings", counted)


def by_sections(counted: tuple[HeadingKey, HeadingCounts]) -> tuple[int, HeadingKey]:
    """By sections, then by name."""
    key, counts = counted
    return counts.sections, key


def local_names(alias: TemplateFact, known: Container[str]) -> Iterator[tuple[str, TemplateFact]]:
    """(name, alias) for a template of the tables that this wiki has under another name."""
    if alias.value in known:
        yield alias.name, alias


def used_facts(name: str, found: Mapping[str, Iterable[Any]]) -> Iterator[tuple[int, TemplateFact]]:
    """(uses, fact) for all that is known of a name, if any page uses it."""
    for uses in found["uses"]:
        for fact in found["facts"]:
            yield uses, fact


def collect_most_used(
    facts: Iterable[tuple[int, TemplateFact]], headings: Sequence[LearnedHeading]
) -> WikiTemplates:
    """The tables made of the facts and headings."""
    collected = collect(fact for _, fact in facts)
    return collected._replace(headings={one.name: one.is_top_only for one in headings})
