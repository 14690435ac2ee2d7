"""Settings of Wiki-40B."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from corpusmill.transforms.duplicates.minhash import NGRAM_WORDS, PARAMETERS, PERMUTATIONS
from corpusmill.transforms.files.builds.manifest import (
    Description,
    Release,
    check_dump_settings,
    limit_setting,
    name_edition,
    name_variant,
)
from corpusmill.transforms.files.text import days_between
from corpusmill.transforms.models.subword_models import SubwordSettings
from corpusmill.transforms.wikipedia import wikidata
from corpusmill.transforms.wikipedia.article_accounts import COLUMNS, RELEASED, TEXTS
from corpusmill.transforms.wikipedia.screening import name_older, parse_page_id
from corpusmill.transforms.wikitext.language import (
    borrowed_tables,
    hand_written,
    has_own_tables,
    lists_headings,
    load_language,
    proof_of,
)
from corpusmill.transforms.wikitext.sections import THRESHOLDS
from corpusmill.transforms.wikitext.wikis import cldr_version

CORPUS = "wiki40b"
VERSION = "1.7.0"
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
}
RELEASE = Release(CORPUS, VERSION, RELEASE_NOTES)
SHARD_BYTES = 32 << 20
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
LEARN_HEADINGS = ("auto", "on", "off")
LEARNING = THRESHOLDS._asdict()

ORIGINAL = {"near_duplicates": 0.0, "newer_than": "", "min_words": 0}


@dataclasses.dataclass(frozen=True)
class Wiki40bConfig:
    """The settings of a build of Wiki-40B. Invalid settings raise ValueError."""

    language: str  # corpus code, "zh-tw"
    dump: Sequence[str]  # patterns of pages-articles files
    page_props: Sequence[str] = ()  # patterns of <wiki>-<date>-page_props.sql.gz
    items_per_site: Sequence[str] = ()  # patterns of wikidatawiki-<date>-wb_items_per_site.sql.gz
    page_table: Sequence[str] = ()  # patterns of <wiki>-<date>-page.sql.gz
    entities: str = ""  # folder of an entity table written by `corpusmill entities`
    templates: Sequence[str] = ()  # patterns of TOML files that define the text of templates
    newer_than: Sequence[str] = ()  # a page id, or patterns of an older dump or its page table
    wiki_templates: bool = True  # use the redirects and definitions of templates in the dump
    learn_headings: str = "auto"  # "on", "off"; "auto" is "on" if the wiki has no list of headings
    dump_date: str = ""  # "20230501"; "" is taken from the name of the dump
    on_corrupt: str = "fail"
    ignore_siteinfo: bool = False  # build although the head of the dump names another wiki
    min_words: int = 0  # articles with fewer words are rejected as stubs
    near_duplicates: float = 0.0  # least similarity of dropped articles; 0 keeps all
    pin_splits: Sequence[str] = ()  # patterns of tables (wikidata_id, split) or finished builds
    vocabulary_size: int = 32_000  # SentencePiece pieces; 0 trains none
    sample_articles: int = 100_000  # train articles from which the pieces are learned
    shard_bytes: int = SHARD_BYTES  # approximate UTF-8 bytes of text in one output file
    columns: str = "released"  # one of COLUMNS
    text: str = "markers"  # one of TEXTS; others than "markers" add a column with this form
    leave_out: Sequence[str] = ()  # patterns of files with the ids of articles to leave out
    limit: int = 0  # pages that are read; 0 reads all
    audit: int = 0  # pages whose text is compared with that of another parser; 0 audits none
    signatures: bool = False  # write the MinHash signature of each article

    def __post_init__(self) -> None:
        load_language(self.language)
        parse_page_id(self.newer_than)
        check_dump_settings(self.dump, self.dump_date, self.on_corrupt)
        if not 0 <= self.near_duplicates < 1:
            raise ValueError(
                f"near_duplicates must be at least 0 and below 1, not {self.near_duplicates}"
            )
        if self.learn_headings not in LEARN_HEADINGS:
            raise ValueError(
                f"learn_headings must be one of {', '.join(LEARN_HEADINGS)}, not {self.learn_headings!r}"
            )
        if self.learn_headings == "on" and not self.wiki_templates:
            raise ValueError(
                "learn_headings='on' needs wiki_templates=True: headings are learned in an extra first"
                " pass over the dump, and this pass is made only with wiki_templates=True"
            )
        if self.columns not in COLUMNS:
            raise ValueError(f"`columns` must be one of {', '.join(COLUMNS)}, not {self.columns!r}")
        if self.text not in TEXTS:
            raise ValueError(f"`text` must be one of {', '.join(TEXTS)}, not {self.text!r}")
        if self.min_words < 0:
            raise ValueError(f"min_words must be 0 or more, not {self.min_words}")
        if self.shard_bytes < 1:
            raise ValueError(f"shard_bytes must be positive, not {self.shard_bytes}")
        if not 0 <= self.audit <= MAX_AUDITED:
            raise ValueError(f"`audit` must be from 0 to {MAX_AUDITED:,} pages, not {self.audit}")
        self.subwords()

    def variant(self) -> dict[str, Any]:
        """Returns the settings, except the language, that distinguish corpora made from the same input."""
        newer_than = name_older(self.newer_than)
        of_new_pages = {"newer_than": newer_than} if newer_than else {}
        without_stubs = {"min_words": self.min_words} if self.min_words else {}
        named = {**of_new_pages, **without_stubs, **limit_setting(self.limit)}
        return {"near_duplicates": self.near_duplicates, **named}

    def edition(self) -> str:
        """Returns the name of the edition: the language, and the settings that differ from those in
        the paper.

        Examples are "vi" and "vi-near-duplicates-0.8".
        """
        return name_edition(self.language, self.variant(), ORIGINAL)

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
        """Returns all settings that influence the bytes of the output."""
        subwords = self.subwords()
        return {
            "language": self.language,
            "on_corrupt": self.on_corrupt,
            "ignore_siteinfo": self.ignore_siteinfo,
            "wiki_templates": self.wiki_templates,
            **({"learned_headings": LEARNING} if self.learns_headings() else {}),
            **self.variant(),
            "minhash": MINHASH if self.near_duplicates else None,
            "shard_bytes": self.shard_bytes,
            "identity": "",  # set by the build
            "split": "SHA-256 of the identity, first 64 bits, mod 100: <90 train, <95 validation",
            "sentencepiece": subwords.as_dict() if subwords else None,
            **({"audit": self.audit} if self.audit else {}),
            **({"signatures": PARAMETERS} if self.signatures else {}),
            **self._columns(),
        }

    def _columns(self) -> dict[str, str]:
        """Returns the settings `columns` and `text` if they are not the defaults."""
        chosen = {"columns": self.columns, "text": self.text}
        released = {"columns": "released", "text": "markers"}
        return {name: one for name, one in chosen.items() if one != released[name]}

    def for_signature(self) -> dict[str, str]:
        """Returns the settings in the signature, a line that identifies the build.

        These are the language, and the settings that differ from those in the paper.
        """
        differing = {k: v for k, v in self.variant().items() if v != ORIGINAL.get(k)}
        return {"lang": self.language, **name_variant(differing), **self._columns()}


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
