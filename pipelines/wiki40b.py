"""Wiki-40B: cleaned articles about Wikidata entities, one corpus per language.

Method: Guo et al., "Wiki-40B: Multilingual Language Model Dataset", LREC 2020. Where we differ and
why: README, "Wiki-40B".
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence

import apache_beam as beam

from pipelines.provenance import code_versions
from transforms.assign_splits import AssignSplits
from transforms.clean_wikitext import CleanWikitext
from transforms.find_items import WikiTables
from transforms.hash_inputs import HashInputs
from transforms.join_wikidata import IdentifyByPage, JoinWikidata, Linked
from transforms.list_unrendered import ListUnrendered
from transforms.measure_corpus import MeasureCorpus
from transforms.open_input import InputError, match_inputs
from transforms.pack_articles import PackArticles
from transforms.read_dumps import ON_CORRUPT, ReadDump, check_end, dump_bytes_of, read_siteinfo
from transforms.read_entities import Entities, ReadEntities
from transforms.read_language import read_language
from transforms.read_templates import ReadTemplates
from transforms.screen import ScreenPages
from transforms.text.build_manifest import Provenance
from transforms.text.wikimedia.language import LANGUAGE_CODES, load_language
from transforms.text.wikimedia.mediawiki_xml import Siteinfo
from transforms.text.wikimedia.screening import PageScreening
from transforms.text.wikimedia.wikitext.variants.page_variants import conversion_library
from transforms.write_corpus import FEATURES, PlanShards, WriteCorpus
from transforms.write_manifest import BuildOutcome, Description, WriteManifest
from transforms.write_rejected import WriteRejected

CORPUS = "wiki40b"
VERSION = "1.1.0"
RELEASE_NOTES = {
    "1.0.0": "First build.",
    "1.1.0": (
        "Text: many more templates are shown, also by redirects and definitions of the wiki itself;"
        " indented prose and verses stay; Chinese is converted; blanks stay as authors set them."
    ),
}
SHARD_BYTES = 32 << 20

_DBNAMES = {"no": "nowiki", "zh-cn": "zhwiki", "zh-tw": "zhwiki"}
_XML_LANGUAGES = {"no": "nb", "zh-cn": "zh", "zh-tw": "zh"}
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


@dataclasses.dataclass(frozen=True)
class Wiki40bConfig:
    """Settings of one build. Those that contradict each other raise ValueError."""

    language: str  # corpus code, "zh-tw"
    dump: Sequence[str]  # patterns of pages-articles files
    page_props: Sequence[str] = ()  # patterns of <wiki>-<date>-page_props.sql.gz
    items_per_site: Sequence[str] = ()  # of wikidatawiki-<date>-wb_items_per_site.sql.gz
    page_table: Sequence[str] = ()  # of <wiki>-<date>-page.sql.gz
    entities: Sequence[str] = ()  # of wikidata-<date>-all.json.bz2
    templates: Sequence[str] = ()  # of TOML files: how templates show their arguments
    wiki_templates: bool = True  # use the redirects and definitions of templates in the dump
    dump_date: str = ""  # "20230501"; "" is taken from the name of the dump
    on_corrupt: str = "fail"
    shard_bytes: int = SHARD_BYTES  # UTF-8 bytes of text in one output file, about

    def __post_init__(self) -> None:
        load_language(self.language)
        if not self.dump:
            raise ValueError("no dump is named")
        if self.on_corrupt not in ON_CORRUPT:
            raise ValueError(f"on_corrupt is one of {ON_CORRUPT}, not {self.on_corrupt!r}")
        if self.shard_bytes < 1:
            raise ValueError(f"shard_bytes is {self.shard_bytes}, and must be positive")
        if self.entities and not (self.page_props or self.items_per_site):
            raise ValueError(
                "an entity dump is given, but neither page_props nor items_per_site,"
                " which say what entity a page is about"
            )


class Wiki40b:
    """One build: its inputs, found and looked at, and its pipeline."""

    def __init__(self, config: Wiki40bConfig):
        """Raises InputError for inputs that are missing, damaged at their ends, or of another wiki."""
        self.config = config
        self.dumps = match_inputs(config.dump)
        self.tables = WikiTables(
            page_props=match_inputs(config.page_props),
            items_per_site=match_inputs(config.items_per_site),
            pages=match_inputs(config.page_table),
        )
        self.entities = match_inputs(config.entities)
        self.dbname = _DBNAMES.get(config.language, f"{config.language}wiki")
        self.template_tables = match_inputs(config.templates)
        self.language = read_language(config.language, self.template_tables)
        self.site = _check_dumps(self.dumps, config, self.dbname)

    def bytes_to_read(self, stripes: int) -> int:
        """Bytes of dump files that the workers will read: twice where templates are looked up."""
        reads = 1 + self.config.wiki_templates
        return reads * sum(dump_bytes_of(path, stripes) for path in self.dumps)

    @property
    def path(self) -> tuple[str, ...]:
        """Where the build goes below the output folder: corpus, language, dump date and version."""
        return CORPUS, self.config.language, f"{self.dump_date}-{VERSION}"

    @property
    def dump_date(self) -> str:
        """The date in the name of the dump, unless the settings give one."""
        found = _DUMP_DATE.search(self.dumps[0])
        return self.config.dump_date or (found.group(1) if found else "undated")

    def build(self, root: beam.Pipeline, folder: str, stripes: int) -> None:
        """Adds the whole method to a pipeline that writes into `folder`."""
        config = self.config
        screening = PageScreening(self.language, not self.tables.links_pages())
        entities = self._read_entities(root)
        items = entities.entities if entities else None
        templates = self._read_templates(root, items, stripes)
        dump = root | "ReadDump" >> ReadDump(self.dumps, stripes, config.on_corrupt)
        articles = dump.pages | "ScreenPages" >> ScreenPages(screening.reason_to_reject)
        cleaned = articles.kept | "CleanWikitext" >> CleanWikitext(
            self.language, self.site.namespaces, templates
        )
        packed = cleaned.kept | "PackArticles" >> PackArticles()
        linked = self._link(packed, items)
        corpus = linked.kept | "AssignSplits" >> AssignSplits()
        shards = packed | "PlanShards" >> PlanShards(config.shard_bytes)
        rejected = (
            dump.rejected,
            articles.rejected,
            cleaned.rejected,
            linked.rejected,
            *([entities.rejected] if entities else []),
        ) | "Rejected" >> beam.Flatten()
        written = corpus | "WriteCorpus" >> WriteCorpus(folder, CORPUS, shards)
        listed = rejected | "WriteRejected" >> WriteRejected(folder)
        unrendered = cleaned.unrendered | "ListUnrendered" >> ListUnrendered(folder)
        BuildOutcome(
            inputs=root | "HashInputs" >> HashInputs(self.inputs()),
            outputs=(written, listed, unrendered) | "Outputs" >> beam.Flatten(),
            pages=dump.pages,
            rejected=rejected,
            lost=dump.lost,
            stats=corpus | "MeasureCorpus" >> MeasureCorpus(),
            class_unknown=linked.class_unknown,
        ) | "WriteManifest" >> WriteManifest(folder, self.provenance(), DESCRIPTION)

    def _read_entities(self, root: beam.Pipeline) -> Entities | None:
        return root | "ReadEntities" >> ReadEntities(self.entities) if self.entities else None

    def _read_templates(
        self, root: beam.Pipeline, items: beam.PCollection | None, stripes: int
    ) -> beam.PCollection | None:
        if not self.config.wiki_templates:
            return None
        return root | "ReadTemplates" >> ReadTemplates(
            self.dumps,
            self.language,
            self.site.namespaces,
            self.dbname,
            items,
            stripes,
            self.config.on_corrupt,
        )

    def _link(self, articles: beam.PCollection, items: beam.PCollection | None) -> Linked:
        linked: Linked
        if self.tables.links_pages():
            join = JoinWikidata(self.dbname, self.tables, items)
            linked = articles | "JoinWikidata" >> join
        else:
            linked = articles | "IdentifyByPage" >> IdentifyByPage(self.dbname, self.tables.pages)
        return linked

    def inputs(self) -> Mapping[str, Sequence[str]]:
        """Role → paths of all files that decide about the output."""
        return {
            "dump": self.dumps,
            "page-props": self.tables.page_props,
            "items-per-site": self.tables.items_per_site,
            "page-table": self.tables.pages,
            "entities": self.entities,
            "templates": self.template_tables,
        }

    def caveats(self) -> tuple[str, ...]:
        """What this build cannot know, for want of an input."""
        found = []
        if not self.tables.links_pages():
            found.append(
                "No page_props or items_per_site was given: pages are not linked to Wikidata. The identity"
                f' of an article is its page ("{self.dbname}:<page id>"), so the same entity may be in'
                " different splits in different languages; pages without an entity are kept, and"
                " disambiguation pages are known by their templates only."
            )
        elif not self.entities:
            found.append(
                "No entity dump was given: what class an entity belongs to is not known, so lists,"
                " categories and other things of Wikimedia's own that have an item are kept."
            )
        if not self.site.dbname:
            found.append("The dump has no siteinfo: only the English namespace names are known.")
        return tuple(found)

    def provenance(self) -> Provenance:
        """What the manifest says of the build before it runs."""
        config = self.config
        return Provenance(
            corpus=CORPUS,
            edition=config.language,
            dump_date=self.dump_date,
            version=VERSION,
            release_notes=RELEASE_NOTES,
            settings={
                "language": config.language,
                "on_corrupt": config.on_corrupt,
                "wiki_templates": config.wiki_templates,
                "shard_bytes": config.shard_bytes,
                "identity": "wikidata item" if self.tables.links_pages() else "page id",
                "split": "SHA-256 of the identity, first 64 bits, mod 100: <90 train, <95 validation",
            },
            caveats=self.caveats(),
            code=code_versions(*filter(None, [conversion_library(self.language.variants)])),
        )


def _check_dumps(paths: Sequence[str], config: Wiki40bConfig, dbname: str) -> Siteinfo:
    """The head of the dump, once every file turned out to be one of the wiki and whole at its end."""
    for path in paths:
        site = read_siteinfo(path)
        language = _XML_LANGUAGES.get(config.language, config.language)
        if site.dbname not in ("", dbname) or (not site.dbname and site.language != language):
            is_of = site.dbname or f"a wiki in {site.language!r}"
            raise InputError(path, f"a dump of {is_of}, not of {dbname}{_suggest(site)}", 0)
        if config.on_corrupt == "fail":
            check_end(path)
    return site


def _suggest(site: Siteinfo) -> str:
    code = site.dbname.removesuffix("wiki")
    return f"; did you mean --language {code}?" if code in LANGUAGE_CODES else ""
