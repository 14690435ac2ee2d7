"""Wiki-40B: cleaned articles about Wikidata entities, one corpus per language.

Method: Guo et al., "Wiki-40B: Multilingual Language Model Dataset", LREC 2020. Where we differ and
why: README, "Wiki-40B".
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam

from pipelines.builds.provenance import code_versions
from pipelines.builds.stages import Place, Stage
from pipelines.settings.dump_settings import check_dump_settings, name_edition, name_variant
from transforms.duplicates.drop_duplicates import NGRAM_WORDS, PERMUTATIONS
from transforms.files.hash_inputs import HashInputs
from transforms.files.open_input import match_inputs
from transforms.files.screen import Screened, ScreenPages
from transforms.files.write_rejected import WriteRejected
from transforms.files.write_rows import PlanShards, WriteRows
from transforms.text.builds.build_manifest import Description, Provenance
from transforms.text.fingerprint import SPLITS
from transforms.text.vocabularies.subwords import SubwordSettings
from transforms.text.wikimedia.language import dbname_of, load_language
from transforms.text.wikimedia.screening import PageScreening
from transforms.text.wikimedia.wikitext.variants.page_variants import conversion_library
from transforms.vocabularies.learn_vocabulary import LearnVocabulary
from transforms.wiki.article_rows import ARTICLES, FEATURES, ShareOut
from transforms.wiki.assign_splits import AssignSplits
from transforms.wiki.check_dumps import check_dumps
from transforms.wiki.clean_wikitext import CleanWikitext
from transforms.wiki.drop_duplicate_articles import DropDuplicateArticles
from transforms.wiki.find_items import WikiTables
from transforms.wiki.join_wikidata import IdentifyByPage, JoinWikidata
from transforms.wiki.list_unrendered import ListUnrendered, TallyUnrendered
from transforms.wiki.measure_corpus import MeasureCorpus
from transforms.wiki.pack_articles import PackArticles
from transforms.wiki.read_dumps import ReadDump, dump_bytes_of
from transforms.wiki.read_entity_table import EntityTable
from transforms.wiki.read_language import read_language
from transforms.wiki.read_split_pins import ReadSplitPins, find_pins
from transforms.wiki.read_templates import ReadTemplates
from transforms.wiki.screen_facts import Linked
from transforms.wiki.write_manifest import BuildOutcome, WriteManifest

CORPUS = "wiki40b"
VERSION = "1.3.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.1.0": (
        "Text: many more templates are shown, also by redirects and definitions of the wiki itself;"
        " indented prose and verses stay; Chinese is converted; blanks stay as authors set them."
    ),
    "1.2.0": (
        "SentencePiece vocabulary, and counts in its pieces; entities from a table; a reason for each kind of"
        " Wikimedia's own things; splits can be pinned."
    ),
    "1.3.0": "Near-duplicates can be left out. Texts and splits are those of 1.2.0.",
}
SHARD_BYTES = 32 << 20
MINHASH = {"permutations": PERMUTATIONS, "ngram_words": NGRAM_WORDS}

_DUMP_DATE = re.compile(r"wiki-(\d{8}|latest)-")

DESCRIPTION = Description(
    title="Wiki-40B",
    about=(
        "Wikipedia articles about entities, cleaned of markup, with markers for articles, sections and"
        " paragraphs; rebuilt with corpusmill after Guo et al., LREC 2020. The text is by the authors"
        " of Wikipedia, CC BY-SA."
    ),
    citation=(
        "@inproceedings{guo-etal-2020-wiki,\n  title = {Wiki-40B: Multilingual Language Model Dataset},\n"
        "  author = {Guo, Mandy and Dai, Zihang and Vrande{\\v{c}}i{\\'c}, Denny and Al-Rfou, Rami},\n"
        "  booktitle = {LREC 2020},\n  year = {2020}\n}"
    ),
    license_id="cc-by-sa-4.0",
    features=FEATURES,
)


ORIGINAL = {"near_duplicates": 0.0}


@dataclasses.dataclass(frozen=True)
class Wiki40bConfig:
    """Settings of one build. Those that contradict each other raise ValueError."""

    language: str  # corpus code, "zh-tw"
    dump: Sequence[str]  # patterns of pages-articles files
    page_props: Sequence[str] = ()  # patterns of <wiki>-<date>-page_props.sql.gz
    items_per_site: Sequence[str] = ()  # of wikidatawiki-<date>-wb_items_per_site.sql.gz
    page_table: Sequence[str] = ()  # of <wiki>-<date>-page.sql.gz
    entities: str = ""  # folder of an entity table, as `corpusmill entities` makes it
    templates: Sequence[str] = ()  # of TOML files: how templates show their arguments
    wiki_templates: bool = True  # use the redirects and definitions of templates in the dump
    dump_date: str = ""  # "20230501"; "" is taken from the name of the dump
    on_corrupt: str = "fail"
    ignore_siteinfo: bool = False  # build although the head of the dump names another wiki
    near_duplicates: float = 0.0  # similarity from which on an article is dropped; 0 keeps all
    pin_splits: Sequence[str] = ()  # of tables (wikidata_id, split) or finished builds
    vocabulary_size: int = 32_000  # SentencePiece pieces; 0 trains none
    sample_articles: int = 100_000  # train articles that the pieces are learned from
    shard_bytes: int = SHARD_BYTES  # UTF-8 bytes of text in one output file, about

    def __post_init__(self) -> None:
        load_language(self.language)
        check_dump_settings(self.dump, self.dump_date, self.on_corrupt)
        if not 0 <= self.near_duplicates < 1:
            raise ValueError(
                f"near_duplicates is {self.near_duplicates}, and not from 0 to below 1"
            )
        if self.shard_bytes < 1:
            raise ValueError(f"shard_bytes is {self.shard_bytes}, and must be positive")
        self.subwords()

    def variant(self) -> dict[str, Any]:
        """The settings that make another corpus of the same input, all but the language."""
        return {"near_duplicates": self.near_duplicates}

    def edition(self) -> str:
        """The language, and what differs from the paper's way: "vi", "vi-near-duplicates-0.8"."""
        return name_edition(self.language, self.variant(), ORIGINAL)

    def subwords(self) -> SubwordSettings | None:
        """Settings of the vocabulary; None where none is wanted."""
        if not self.vocabulary_size:
            return None
        return SubwordSettings(self.vocabulary_size, self.sample_articles)


class CleanedDump(NamedTuple):
    """What the first stage gives: the articles, and the accounts of all that was read."""

    articles: beam.PCollection  # of PackedArticle
    shards: beam.PCollection  # of one {split: number of files}
    rejected: beam.PCollection  # of Rejected
    unrendered: beam.PCollection  # of (name, Tally)
    lost: beam.PCollection  # of LostBytes
    pages: beam.PCollection  # of int: well-formed pages that were read
    inputs: beam.PCollection  # of InputFile


class Wiki40b:
    """One build: its inputs, found and looked at, and its stages."""

    def __init__(self, config: Wiki40bConfig):
        """Raises InputError for inputs that are missing, damaged at their ends, or of another wiki."""
        self.config = config
        self.dbname = dbname_of(config.language)
        self.dumps = match_inputs(config.dump)
        self.tables = WikiTables(
            page_props=match_inputs(config.page_props),
            items_per_site=match_inputs(config.items_per_site),
            pages=match_inputs(config.page_table),
        )
        self.entities = EntityTable.open(config.entities) if config.entities else None
        if self.entities:
            self.entities.column_of(self.dbname)
        self.pins = find_pins(config.pin_splits)
        self.template_tables = match_inputs(config.templates)
        self.language = read_language(config.language, self.template_tables)
        self.site = check_dumps(
            self.dumps,
            config.language,
            self.dbname,
            whole=config.on_corrupt == "fail",
            ignore_siteinfo=config.ignore_siteinfo,
        )

    def bytes_to_read(self, stripes: int) -> int:
        """Bytes of dump files that the workers will read: twice where templates are looked up."""
        reads = 1 + self.config.wiki_templates
        return reads * sum(dump_bytes_of(path, stripes) for path in self.dumps)

    @property
    def path(self) -> tuple[str, ...]:
        """Where the build goes below the output folder: corpus, edition, dump date and version."""
        return CORPUS, self.config.edition(), f"{self.dump_date}-{VERSION}"

    @property
    def dump_date(self) -> str:
        """The date in the name of the dump, unless the settings give one."""
        found = _DUMP_DATE.search(self.dumps[0])
        return self.config.dump_date or (found.group(1) if found else "undated")

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
        templates = self._read_templates(root, place.stripes)
        dump = root | "ReadDump" >> ReadDump(self.dumps, place.stripes, config.on_corrupt)
        articles = dump.pages | "ScreenPages" >> ScreenPages(screening.reason_to_reject)
        cleaned = articles.kept | "CleanWikitext" >> CleanWikitext(
            self.language, self.site.namespaces, templates
        )
        packed = cleaned.kept | "PackArticles" >> PackArticles()
        rejected = (dump.rejected, articles.rejected, cleaned.rejected)
        return CleanedDump(
            articles=packed,
            shards=packed
            | "ShareOut" >> ShareOut()
            | "PlanShards" >> PlanShards(SPLITS, config.shard_bytes),
            rejected=rejected | "Rejected" >> beam.Flatten(),
            unrendered=cleaned.unrendered | "TallyUnrendered" >> TallyUnrendered(),
            lost=dump.lost,
            pages=dump.pages | "CountPages" >> beam.combiners.Count.Globally(),
            inputs=root | "HashInputs" >> HashInputs(self.inputs()),
        )

    def write(self, root: beam.Pipeline, place: Place, cleaned: CleanedDump) -> None:
        """Finds out what the articles are about, and writes those of the corpus."""
        config, folder = self.config, place.folder
        linked = self._link(cleaned.articles)
        different = self._drop_near_duplicates(linked.kept, place.scratch)
        assigned = different.kept | "AssignSplits" >> AssignSplits()
        corpus = assigned.articles
        vocabulary = corpus | "LearnVocabulary" >> LearnVocabulary(
            config.subwords(), folder, f"{config.language}-{config.vocabulary_size}"
        )
        rejected = (
            cleaned.rejected,
            linked.rejected,
            different.rejected,
        ) | "Rejected" >> beam.Flatten()
        written = corpus | "WriteCorpus" >> WriteRows(folder, CORPUS, ARTICLES, cleaned.shards)
        listed = rejected | "WriteRejected" >> WriteRejected(folder)
        unrendered = cleaned.unrendered | "ListUnrendered" >> ListUnrendered(folder)
        BuildOutcome(
            inputs=cleaned.inputs,
            outputs=(written, listed, unrendered, vocabulary.files) | "Outputs" >> beam.Flatten(),
            pages=cleaned.pages,
            rejected=rejected,
            lost=cleaned.lost,
            stats=corpus | "MeasureCorpus" >> MeasureCorpus(),
            class_unknown=linked.class_unknown,
            pinned=assigned.pinned,
            subwords=vocabulary.subwords,
            subword_stats=vocabulary.stats,
        ) | "WriteManifest" >> WriteManifest(folder, self.provenance(), DESCRIPTION)

    def _read_templates(self, root: beam.Pipeline, stripes: int) -> beam.PCollection | None:
        if not self.config.wiki_templates:
            return None
        return root | "ReadTemplates" >> ReadTemplates(
            self.dumps,
            self.language,
            self.site.namespaces,
            self.dbname,
            self.entities,
            stripes,
            self.config.on_corrupt,
        )

    def _link(self, articles: beam.PCollection) -> Linked:
        pins = None
        if self.pins.files:
            pins = articles.pipeline | "ReadSplitPins" >> ReadSplitPins(self.pins.files)
        linked: Linked
        if self.links_pages:
            join = JoinWikidata(self.dbname, self.tables, self.entities, pins)
            linked = articles | "JoinWikidata" >> join
        else:
            identify = IdentifyByPage(self.dbname, self.tables.pages, pins)
            linked = articles | "IdentifyByPage" >> identify
        return linked

    def _drop_near_duplicates(self, articles: beam.PCollection, scratch: str) -> Screened:
        if not self.config.near_duplicates:
            return Screened(articles, articles.pipeline | "NoneDropped" >> beam.Create([]))
        drop = DropDuplicateArticles(scratch, self.config.near_duplicates)
        different: Screened = articles | "DropDuplicates" >> drop
        return different

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Role → paths of all files that decide about the output."""
        return {
            "dump": self.dumps,
            "page-props": self.tables.page_props,
            "items-per-site": self.tables.items_per_site,
            "page-table": self.tables.pages,
            "entities": [self.entities.manifest_path] if self.entities else [],
            "templates": self.template_tables,
            "pin-splits": self.pins.inputs,
        }

    def caveats(self) -> tuple[str, ...]:
        """What this build cannot know, for want of an input."""
        found = []
        if not self.links_pages:
            found.append(
                "No page_props, items_per_site or entity table was given: pages are not linked to Wikidata."
                f' The identity of an article is its page ("{self.dbname}:<page id>"), so the same entity may'
                " be in different splits in different languages; pages without an entity are kept, so are"
                " lists and other things of Wikimedia's own, and disambiguation pages are known by their"
                " templates only."
            )
        elif not self.entities:
            found.append(
                "No entity table was given: what class an entity belongs to is not known, so lists,"
                " categories and other things of Wikimedia's own that have an item are kept."
            )
        elif not self.tables.links_pages():
            found.append(
                "No page_props or items_per_site was given: pages are linked to Wikidata by their titles in"
                " the entity table. A page that was renamed between the two dumps has no entity."
            )
        if not self.site.dbname:
            head = "siteinfo is ignored" if self.config.ignore_siteinfo else "dump has no siteinfo"
            found.append(f"The {head}: namespaces have the names that corpusmill knows.")
        return tuple(found)

    def provenance(self) -> Provenance:
        """What the manifest says of the build before it runs."""
        config = self.config
        subwords = config.subwords()
        return Provenance(
            corpus=CORPUS,
            edition=config.edition(),
            dump_date=self.dump_date,
            version=VERSION,
            release_notes=RELEASE_NOTES,
            settings={
                "language": config.language,
                "on_corrupt": config.on_corrupt,
                "ignore_siteinfo": config.ignore_siteinfo,
                "wiki_templates": config.wiki_templates,
                **config.variant(),
                "minhash": MINHASH if config.near_duplicates else None,
                "shard_bytes": config.shard_bytes,
                "identity": "wikidata item" if self.links_pages else "page id",
                "split": "SHA-256 of the identity, first 64 bits, mod 100: <90 train, <95 validation",
                "sentencepiece": subwords.as_dict() if subwords else None,
            },
            caveats=self.caveats(),
            code=code_versions(*filter(None, [conversion_library(self.language.variants)])),
            signature_settings={
                "lang": config.language,  # the edition would tell what differs a second time
                **name_variant({k: v for k, v in config.variant().items() if v != ORIGINAL[k]}),
            },
        )
