"""Wiki-40B: cleaned articles about Wikidata entities, one corpus per language.

Method: Guo et al., "Wiki-40B: Multilingual Language Model Dataset", LREC 2020. Where we differ and
why: README, "Wiki-40B".
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from pipelines.builds.corpus_build import CorpusBuild
from pipelines.builds.stages import Place, Stage
from pipelines.settings.wiki40b_settings import DESCRIPTION, RELEASE, Wiki40bConfig, linking_caveats
from transforms.files.open_input import match_inputs
from transforms.files.screen import KeepAll, ScreenPages
from transforms.files.write_rows import PlanShards, WriteRows
from transforms.text.fingerprint import SPLITS
from transforms.text.wikimedia.article_accounts import account_for_articles
from transforms.text.wikimedia.language import dbname_of
from transforms.text.wikimedia.older_pages import NEWER_THAN
from transforms.text.wikimedia.screening import PageScreening
from transforms.text.wikimedia.wikitext.variants.page_variants import conversion_library
from transforms.vocabularies.learn_vocabulary import LearnVocabulary
from transforms.wiki.article_rows import ARTICLES, ShareOut
from transforms.wiki.assign_splits import AssignSplits
from transforms.wiki.check_dumps import check_dumps
from transforms.wiki.clean_wikitext import CleanWikitext
from transforms.wiki.drop_duplicate_articles import DropDuplicateArticles
from transforms.wiki.drop_older_pages import DropOlderPages, find_older_dump
from transforms.wiki.find_items import WikiTables
from transforms.wiki.join_wikidata import LinkPages
from transforms.wiki.list_unrendered import ListUnrendered, TallyUnrendered
from transforms.wiki.measure_corpus import MeasureCorpus
from transforms.wiki.pack_articles import pack_article
from transforms.wiki.read_dumps import ReadDump, dump_bytes_of
from transforms.wiki.read_entity_table import EntityTable
from transforms.wiki.read_language import read_language
from transforms.wiki.read_split_pins import find_pins
from transforms.wiki.read_templates import ReadTemplates

_DUMP_DATE = re.compile(r"wiki-(\d{8}|latest)-")


class CleanedDump(NamedTuple):
    """What the first stage gives."""

    articles: beam.PCollection  # of PackedArticle
    shards: beam.PCollection  # of one {split: number of files}
    rejected: beam.PCollection  # of Rejected
    unrendered: beam.PCollection  # of (name, Tally)
    ledger: beam.PCollection  # of Entry


class Wiki40b(CorpusBuild):
    """One build: its inputs, found and looked at, and its stages."""

    config: Wiki40bConfig
    release = RELEASE
    description = DESCRIPTION

    def __init__(self, config: Wiki40bConfig):
        """Raises InputError for inputs that are missing, damaged at their ends, or of another wiki."""
        self.config = config
        self.dbname = dbname_of(config.language)
        self.dumps = match_inputs(config.dump)
        self.tables = WikiTables(
            page_props=match_inputs(config.page_props),
            items_per_site=match_inputs(config.items_per_site),
            pages=match_inputs(config.page_table),
            on_corrupt=config.on_corrupt,
        )
        self.entities = EntityTable.open(config.entities) if config.entities else None
        if self.entities:
            self.entities.column_of(self.dbname)
        self.pins = find_pins(config.pin_splits)
        self.template_tables = match_inputs(config.templates)
        self.language = read_language(config.language, self.template_tables)
        self.libraries = tuple(filter(None, [conversion_library(self.language.variants)]))
        self.site = check_dumps(
            self.dumps,
            config.language,
            self.dbname,
            whole=config.on_corrupt == "fail",
            ignore_siteinfo=config.ignore_siteinfo,
        )
        self.older = find_older_dump(
            config.newer_than,
            config.language,
            self.dbname,
            self.dump_date,
            ignore_siteinfo=config.ignore_siteinfo,
        )

    def bytes_to_read(self, stripes: int) -> int:
        """Bytes of dump files that the workers will read: twice where templates are looked up."""
        reads = 1 + self.config.wiki_templates
        older = self.older.bytes_to_read(stripes) if self.older else 0
        return older + reads * sum(dump_bytes_of(path, stripes) for path in self.dumps)

    def date_of_inputs(self) -> str:
        """The date in the name of the dump."""
        found = _DUMP_DATE.search(self.dumps[0])
        return found[1] if found else ""

    @property
    def links_pages(self) -> bool:
        """Whether the entity of a page can be told."""
        return self.tables.links_pages() or self.entities is not None

    def stages(self) -> Sequence[Stage]:
        """The method: what is read and cleaned waits in files until the corpus is made of it."""
        return Stage("clean", self.clean), Stage("write", self.write)

    def clean(self, root: beam.Pipeline, place: Place) -> CleanedDump:
        """Reads the dump, and makes articles of the pages that are some."""
        config = self.config
        screening = PageScreening(self.language, not self.links_pages)
        wiki = self.dumps, self.language, self.site.namespaces, self.dbname
        read = ReadTemplates(*wiki, self.entities, place.stripes, config.on_corrupt)
        templates = root | "ReadTemplates" >> read if config.wiki_templates else None
        dump = root | "ReadDump" >> ReadDump(self.dumps, place.stripes, config.on_corrupt)
        newer = dump.pages | "DropOlderPages" >> DropOlderPages(self.older, place.stripes)
        articles = newer.kept | "ScreenPages" >> ScreenPages(screening.reason_to_reject)
        cleaned = articles.kept | "CleanWikitext" >> CleanWikitext(
            self.language, self.site.namespaces, templates
        )
        packed = cleaned.kept | "PackArticles" >> beam.Map(pack_article)
        rejected = (dump.rejected, newer.rejected, articles.rejected, cleaned.rejected)
        return CleanedDump(
            articles=packed,
            shards=packed | "PlanShards" >> PlanShards(SPLITS, config.shard_bytes, ShareOut()),
            rejected=rejected | "Rejected" >> beam.Flatten(),
            unrendered=cleaned.unrendered | "TallyUnrendered" >> TallyUnrendered(),
            ledger=self.open_ledger(
                root,
                lost=dump.lost,
                pages=dump.pages | "CountPages" >> beam.combiners.Count.Globally(),
                newer_than=newer.older,
            ),
        )

    def write(self, root: beam.Pipeline, place: Place, cleaned: CleanedDump) -> None:
        """Finds out what the articles are about, and writes those of the corpus."""
        config, folder = self.config, place.folder
        link = LinkPages(self.dbname, self.tables, self.entities, self.pins.files)
        linked = cleaned.articles | "LinkPages" >> link
        similarity = config.near_duplicates
        drop = DropDuplicateArticles(place.scratch, similarity) if similarity else KeepAll()
        different = linked.kept | "DropDuplicates" >> drop
        assigned = different.kept | "AssignSplits" >> AssignSplits()
        corpus = assigned.articles
        vocabulary = corpus | "LearnVocabulary" >> LearnVocabulary(
            config.subwords(), folder, f"{config.language}-{config.vocabulary_size}"
        )
        dropped = (cleaned.rejected, linked.rejected, different.rejected)
        write = WriteRows(folder, RELEASE.corpus, ARTICLES, cleaned.shards)
        self.close_ledger(
            folder,
            cleaned.ledger,
            account_for_articles,
            outputs=(
                corpus | "WriteCorpus" >> write,
                cleaned.unrendered | "ListUnrendered" >> ListUnrendered(folder),
                vocabulary.files,
            ),
            rejected=dropped | "Rejected" >> beam.Flatten(),
            unread=linked.unread,
            stats=corpus | "MeasureCorpus" >> MeasureCorpus(),
            class_unknown=linked.class_unknown,
            pinned=assigned.pinned,
            subwords=vocabulary.subwords,
            subword_stats=vocabulary.stats,
        )

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return {
            "dump": self.dumps,
            **self.tables.by_role(),
            "entities": [self.entities.manifest_path] if self.entities else [],
            "templates": self.template_tables,
            "pin-splits": self.pins.inputs,
            **({NEWER_THAN: self.older.paths} if self.older else {}),
        }

    def caveats(self) -> tuple[str, ...]:
        """What this build cannot know, for want of an input."""
        by_tables, has_entities = self.tables.links_pages(), self.entities is not None
        found = list(linking_caveats(self.dbname, by_tables, has_entities))
        if not self.site.dbname:
            head = "siteinfo is ignored" if self.config.ignore_siteinfo else "dump has no siteinfo"
            found.append(f"The {head}: namespaces have the names that corpusmill knows.")
        return tuple(found)

    def settings(self) -> Mapping[str, Any]:
        identity = {"identity": "wikidata item" if self.links_pages else "page id"}
        return self.config.for_manifest() | identity

    def signature_settings(self) -> Mapping[str, str]:
        return self.config.for_signature()
