"""The command `wiki40b`: its settings, and its help page."""

import argparse
import dataclasses
from collections.abc import Sequence

from corpusmill.pipelines.run import flags
from corpusmill.transforms.wikipedia.dump_folder import ANY, LAYOUTS

from .wiki40b_settings import VERSION as VERSION  # for `corpusmill --version`
from .wiki40b_settings import WHICH, Wiki40bConfig


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
    multilingual: bool = WHICH.setting(
        True, "with --languages: train no vocabularies over all languages"
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
      signatures-*.parquet              with --signatures: MinHash signatures (docs/overlap.md)
      audit/                            with --audit: holes in the text, by class, template and page
      learned-headings.tsv              headings of dropped sections, if any were learned from the dump
      sentencepiece/                    a vocabulary of 32,000 pieces; stats.json counts the pieces of each split
      stats.json manifest.json README.md COMPLETED

    and with --languages, below <output>: entities/ (the table of Wikidata's items, built once for all
    languages) and wiki40b/multilingual-<number of languages>/ (vocabularies of 64,000 and 128,000 pieces).

    A folder without the file COMPLETED is unfinished; the next run replaces it. With --languages, a failed
    build does not stop the others, and the next run builds only the missing ones. Exit status: 0 done, 1 bad
    input or a failed language, 2 wrong settings.
    """  # noqa: E501
    flags.describe(parser, add.__doc__, _run)
    flags.add_build(parser, Wiki40bConfig, LanguagesConfig)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from .wiki40b_builds import build_languages, build_one

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
