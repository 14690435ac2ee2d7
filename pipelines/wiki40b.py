"""Wiki-40B: cleaned articles about Wikidata entities, one corpus per language.

Method: Guo et al., "Wiki-40B: Multilingual Language Model Dataset", LREC 2020. Differences from the paper and
their reasons: pipelines/docs/wiki40b.md.
"""

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from corpusmill.pipelines.run.corpus_build import CorpusBuild, Place, Stage
from corpusmill.transforms.duplicates.similar_documents import DropDuplicates
from corpusmill.transforms.files.builds.manifest import limit_caveat
from corpusmill.transforms.files.counters import KeepAll, ScreenPages
from corpusmill.transforms.files.read_files import InputError, file_bytes_of, match_inputs
from corpusmill.transforms.files.records import PackedArticle
from corpusmill.transforms.files.scratch import Scratch
from corpusmill.transforms.files.text import SPLITS, checked_date
from corpusmill.transforms.files.write_rows import MeasureSplits, PlanShards, WriteRows
from corpusmill.transforms.wikipedia import article_accounts, article_rows, drop_older_pages
from corpusmill.transforms.wikipedia.audit_pages import (
    AuditPages,
    ListUnrendered,
    TallyUnrendered,
    WriteAudit,
    write_headings,
)
from corpusmill.transforms.wikipedia.clean_wikitext import (
    Cleaned,
    CleanWikitext,
    ReadTemplates,
    read_language,
)
from corpusmill.transforms.wikipedia.dump_folder import date_in_name, date_in_names
from corpusmill.transforms.wikipedia.find_dumps import sums_beside
from corpusmill.transforms.wikipedia.join_wikidata import LinkPages, WikiTables, redirects_of_moves
from corpusmill.transforms.wikipedia.read_dumps import (
    ReadDump,
    caveats_of_export,
    check_dumps,
    dump_bytes_of,
    is_table_of,
)
from corpusmill.transforms.wikipedia.read_entity_table import EntityTable
from corpusmill.transforms.wikipedia.screening import ARTICLE_NAMESPACE, NEWER_THAN, PageScreening
from corpusmill.transforms.wikipedia.split_pins import AssignSplits, ReadSplitPins, find_pins
from corpusmill.transforms.wikipedia.train_subwords import LearnVocabulary
from corpusmill.transforms.wikipedia.wikidata import (
    LinkSource,
    describe_sources,
    is_of_another_date,
    redirects_since,
)
from corpusmill.transforms.wikitext.article_markers import add_stats
from corpusmill.transforms.wikitext.language import TEMPLATE_NAMESPACE, tables_taken
from corpusmill.transforms.wikitext.variants.page_variants import conversion_library
from corpusmill.transforms.wikitext.wikis import dbname_of

from .wiki40b_settings import (
    DESCRIPTION,
    RELEASE,
    Wiki40bConfig,
    heading_caveats,
    language_caveats,
    linking_caveats,
)


class CleanedDump(NamedTuple):
    """The results of the first stage: cleaned articles, rejected pages, and counts for the manifest."""

    articles: beam.PCollection  # of PackedArticle
    redirects: beam.PCollection | None  # of Redirect; None if redirects are not followed
    shards: beam.PCollection  # of one {split: number of files}
    rejected: beam.PCollection  # of Rejected
    unrendered: beam.PCollection  # of (Key, Tally)
    headings: beam.PCollection  # of one list of LearnedHeading; empty if none are learned
    audited: beam.PCollection  # of AuditedPage; empty without an audit
    ledger: beam.PCollection  # of Entry


class Wiki40b(CorpusBuild):
    """A build of Wiki-40B in one language."""

    config: Wiki40bConfig
    release = RELEASE
    description = DESCRIPTION
    unheld = (NEWER_THAN,)  # only the page ids of these inputs are held in memory

    def __init__(self, config: Wiki40bConfig):
        """Finds and checks the inputs.

        Raises InputError for a missing input, and for an input of another wiki. Also raises it if the
        beginning or the end of an input is damaged or missing.
        """
        self.config = config
        self.lang = config.language
        self.dbname = dbname_of(config.language)
        self.dumps = match_inputs(config.dump)
        self.tables = WikiTables(
            page_props=match_inputs(config.page_props),
            items_per_site=match_inputs(config.items_per_site),
            pages=match_inputs(config.page_table),
            on_corrupt=config.on_corrupt,
            dump_date=date_in_names(self.dumps) or checked_date(config.dump_date),
        )
        of_wiki = "" if config.ignore_siteinfo else self.dbname
        for table, dbname, paths in (
            ("page_props", of_wiki, self.tables.page_props),
            ("page", of_wiki, self.tables.pages),
            ("wb_items_per_site", "wikidatawiki", self.tables.items_per_site),
        ):
            for path in paths:
                if not is_table_of(path, dbname, table):
                    raise InputError(path, f"not an SQL dump of the table {table}, or damaged", 0)
        self.entities = EntityTable.open(config.entities) if config.entities else None
        if self.entities:
            self.entities.column_of(self.dbname)
        self.pins = find_pins(config.pin_splits)
        self.left_out = match_inputs(config.leave_out)
        self.left_out_ids = drop_older_pages.read_ids(self.left_out)
        self.columns = article_accounts.columns_of(config.columns, config.text)
        numbers = [name for name in article_accounts.NUMBERS if name in self.columns]
        self.description = DESCRIPTION._replace(features=self.columns, numbers=numbers)
        if "license" in self.columns:
            self.description = self.description._replace(license_id=[*article_accounts.LICENSES])
        self.template_tables = match_inputs(config.templates)
        self.language = read_language(config.language, self.template_tables, config.lists)
        libraries = conversion_library(self.language.variants), self.language.library
        self.libraries = tuple(filter(None, libraries))
        self.site = check_dumps(
            self.dumps,
            config.language,
            self.dbname,
            whole=config.on_corrupt == "fail",
            ignore_siteinfo=config.ignore_siteinfo,
        )
        self.older = drop_older_pages.find_older_dump(
            config.newer_than,
            config.language,
            self.dbname,
            self.dump_date,
            ignore_siteinfo=config.ignore_siteinfo,
        )
        self.export_caveats = caveats_of_export(self.dumps)
        self.tables = self.tables._replace(is_case_sensitive=self.site.is_case_sensitive)

    def bytes_to_read(self, stripes: int) -> int:
        """Returns the number of bytes that all workers together will read from the dump files.

        A file that can only be read from its beginning, such as a .gz file, is counted once for each worker.

        Args:
          stripes: The number of workers.
        """
        return sum(dump_bytes_of(path, stripes) for path in self.dumps)

    def date_of_inputs(self) -> str:
        """Returns the date in the file name of the dump; "" if the name contains no date."""
        return date_in_name(self.dumps[0])

    @property
    def link_sources(self) -> Sequence[LinkSource]:
        """The tables that link pages to Wikidata entities."""
        return self.tables.sources(self.entities)

    def stages(self) -> Sequence[Stage]:
        """Returns the stages: first clean the articles of the dump, then write the corpus."""
        return Stage("clean", self.clean), Stage("write", self.write)

    def clean(self, root: beam.Pipeline, place: Place) -> CleanedDump:
        """Reads the dump, chooses the pages that are articles, and converts them to text."""
        config = self.config
        sources = self.link_sources
        since = redirects_since(sources)
        screening = PageScreening(
            self.language, not sources or is_of_another_date(sources, self.tables.dump_date)
        )
        namespaces = None if self.older else (ARTICLE_NAMESPACE, TEMPLATE_NAMESPACE)
        dump = root | "ReadDump" >> ReadDump(
            self.dumps, place.stripes, config.on_corrupt, namespaces, config.limit
        )
        own = None
        if config.wiki_templates:
            own = dump.pages | "ReadTemplates" >> ReadTemplates(
                self.language,
                self.site.namespaces,
                self.dbname,
                self.entities,
                config.learns_headings(),
            )
        newer = dump.pages | "DropOlderPages" >> drop_older_pages.DropOlderPages(
            self.older, place.stripes
        )
        articles = newer.kept | "ScreenPages" >> ScreenPages(screening.reason_to_reject)
        cleaned = articles.kept | "CleanWikitext" >> CleanWikitext(
            self.language,
            self.site.namespaces,
            own.templates if own else None,
            place.scratch,
            config.min_words,
            config.text == "markdown",
        )
        packed = cleaned.kept | "PackArticles" >> beam.Map(
            article_rows.pack_article, Scratch(place.scratch).put_text
        )
        rejected = (dump.rejected, newer.rejected, articles.rejected, cleaned.rejected)
        return CleanedDump(
            articles=packed,
            redirects=dump.pages | "FindRedirects" >> beam.FlatMap(redirects_of_moves, since)
            if since
            else None,
            shards=packed
            | "PlanShards" >> PlanShards(SPLITS, config.shard_bytes, article_rows.ShareOut()),
            rejected=rejected | "Rejected" >> beam.Flatten(),
            unrendered=cleaned.unrendered | "TallyUnrendered" >> TallyUnrendered(),
            headings=own.headings if own else root | "NoHeadings" >> beam.Create([]),
            audited=self._audit(root, articles.kept, cleaned),
            ledger=self.open_ledger(
                root,
                lost=dump.lost,
                pages=dump.pages | "CountPages" >> beam.combiners.Count.Globally(),
                newer_than=newer.older,
            ),
        )

    def _audit(
        self, root: beam.Pipeline, pages: beam.PCollection, cleaned: Cleaned
    ) -> beam.PCollection:
        if not self.config.audit:
            return root | "NoAudit" >> beam.Create([])
        dump_bytes = sum(map(file_bytes_of, self.dumps))
        audit = AuditPages(self.config.audit, dump_bytes, self.site.namespaces)
        of_wiki = {"pages": pages, "articles": cleaned.kept, "rejected": cleaned.rejected}
        return of_wiki | "AuditPages" >> audit

    def write(self, root: beam.Pipeline, place: Place, cleaned: CleanedDump) -> None:
        """Links the articles to Wikidata entities, and writes those that belong to the corpus."""
        config, folder, sources = self.config, place.folder, self.link_sources
        redirects = cleaned.redirects if redirects_since(sources) else None
        pins = root | "ReadSplitPins" >> ReadSplitPins(self.pins.files) if self.pins.files else None
        link = LinkPages(self.dbname, self.tables, self.entities, pins, redirects)
        linked = cleaned.articles | "LinkPages" >> link
        similarity = config.near_duplicates
        of_article = article_rows.describe_article, article_rows.text_of_article
        drop = DropDuplicates(place.scratch, *of_article, similarity) if similarity else KeepAll()
        wanted = linked.kept | "LeaveOut" >> self._leave_out()
        different = wanted.kept | "DropDuplicates" >> drop
        assigned = different.kept | "AssignSplits" >> AssignSplits()
        corpus = assigned.articles
        vocabulary = corpus | "LearnVocabulary" >> LearnVocabulary(
            config.subwords(), folder, f"{config.language}-{config.vocabulary_size}"
        )
        dropped = (cleaned.rejected, linked.rejected, wanted.rejected, different.rejected)
        rows = article_rows.rows_with(
            self.columns, article_accounts.RowSource(config.language, self.dbname)
        )
        write = WriteRows(
            folder, RELEASE.corpus, rows, cleaned.shards, self.marks(), config.formats
        )
        listed = [cleaned.unrendered | "ListUnrendered" >> ListUnrendered(folder)]
        if config.learns_headings():
            listed.append(cleaned.headings | "ListHeadings" >> beam.Map(write_headings, folder))
        if config.audit:
            listed.append(cleaned.audited | "WriteAudit" >> WriteAudit(folder, config.language))
        accounts = {}
        if describe_sources(sources):
            accounts["links"] = linked.links | "CountLinks" >> beam.combiners.Count.PerElement()
        if self.entities:
            people = corpus | "People" >> beam.Filter(
                lambda article: article_accounts.HUMAN in article.classes
            )
            accounts["people"] = people | "CountPeople" >> beam.combiners.Count.Globally()
        measure = MeasureSplits(article_rows.split_and_stats, add_stats, "characters")
        measured = corpus | "MeasureCorpus" >> measure
        self.close_ledger(
            folder,
            cleaned.ledger,
            article_accounts.account_for_articles,
            outputs=(
                corpus | "WriteCorpus" >> write,
                *listed,
                vocabulary.files,
            ),
            rejected=dropped | "Rejected" >> beam.Flatten(),
            unread=linked.unread,
            **measured._asdict(),
            class_unknown=linked.class_unknown,
            pinned=assigned.pinned,
            subwords=vocabulary.subwords,
            subword_stats=vocabulary.stats,
            **accounts,
        )

    def _leave_out(self) -> beam.PTransform:
        if not self.left_out:
            return KeepAll()
        reason = drop_older_pages.reason_to_leave_out
        rule = functools.partial(reason, self.left_out_ids, self.dbname)
        return ScreenPages(rule, stage=drop_older_pages.LEFT_OUT_STAGE, of=PackedArticle)

    def marks(self) -> Mapping[str, str]:
        marks = super().marks()
        if "license" not in self.columns:
            return marks
        return {**marks, "license": f"{marks['license']}: the column license has that of each row"}

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return {
            "dump": self.dumps,
            "page-props": self.tables.page_props,
            "items-per-site": self.tables.items_per_site,
            "page-table": self.tables.pages,
            "entities": [self.entities.manifest_path] if self.entities else [],
            "templates": self.template_tables,
            "pin-splits": self.pins.inputs,
            **({"leave-out": self.left_out} if self.left_out else {}),
            **({NEWER_THAN: self.older.paths} if self.older else {}),
        }

    def listed_sums(self) -> Mapping[str, str]:
        is_strict = self.config.on_corrupt == "fail"
        return sums_beside(itertools.chain(*self.inputs().values())) if is_strict else {}

    def caveats(self) -> tuple[str, ...]:
        """Returns caveats: sentences about what is missing or uncertain in the corpus.

        A reason can be that an input was not given, or that the inputs have different dates.
        """
        config = self.config
        dates = self.tables.dump_date, date_in_names(self.tables.pages)
        has_entities = self.entities is not None
        found = list(linking_caveats(self.dbname, self.link_sources, has_entities, *dates))
        found += language_caveats(config.language)
        found += heading_caveats(config.language, config.learns_headings())
        if not self.site.dbname:
            head = "siteinfo is ignored" if config.ignore_siteinfo else "dump has no siteinfo"
            found.append(f"The {head}: namespaces have the names that corpusmill knows.")
        return (*found, *self.export_caveats, *limit_caveat(config.limit, "pages"))

    def settings(self) -> Mapping[str, Any]:
        sources, taken = self.link_sources, tables_taken(self.config.language)
        if taken and self.config.learns_headings():
            taken = taken | {"headings": "learned from the dump"}
        return (
            self.config.for_manifest()
            | {"identity": "wikidata item" if sources else "page id"}
            | describe_sources(sources)
            | ({"tables": taken} if taken else {})
        )
