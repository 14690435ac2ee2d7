"""`corpusmill wiki40b`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.commands.flags import add_files, add_output, add_runner, launch_build
from pipelines.commands.languages import build_languages, wiki40b_config
from pipelines.commands.tables import entity_table
from transforms.text.wikimedia.language import LANGUAGE_CODES

if TYPE_CHECKING:
    from pipelines.commands.flags import Commands

EPILOG = """\
examples:
  Every language there is in a folder laid out like the dump server's; those that are missing are listed:
    corpusmill wiki40b --languages all --dumps /data/dumps --output corpora
  One wiki, from the files that are named; the shell may expand the names, or quote them and corpusmill does:
    corpusmill wiki40b --language uk --output corpora \\
      --dump       'ukwiki/20261101/ukwiki-20261101-pages-articles-multistream.xml.bz2' \\
      --page-props 'ukwiki/20261101/ukwiki-20261101-page_props.sql.gz' \\
      --entities   'wikidata/20261101/wikidata-20261101-all.json.bz2'
  Only the dump: identities are page ids, and the build says what it could not know:
    corpusmill wiki40b --language el --dump elwiki-latest-pages-articles.xml.bz2 --output corpora
  A dump that was cut off, as far as it is whole:
    corpusmill wiki40b --language vi --dump viwiki.xml.xz --on-corrupt keep-good --output corpora
  A refresh: every entity stays in the split it had, new ones get theirs by the hash:
    corpusmill wiki40b … --pin-splits 'corpora/wiki40b/*/20251101-1.3.0'
  Without articles that are nearly the same as a longer one:
    corpusmill wiki40b … --near-duplicates 0.8
  On a Spark cluster (all Beam flags pass through):
    corpusmill wiki40b … --runner SparkRunner --spark_master_url spark://host:7077

where --dumps looks: <dumps>/ukwiki/20261101/ukwiki-20261101-pages-articles-multistream.xml.bz2, or its parts;
  …-page_props.sql.gz, …-page.sql.gz; <dumps>/wikidatawiki/20261101/…-wb_items_per_site.sql.gz;
  <dumps>/wikidatawiki/entities/20261101/wikidata-20261101-all.json.bz2, or a table below <dumps>/entities.

what you get, in <output>/wiki40b/<language>/<dump date>-<version>/:
  train|validation|test-*.parquet   pyarrow, pandas, datasets.load_dataset("parquet", …)
  wiki40b-*.tfrecord-*              tfds.builder_from_directory(folder)
  rejected/                         every page that was not kept, and why
  unrendered-templates.tsv          templates that left a hole in the text, the most frequent first
  sentencepiece/                    a vocabulary of 32,000 pieces; stats.json counts in them
  stats.json manifest.json README.md COMPLETED

and from several languages, below <output>: entities/ (the table of Wikidata's items, built once) and
  wiki40b/multilingual-<number of languages>/ (vocabularies of 64,000 and 128,000 pieces)

A folder without the file COMPLETED is unfinished; the next run replaces it. With --languages, a build that
fails does not stop the others, and the next run builds only what is not there. Exit status: 0 done, 1 bad
input or a language that failed, 2 wrong settings.
"""


def add(commands: "Commands") -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "wiki40b",
        help="Wikipedia dumps → Wiki-40B: cleaned articles about Wikidata entities",
        description="Builds one language of Wiki-40B from dump files, or many from a folder of dumps.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run)
    which = parser.add_argument_group(
        "which corpora", "--language with --dump, or --languages with --dumps"
    )
    which.add_argument(
        "--language", metavar="CODE", help=f"corpus code, one of: {' '.join(LANGUAGE_CODES)}"
    )
    which.add_argument(
        "--languages", metavar="CODES", help='corpus codes with commas between, "uk,el", or "all"'
    )
    which.add_argument(
        "--dump-date",
        default="",
        metavar="DATE",
        help="with --dump: how to call the date (default: that in the name of the dump); with --dumps: which"
        ' to take, "newest" (default), "all", or one like 20261101',
    )
    files = parser.add_argument_group(
        "inputs", "file names or patterns, on any file system of Beam's (gs://, s3://, hdfs://)"
    )
    add_files(
        files,
        "--dump",
        "pages-articles: .xml, .xml.bz2 (multistream or not), .xml.gz, .xml.xz",
    )
    files.add_argument(
        "--dumps",
        nargs="+",
        default=[],
        metavar="DIR",
        help="folders like that of the dump server (see below)",
    )
    add_files(files, "--page-props", "<wiki>-<date>-page_props.sql.gz: page → Wikidata item")
    add_files(
        files, "--items-per-site", "wikidatawiki-<date>-wb_items_per_site.sql.gz: the same by title"
    )
    add_files(files, "--page-table", "<wiki>-<date>-page.sql.gz: a page not in it was deleted")
    add_files(
        files,
        "--entities",
        "item → its classes: an entity table (corpusmill entities), or wikidata-<date>-all.json.bz2 or .gz,"
        " of which the table is built first; with --dumps, default: what is found there",
    )
    add_files(
        files,
        "--templates",
        'TOML tables of your own: how templates show their arguments (README, "Templates")',
    )
    files.add_argument(
        "--no-wiki-templates",
        dest="wiki_templates",
        action="store_false",
        help="do not read the dump a first time for the redirects and definitions of its templates",
    )
    files.add_argument(
        "--on-corrupt",
        choices=("fail", "keep-good"),
        default="fail",
        help="what to do about damaged input: end with an error (default), or build what is whole",
    )
    files.add_argument(
        "--ignore-siteinfo",
        action="store_true",
        help="build although the head of the dump names another wiki",
    )
    _add_method(parser)
    add_output(parser)
    add_runner(parser)


def _add_method(parser: argparse.ArgumentParser) -> None:
    method = parser.add_argument_group("method")
    method.add_argument(
        "--pin-splits",
        nargs="+",
        default=[],
        metavar="FILE",
        help="what keeps its split: finished builds, or .tsv, .csv (also compressed) or .parquet with columns"
        " wikidata_id and split (train, validation, test; dev and valid mean validation)",
    )
    method.add_argument(
        "--near-duplicates",
        type=float,
        default=0.0,
        metavar="SIMILARITY",
        help="of articles that share this part of their eight-word sequences keep the longest (default: keep"
        " all; 0.8 is a good value); those left out are listed in rejected/",
    )
    method.add_argument(
        "--vocabulary-size",
        type=int,
        metavar="N",
        help="SentencePiece pieces (default 32,000); 0 trains none",
    )
    method.add_argument(
        "--sample-articles",
        type=int,
        metavar="N",
        help="articles of train that the pieces are learned from (default 100,000)",
    )
    method.add_argument(
        "--no-multilingual",
        dest="multilingual",
        action="store_false",
        help="with --languages: train no vocabularies over all languages",
    )
    method.add_argument(
        "--shard-bytes",
        type=int,
        metavar="N",
        help="text in one output file, about (default 32 MiB)",
    )


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    if settings.languages:
        _refuse(settings, "--languages", ("language", *_FILES))
        if not settings.dumps:
            raise ValueError("--languages needs --dumps, the folder with the dumps")
        return build_languages(settings, beam_flags)
    if not settings.language:
        raise ValueError("--language or --languages is needed: which corpora to build")
    _refuse(settings, "--language", ("dumps",))
    return _build_one(settings, beam_flags)


_FILES = ("dump", "page_props", "items_per_site", "page_table")


def _refuse(settings: argparse.Namespace, flag: str, others: Sequence[str]) -> None:
    for other in others:
        if getattr(settings, other):
            raise ValueError(f"--{other.replace('_', '-')} does not go with {flag}")


def _build_one(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from pipelines.wiki40b import Wiki40b

    wiki40b_config(
        settings, entities=""
    )  # what contradicts itself ends here, not after the entity table
    table = entity_table(settings.entities, settings, beam_flags)
    launch_build(Wiki40b(wiki40b_config(settings, entities=table)), settings, beam_flags)
    return 0
