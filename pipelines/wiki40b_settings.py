"""Settings of Wiki-40B.

The command `wiki40b`: its settings, and its help page.
"""

import argparse
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from corpusmill.pipelines.run import flags, settings
from corpusmill.transforms.duplicates.minhash import NGRAM_WORDS, PERMUTATIONS
from corpusmill.transforms.files.builds.ledger import EMPTY_TRAIN, FEW_LINKS
from corpusmill.transforms.files.builds.manifest import Description, Release, check_name
from corpusmill.transforms.files.text import days_between
from corpusmill.transforms.models.subword_models import SubwordSettings
from corpusmill.transforms.wikipedia import wikidata
from corpusmill.transforms.wikipedia.article_accounts import COLUMNS, RELEASED, TEXTS
from corpusmill.transforms.wikipedia.dump_folder import ANY, LAYOUTS
from corpusmill.transforms.wikipedia.screening import name_older, parse_page_id
from corpusmill.transforms.wikitext.language import (
    LISTS,
    borrowed_tables,
    hand_written,
    has_own_tables,
    lists_headings,
    load_language,
    proof_of,
)
from corpusmill.transforms.wikitext.sections import THRESHOLDS
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES, cldr_version

CORPUS = "wiki40b"
VERSION = "1.9.1"
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
    "1.4.0": (
        "Text: a list, a verse, an example or a formula that finishes a sentence stays, an item a"
        " paragraph; a label of one or two words goes with its list; lists and code are told by the"
        " line of the source, so sentences that begin with a link, a note or a template stay;"
        " exponents are raised (10⁻¹¹); coordinates stay in sentences; hidden text and rows of links"
        " go; no blank is left before a full stop; sections about bonds stay in vi. Stubs can be left"
        " out (min_words). Vocabulary: a marker with its line feeds is one piece, and one character."
    ),
    "1.5.0": (
        "Text: of the lists that a sentence announces, more stay: those of templates, those below the"
        " headings after it, after a label or a quotation between items, of links that are described,"
        " and links in a row; verses in quotation templates stay; labels at the end of a section go;"
        " brackets, bars and signs are shown where MediaWiki shows them."
    ),
    "1.6.0": (
        "Text: a sentence with a value that cannot be known (a price or age of today, data that the dump does"
        " not have) goes, or the part of the brackets with it; explanations of symbols after 'where' stay."
    ),
    "1.6.1": "The files in `rejected/` have at most about 65,000 records each. The texts are the same.",
    "1.7.0": (
        "Text: a template that is neither in the tables nor in the dump adds no place, unit, date or"
        " country; the dump's definition takes precedence over the codes of countries and over rules for"
        " English names of templates."
    ),
    "1.8.0": (
        "Text: items of lists that are whole sentences stay, and lists after a sentence such as 'The parts"
        " are as follows.'; formulas on lines of their own stay; labels in bold go with their lists; a"
        " subsection of prose stays although its section is dropped; templates that mark a doubt keep the"
        " words that they mark; values of Wikidata are unknown values, also in modules; MediaWiki's"
        " variables, functions and switches are known by their names in all languages and compute what"
        " MediaWiki computes; entries of 30 tables that meant another template are corrected. lists chooses"
        " which lists stay."
    ),
    "1.9.0": (
        "Text: lists of HTML are treated as other lists; formulas in italics on lines of their own stay, and"
        " items of lists that are sentences in Thai; marks of doubt in nl, no, da and fi show the words that"
        " they mark."
    ),
    "1.9.1": (
        "A list item whose number is calculated from unknown values, as by #expr, is dropped. Before, it was"
        " kept without the number."
    ),
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
MINHASH = {"permutations": PERMUTATIONS, "ngram_words": NGRAM_WORDS}

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
    features=RELEASED,
    tags=("wikipedia", "wiki40b"),
)

MAX_AUDITED = 10_000  # limit of pages, because one worker holds all findings in memory
LEARNING = THRESHOLDS._asdict()

WHICH = settings.Group("which corpora", "--language with --dump, or --languages with --dumps")
INPUTS = settings.Group("inputs", settings.STORES)
METHOD = settings.Group("method")


@dataclasses.dataclass(frozen=True)
class Wiki40bConfig(settings.Config):
    """The settings of a build of Wiki-40B. Invalid settings raise ValueError."""

    doubts = (EMPTY_TRAIN, FEW_LINKS)

    language: str = WHICH.setting(
        help="code of a Wikipedia, as in its address, or name of the language: hy, zh-yue, Ukrainian; for"
        " zhwiki, zh-cn or zh-tw. Languages with hand-made tables of headings and templates:"
        f" {' '.join(LANGUAGE_CODES)}",
        check=lambda _, language: load_language(language),
        metavar="CODE",
        required=False,
        type=settings.language_code,
    )
    dump: Sequence[str] = INPUTS.setting(
        help="pages-articles: .xml, .xml.bz2 (multistream or not), .xml.gz, .xml.xz", required=False
    )
    page_props: Sequence[str] = INPUTS.setting(
        (), "<wiki>-<date>-page_props.sql.gz: the Wikidata item of each page id"
    )
    items_per_site: Sequence[str] = INPUTS.setting(
        (), "wikidatawiki-<date>-wb_items_per_site.sql.gz: the Wikidata item of each title"
    )
    page_table: Sequence[str] = INPUTS.setting(
        (), "<wiki>-<date>-page.sql.gz: pages that are not in it were deleted and are rejected"
    )
    entities: str = INPUTS.setting(
        "",
        "the classes of Wikidata items: an entity table (made by corpusmill entities), or"
        " wikidata-<date>-all.json.bz2 or .gz, from which the table is built first; default with --dumps: the"
        " one found there",
        metavar="FILE",
        nargs="+",
    )
    templates: Sequence[str] = INPUTS.setting(
        (), 'your own TOML tables of the text of templates (docs/wiki40b.md, "Templates")'
    )
    dump_date: str = WHICH.setting(
        "",
        "with --dump: the date in the name of the build (default: that in the name of the dump);"
        " with --dumps:"
        ' which dumps to use: "newest" (default), "all", or a date like 20261101 or 2026-11-01',
        check=check_name,
    )
    wiki_templates: bool = INPUTS.setting(
        True,
        "do not use the wiki's own template pages, which requires a first reading of the dump",
        part_of=settings.EDITION,
    )
    learn_headings: str = INPUTS.setting(
        "auto",
        "in the first reading of the dump, learn the headings of sections without prose (references, links,"
        " galleries), which are dropped: on, off, or auto (default), only for wikis without a list"
        " of headings",
        part_of=settings.EDITION,
        choices=("auto", "on", "off"),
    )
    leave_out: Sequence[str] = INPUTS.setting(
        (),
        "lists of articles to leave out, for example on request, with an item (Q42) or a page"
        " (ukwiki:1088) per line; the articles are listed in rejected/",
    )
    on_corrupt: str = INPUTS.on_corrupt("build from its undamaged part")
    ignore_siteinfo: bool = INPUTS.setting(
        False, "build although the header of the dump names another wiki", part_of=settings.MANIFEST
    )
    pin_splits: Sequence[str] = METHOD.setting(
        (),
        "use the splits of earlier releases: finished builds; the folder or files of the released Wiki-40B,"
        " whose names have the split; or .tsv, .csv (also compressed) or .parquet with the columns"
        " wikidata_id and split (train, validation, test; dev and valid mean validation)",
    )
    near_duplicates: float = METHOD.near_duplicates(
        "keep only the longest of the articles that share at least this part of their eight-word sequences"
        " (default: keep all; 0.8 is a good value); the dropped ones are listed in rejected/"
    )
    newer_than: Sequence[str] = METHOD.setting(
        (),
        "use only pages that are not in an older dump of the wiki, given by its pages-articles files or its"
        " page.sql.gz; or only pages above a page id; with --languages, folders with the layout of"
        " --dumps, of"
        " which the newest dump that is older than the one to build is used",
        part_of=settings.EDITION,
        metavar="FILE|ID|DIR",
    )
    min_words: int = METHOD.setting(
        0,
        "reject articles with fewer words in their paragraphs, such as stubs; in scripts without spaces"
        " between words, two characters (East Asia) or four (South-East Asia) count as a word"
        " (default %(default)s)",
        part_of=settings.EDITION,
        at_least=0,
    )
    lists: str = METHOD.setting(
        LISTS[0],
        "sentences: keep the items of lists that are whole sentences, and lists that a sentence announces"
        " (default); none: drop all lists, as in the paper; all: keep all lists",
        part_of=settings.EDITION,
        choices=LISTS,
    )
    limit: int = INPUTS.limit("pages")
    vocabulary_size: int = METHOD.setting(
        32_000, "number of SentencePiece pieces; 0 trains no vocabulary (default %(default)s)"
    )
    sample_articles: int = METHOD.setting(
        100_000, "number of articles in train from which pieces are learned (default %(default)s)"
    )
    shard_bytes: int = METHOD.setting(
        32 << 20,
        "approximate bytes of text in one output file (default 32 MiB)",
        part_of=settings.MANIFEST,
        at_least=1,
    )
    audit: int = METHOD.setting(
        0,
        "compare the text of N pages, chosen by a hash of their ids, with the text that mwparserfromhell"
        " extracts; audit/ lists the differences (default %(default)s)",
        part_of=settings.MANIFEST,
        omit_default=True,
        at_least=0,
        at_most=MAX_AUDITED,
    )
    formats: str = METHOD.formats()
    columns: str = METHOD.setting(
        "released",
        "released: the columns of the released corpus (default); full: also title, url of the revision, page"
        " id, date and licence of the revision, language, classes of the item, number of words",
        part_of=settings.EDITION,
        choices=tuple(COLUMNS),
    )
    text: str = METHOD.setting(
        "markers",
        "markers: the text as in the released corpus (default); plain: also a column plain_text, without"
        " markers; markdown: also a column markdown, with the lists and tables of the page",
        part_of=settings.EDITION,
        choices=tuple(TEXTS),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_page_id(self.newer_than)
        if self.learn_headings == "on" and not self.wiki_templates:
            raise ValueError(
                "learn_headings='on' needs wiki_templates=True: headings are learned in an extra first"
                " pass over the dump, and this pass is made only with wiki_templates=True"
            )
        self.subwords()

    def variant(self) -> dict[str, Any]:
        """Returns the settings, except the language, that distinguish corpora made from the same input, and
        differ from the defaults.
        """
        variant = super().variant() | {"newer_than": name_older(self.newer_than)}
        usual = self.original()
        return {
            name: value
            for name, value in variant.items()
            if value != usual[name] and (value or value is False)
        }

    def subwords(self) -> SubwordSettings | None:
        """Returns the settings of the vocabulary; None if no vocabulary is trained."""
        if not self.vocabulary_size:
            return None
        return SubwordSettings(self.vocabulary_size, self.sample_articles)

    def learns_headings(self) -> bool:
        """Returns True if the headings of sections without prose are learned from the dump."""
        if self.learn_headings == "auto":
            return self.wiki_templates and not has_own_tables(self.language)
        return self.learn_headings == "on"

    def for_manifest(self) -> dict[str, Any]:
        """Returns all settings that influence the bytes of the output, in the order of earlier manifests."""
        subwords, own = self.subwords(), self.part(settings.MANIFEST)
        first = ("on_corrupt", "ignore_siteinfo", "wiki_templates")
        return {
            "language": self.language,
            **{name: getattr(self, name) for name in first},
            **({"learned_headings": LEARNING} if self.learns_headings() else {}),
            "near_duplicates": self.near_duplicates,
            **self.variant(),
            "lists": self.lists,
            "minhash": MINHASH if self.near_duplicates else None,
            "shard_bytes": self.shard_bytes,
            "identity": "",  # set by the build
            "split": "SHA-256 of the identity, first 64 bits, mod 100: <90 train, <95 validation",
            "sentencepiece": subwords.as_dict() if subwords else None,
            **own,
        }


def linking_caveats(
    dbname: str,
    sources: Sequence[wikidata.LinkSource],
    has_entities: bool,
    dump_date: str = "",
    page_table_date: str = "",
) -> Iterator[str]:
    """Yields caveats about pages that cannot be linked to Wikidata entities, or may be linked wrongly.

    Reasons are a missing table, or a table with another date than the dump.

    Args:
      dbname: The name of the wiki, such as "ukwiki".
      sources: The tables that link pages to entities.
      has_entities: Whether there is an entity table.
      dump_date, page_table_date: Dates such as "20261101"; "" if unknown.
    """
    if not sources:
        yield (
            "No page_props, items_per_site or entity table was given: pages are not linked to Wikidata."
            f' The identity of an article is its page ("{dbname}:<page id>"), so the same entity may'
            " be in different splits in different languages; pages without an entity are kept, so are"
            " lists and other things of Wikimedia's own, and disambiguation pages are known by their"
            " templates only."
        )
    elif not has_entities:
        yield (
            "No entity table was given: what class an entity belongs to is not known, so lists,"
            " categories and other things of Wikimedia's own that have an item are kept."
        )
    for source in sources:
        if not source.is_exact:
            pages = "Pages" if source == sources[0] else "Other pages"
            yield f"{pages} are linked to Wikidata {_describe_source(source, dump_date)}"
    if page_table_date and days_between(page_table_date, dump_date) > 0:
        yield (
            f"The page table is of {page_table_date}, and the dump of {dump_date}: pages that were made"
            " in between are taken to be deleted."
        )


def language_caveats(code: str) -> Iterator[str]:
    """Yields a caveat if the tables of headings and templates for a language were made automatically.

    Such tables were not checked by people.
    """
    if not proof_of(code):
        by_hand = "".join(
            f" Entries of {name}.toml were written by hand." for name in hand_written(code)
        )
        yield (
            "The tables of this language were not proven by people. Names of namespaces are those of the"
            " dump's head and of MediaWiki; words of redirects, templates of disambiguation pages and digits"
            f" are MediaWiki's; dates, units, names of languages and countries are those of CLDR"
            f" {cldr_version()}. Templates show what the wiki's own definitions say where they are plain"
            f" text, else what those of the English Wikipedia show, without its words.{by_hand}"
        )


def _describe_source(source: wikidata.LinkSource, dump_date: str) -> str:
    dates = f"of {source.date or 'an unknown date'}, the dump of {dump_date or 'an unknown date'}"
    by = f"by {source.by} in {_TABLE_NAMES[source.table]} ({dates}): "
    if source.by == wikidata.PAGE_ID:
        return by + (
            "pages that were made in between are not in it, and those that were given another entity in"
            " between have the wrong one."
        )
    since = wikidata.redirects_since([source])
    is_earlier = since and days_between(since, dump_date) >= 0
    unless = f" unless the title redirects to it since {since}" if is_earlier else ""
    return by + (
        f"a page that was renamed in between has no entity{unless}, and one that took over the title of"
        " another has the entity of that."
    )


_TABLE_NAMES = {
    wikidata.PAGE_PROPS: "page_props",
    wikidata.ITEMS_PER_SITE: "wb_items_per_site",
    wikidata.ENTITIES: "the entity table",
}


def heading_caveats(code: str, learns: bool) -> Iterator[str]:
    """Yields a caveat if the headings of dropped sections are learned from the dump, or if the language has
    no list of such headings.

    Args:
      learns: Whether headings are learned from the dump.
    """
    is_own, lender = lists_headings(code), borrowed_tables(code)
    if learns:
        wikis = "" if is_own else f" for {lender or 'all wikis'}"
        yield (
            "Headings of sections without prose (references, links, galleries) are learned from the dump,"
            f" beside those that people listed{wikis};"
            " learned-headings.tsv has them, with what is under them."
        )
    elif not is_own:
        known = f"headings that people listed for {lender}" if lender else "English headings"
        yield (
            f"Of sections without prose only the {known} are known: what is left of other sections"
            " of references and links is in the text."
        )


@dataclasses.dataclass(frozen=True)
class LanguagesConfig:
    """The settings of a run that builds many languages, beside those of each build."""

    languages: str = WHICH.setting(
        "",
        'several codes, separated by commas: "uk,el"; or "all" for all languages with a dump; or "paper" for'
        " the 41 languages of the paper",
        metavar="CODES",
    )
    dumps: Sequence[str] = WHICH.setting(
        (), "folders with the layout of the dump server (see below)", metavar="DIR"
    )
    layout: str = WHICH.setting(
        ANY,
        "with --dumps: which files to use: dumps (with dumpstatus.json), exports (Content File Exports, with"
        " SHA256SUMS), or any (default), the newest of both; if both have the same date, the dump is used,"
        " because it has tables of that date",
        choices=LAYOUTS,
    )


def add(parser: argparse.ArgumentParser) -> None:
    r"""Builds one language of Wiki-40B from dump files, or many from a folder of dumps.

    examples:
      All Wikipedias in a folder with the layout of the dump server:
        corpusmill wiki40b --languages all --dumps /data/dumps --output corpora
      The 41 languages of the paper; missing ones are listed:
        corpusmill wiki40b --languages paper --dumps /data/dumps --output corpora
      One wiki, from the given files; quoted patterns are expanded by corpusmill:
        corpusmill wiki40b --language uk --output corpora \
          --dump 'ukwiki-20261101-pages-articles-multistream.xml.bz2' \
          --page-props 'ukwiki-20261101-page_props.sql.gz' \
          --entities 'wikidata-20261101-all.json.bz2'
      From the dump alone: articles are identified by page ids, and the card lists what is missing:
        corpusmill wiki40b --language el --dump elwiki-latest-pages-articles.xml.bz2 --output corpora
      The undamaged part of a truncated dump:
        corpusmill wiki40b --language vi --dump viwiki.xml.xz --on-corrupt keep-good --output corpora
      A newer dump, in which every entity keeps its split; new entities get a split by hash:
        corpusmill wiki40b … --pin-splits 'corpora/wiki40b/*/20251101-1.3.0'
      Only articles that are not in a dump of 2023, or only those above a page id:
        corpusmill wiki40b … --newer-than 'ukwiki-20230501-pages-articles-multistream.xml.bz2'
        corpusmill wiki40b … --newer-than 4300000
        corpusmill wiki40b --languages uk,el --dumps /data/dumps … --newer-than /data/dumps-2023
      Without near-duplicates of longer articles, and without stubs:
        corpusmill wiki40b … --near-duplicates 0.8 --min-words 20
      With an audit of 500 pages for missing words and holes in sentences:
        corpusmill wiki40b … --audit 500
      On a Spark cluster (all Beam flags pass through):
        corpusmill wiki40b … --runner SparkRunner --spark_master_url spark://host:7077

    where files are searched, below each folder of --dumps:
      ukwiki/20261101/ukwiki-20261101-pages-articles-multistream.xml.bz2, or its parts
      other/mediawiki_content_current/ukwiki/2026-11-01/xml/bzip2/, with SHA256SUMS: an export; the folders other/
      and mediawiki_content_current/ may be missing
      ukwiki/20261101/ukwiki-20261101-page_props.sql.gz (or the one with the nearest date), -page.sql.gz
      wikidatawiki/20261101/wikidatawiki-20261101-wb_items_per_site.sql.gz
      other/wikibase/wikidatawiki/20261101/wikidata-20261101-all.json.bz2, or the same file below
      wikidatawiki/entities/; or a finished entity table below entities/

    what you get, in <output>/wiki40b/<language>/<dump date>-<version>/:
      train|validation|test-*.parquet   pyarrow, pandas, datasets.load_dataset("parquet", …)
      wiki40b-*.tfrecord-*              tfds.builder_from_directory(folder)
      train|validation|test-*.jsonl     with --formats: JSON lines, text and others (docs/formats.md)
      rejected/                         every page that was not kept, with the reason
      unrendered-templates.tsv          templates whose text is not defined in any table, most frequent first
      audit/                            with --audit: holes in the text, by class, template and page
      learned-headings.tsv              headings of dropped sections, if any were learned from the dump
      sentencepiece/                    a vocabulary of 32,000 pieces; stats.json counts the pieces of each split
      stats.json manifest.json README.md COMPLETED

    and with --languages, below <output>: entities/ (the table of Wikidata's items, built once for all
    languages). At the end, the command is printed that trains a vocabulary over all of them.

    A folder without the file COMPLETED is unfinished; the next run replaces it. With --languages, a failed
    build does not stop the others, and the next run builds only the missing ones. Exit status: 0 done, 1 bad
    input or a failed language, 2 wrong settings.
    """  # noqa: E501
    flags.describe(parser, add.__doc__, _run)
    flags.add_build(parser, Wiki40bConfig, LanguagesConfig)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from .batch import build_languages, build_one

    if settings.languages:
        _refuse(settings, "--languages", ("language", *_FILES))
        if not settings.dumps:
            raise ValueError("--languages needs --dumps DIR, the folder with the dumps")
        return build_languages(settings, beam_flags)
    if not settings.language:
        raise ValueError("--language or --languages is missing: name the corpora to build")
    _refuse(settings, "--language", ("dumps",))
    if settings.layout != ANY:
        raise ValueError("--layout needs --dumps")
    return build_one(settings, beam_flags)


_FILES = ("dump", "page_props", "items_per_site", "page_table")


def _refuse(settings: argparse.Namespace, flag: str, others: Sequence[str]) -> None:
    for other in others:
        if getattr(settings, other):
            raise ValueError(f"--{other.replace('_', '-')} cannot be used with {flag}")
