r"""Builds one language of Wiki-40B from dump files, or many from a folder of dumps.

examples:
  All Wikipedias in a folder with the layout of the dump server:
    corpusmill wiki40b --languages all --dumps /data/dumps --output corpora
  The 41 of the paper; those that are missing are listed:
    corpusmill wiki40b --languages paper --dumps /data/dumps --output corpora
  One wiki, from the given files; patterns may be quoted, then corpusmill expands them:
    corpusmill wiki40b --language uk --output corpora \
      --dump 'ukwiki-20261101-pages-articles-multistream.xml.bz2' \
      --page-props 'ukwiki-20261101-page_props.sql.gz' \
      --entities 'wikidata-20261101-all.json.bz2'
  Only the dump: articles are identified by page ids, and the card names the missing facts:
    corpusmill wiki40b --language el --dump elwiki-latest-pages-articles.xml.bz2 --output corpora
  The undamaged part of a truncated dump:
    corpusmill wiki40b --language vi --dump viwiki.xml.xz --on-corrupt keep-good --output corpora
  A refresh: every entity keeps its split, new entities get a split by hash:
    corpusmill wiki40b … --pin-splits 'corpora/wiki40b/*/20251101-1.3.0'
  Articles that are not in a dump of 2023; or those above a page id:
    corpusmill wiki40b … --newer-than 'ukwiki-20230501-pages-articles-multistream.xml.bz2'
    corpusmill wiki40b … --newer-than 4300000
    corpusmill wiki40b --languages uk,el --dumps /data/dumps … --newer-than /data/dumps-2023
  Without near-duplicates of longer articles, and without stubs:
    corpusmill wiki40b … --near-duplicates 0.8 --min-words 20
  With an audit of 500 pages for missing words and holes in sentences:
    corpusmill wiki40b … --audit 500
  On a Spark cluster (all Beam flags pass through):
    corpusmill wiki40b … --runner SparkRunner --spark_master_url spark://host:7077

where --dumps looks, below each of its folders:
  ukwiki/20261101/ukwiki-20261101-pages-articles-multistream.xml.bz2, or its parts
  other/mediawiki_content_current/ukwiki/2026-11-01/xml/bzip2/, with SHA256SUMS: an export; also without
  other/ and mediawiki_content_current/
  ukwiki/20261101/ukwiki-20261101-page_props.sql.gz (else that of the nearest date), -page.sql.gz
  wikidatawiki/20261101/wikidatawiki-20261101-wb_items_per_site.sql.gz
  other/wikibase/wikidatawiki/20261101/wikidata-20261101-all.json.bz2, or the same below
  wikidatawiki/entities/; or a table below entities/

what you get, in <output>/wiki40b/<language>/<dump date>-<version>/:
  train|validation|test-*.parquet   pyarrow, pandas, datasets.load_dataset("parquet", …)
  wiki40b-*.tfrecord-*              tfds.builder_from_directory(folder)
  rejected/                         every page that was not kept, with the reason
  unrendered-templates.tsv          templates that left a hole, a guess or no sentence, most frequent first
  signatures-*.parquet              with --signatures: MinHash signatures (docs/overlap.md)
  audit/                            with --audit: holes in the text, by class, template and page
  learned-headings.tsv              headings of dropped sections that were learned from the dump, if any were
  sentencepiece/                    a vocabulary of 32,000 pieces; stats.json counts in them
  stats.json manifest.json README.md COMPLETED

and from several languages, below <output>: entities/ (the table of Wikidata's items, built once) and
wiki40b/multilingual-<number of languages>/ (vocabularies of 64,000 and 128,000 pieces).

A folder without the file COMPLETED is unfinished; the next run replaces it. With --languages, a failed build
does not stop the others, and the next run builds only the missing ones. Exit status: 0 done, 1 bad input or a
failed language, 2 wrong settings.
"""

import argparse
from collections.abc import Sequence

from pipelines.commands.flags import (
    STORES,
    Commands,
    Flags,
    add_command,
    add_output,
    add_runner,
    language,
)
from pipelines.commands.languages import build_languages, build_wiki40b, wiki40b_config
from pipelines.commands.tables import entity_table
from transforms.text.wikimedia.dump_layouts import ANY, LAYOUTS
from transforms.text.wikimedia.wikis import LANGUAGE_CODES


def add(commands: Commands) -> None:
    """Adds the command to the parser."""
    about = "builds Wiki-40B from Wikipedia dumps: cleaned articles about Wikidata entities"
    parser = add_command(commands, "wiki40b", about, __doc__, _run)
    which = Flags(parser, "which corpora", "--language with --dump, or --languages with --dumps")
    which.text(
        "--language",
        "CODE",
        "code of a Wikipedia, as in its address, or name of the language: hy, zh-yue, Ukrainian; zhwiki has"
        " two, zh-cn and zh-tw. Tables made by"
        f" people: {' '.join(LANGUAGE_CODES)}",
        default=None,
        type=language,
    )
    which.text(
        "--languages",
        "CODES",
        'such codes with commas between, "uk,el"; "all", those of the folder; or "paper", its 41',
    )
    which.text(
        "--dump-date",
        "DATE",
        "with --dump: the date to use (default: that in the name of the dump); with --dumps: which"
        ' to take, "newest" (default), "all", or one like 20261101 or 2026-11-01',
    )
    which.choice(
        "--layout",
        LAYOUTS,
        "with --dumps: dumps (with dumpstatus.json), exports (Content File Exports, with SHA256SUMS) or any"
        " (default): the newest of both; of one date the dump, which has tables of that date",
    )
    _add_inputs(parser)
    _add_method(parser)
    add_output(parser)
    add_runner(parser)


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    files = Flags(parser, "inputs", STORES)
    files.files("--dump", "pages-articles: .xml, .xml.bz2 (multistream or not), .xml.gz, .xml.xz")
    files.files("--dumps", "folders like that of the dump server (see below)", "DIR")
    files.files("--page-props", "<wiki>-<date>-page_props.sql.gz: page → Wikidata item")
    files.files(
        "--items-per-site", "wikidatawiki-<date>-wb_items_per_site.sql.gz: the same by title"
    )
    files.files("--page-table", "<wiki>-<date>-page.sql.gz: a page not in it was deleted")
    files.files(
        "--entities",
        "item → its classes: an entity table (corpusmill entities), or wikidata-<date>-all.json.bz2 or .gz,"
        " of which the table is built first; with --dumps, default: what is found there",
    )
    files.files(
        "--templates",
        'TOML tables of your own: how templates show their arguments (docs/wiki40b.md, "Templates")',
    )
    files.switch(
        "--no-wiki-templates",
        "do not read the dump a first time for the redirects and definitions of its templates",
        dest="wiki_templates",
        action="store_false",
    )
    files.choice(
        "--learn-headings",
        ("auto", "on", "off"),
        "in that reading, learn the headings of sections without prose (references, links, galleries), which"
        " are dropped: on, off, or auto (default): for wikis without a list of headings",
    )
    files.files(
        "--leave-out",
        "lists of articles to leave out, for example on request: an item (Q42) or a page"
        " (ukwiki:1088) a line; each is listed in rejected/",
    )
    files.on_corrupt("build what is whole")
    files.limit("pages")
    files.switch("--ignore-siteinfo", "build although the header of the dump names another wiki")


def _add_method(parser: argparse.ArgumentParser) -> None:
    method = Flags(parser, "method")
    method.files(
        "--pin-splits",
        "what keeps its split: finished builds, or .tsv, .csv (also compressed) or .parquet with columns"
        " wikidata_id and split (train, validation, test; dev and valid mean validation)",
    )
    method.files(
        "--newer-than",
        "take only pages that an older dump of the wiki does not have: its pages-articles files or its"
        " page.sql.gz; or only those above a page id; with --languages, folders like those of --dumps: of"
        " each wiki the newest dump there that is older than the one it is built from",
        "FILE|ID|DIR",
    )
    method.number(
        "--min-words",
        "leave out articles with fewer words in their paragraphs, such as stubs; in scripts without spaces"
        " between words, two characters of East Asia or four of South-East Asia count as one",
        0,
    )
    method.near_duplicates(
        "of articles that share this part of their eight-word sequences keep the longest (default: keep"
        " all; 0.8 is a good value); those left out are listed in rejected/"
    )
    method.choice(
        "--columns",
        ("released", "full"),
        "the features released (default), or with title, url of the revision, page id, date and licence of"
        " the revision, language, classes of the item and number of words",
    )
    method.choice(
        "--text",
        ("markers", "plain", "markdown"),
        "the article as it is released (default), or with a column beside it: plain_text, without markers, or"
        " markdown, with the lists and tables of the page",
    )
    method.number("--vocabulary-size", "SentencePiece pieces; 0 trains none", 32_000)
    method.number(
        "--sample-articles", "articles of train that the pieces are learned from", 100_000
    )
    method.switch(
        "--no-multilingual",
        "with --languages: train no vocabularies over all languages",
        dest="multilingual",
        action="store_false",
    )
    method.number(
        "--audit",
        "compare the text of so many pages, chosen by a hash of their ids, with what mwparserfromhell makes"
        " of their source; audit/ has what differs",
        0,
    )
    method.signatures("article")
    method.number("--shard-bytes", "text in one output file, about (default 32 MiB)")


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
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
    return _build_one(settings, beam_flags)


_FILES = ("dump", "page_props", "items_per_site", "page_table")


def _refuse(settings: argparse.Namespace, flag: str, others: Sequence[str]) -> None:
    for other in others:
        if getattr(settings, other):
            raise ValueError(f"--{other.replace('_', '-')} cannot be used with {flag}")


def _build_one(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from pipelines.wiki40b import Wiki40b

    wiki40b_config(
        settings, entities=""
    )  # contradictory settings are errors here, not after the entity table
    table = entity_table(settings.entities, settings, beam_flags, [settings.language])
    build_wiki40b(Wiki40b(wiki40b_config(settings, entities=table)), settings, beam_flags)
    return 0
