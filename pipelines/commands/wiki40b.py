"""`corpusmill wiki40b`."""

import argparse
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.commands.flags import add_files, add_output, add_runner, launch_build
from transforms.text.wikimedia.language import LANGUAGE_CODES

if TYPE_CHECKING:
    from pipelines.commands.flags import Commands

EPILOG = """\
examples:
  A whole wiki, as the dump server has it; the shell may expand the names, or quote them and corpusmill does:
    corpusmill wiki40b --language uk --output corpora \\
      --dump       'ukwiki/20261101/ukwiki-20261101-pages-articles-multistream.xml.bz2' \\
      --page-props 'ukwiki/20261101/ukwiki-20261101-page_props.sql.gz' \\
      --entities   'wikidata/20261101/wikidata-20261101-all.json.gz'
  Only the dump: identities are page ids, and the build says what it could not know:
    corpusmill wiki40b --language el --dump elwiki-latest-pages-articles.xml.bz2 --output corpora
  A dump that was cut off, as far as it is whole:
    corpusmill wiki40b --language vi --dump viwiki.xml.xz --on-corrupt keep-good --output corpora
  On a Spark cluster (all Beam flags pass through):
    corpusmill wiki40b … --runner SparkRunner --spark_master_url spark://host:7077

what you get, in <output>/wiki40b/<language>/<dump date>-<version>/:
  train|validation|test-*.parquet   pyarrow, pandas, datasets.load_dataset("parquet", …)
  wiki40b-*.tfrecord-*              tfds.builder_from_directory(folder)
  rejected/                         every page that was not kept, and why
  unrendered-templates.tsv          templates that left a hole in the text, the most frequent first
  stats.json manifest.json README.md COMPLETED

A folder without the file COMPLETED is unfinished; the next run replaces it. Exit status: 0 done, 1 bad
input, 2 wrong settings.
"""


def add(commands: "Commands") -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "wiki40b",
        help="Wikipedia dumps → Wiki-40B: cleaned articles about Wikidata entities",
        description="Builds one language of Wiki-40B from dump files.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run)
    parser.add_argument(
        "--language",
        required=True,
        metavar="CODE",
        help=f"corpus code, one of: {' '.join(LANGUAGE_CODES)}",
    )
    files = parser.add_argument_group(
        "inputs", "file names or patterns, on any file system of Beam's (gs://, s3://, hdfs://)"
    )
    add_files(
        files,
        "--dump",
        "pages-articles: .xml, .xml.bz2 (multistream or not), .xml.gz, .xml.xz",
        True,
    )
    add_files(files, "--page-props", "<wiki>-<date>-page_props.sql.gz: page → Wikidata item")
    add_files(
        files, "--items-per-site", "wikidatawiki-<date>-wb_items_per_site.sql.gz: the same by title"
    )
    add_files(files, "--page-table", "<wiki>-<date>-page.sql.gz: a page not in it was deleted")
    add_files(files, "--entities", "wikidata-<date>-all.json.gz (or .bz2): item → its classes")
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
        "--dump-date", default="", metavar="DATE", help="default: the date in the name of the dump"
    )
    files.add_argument(
        "--on-corrupt",
        choices=("fail", "keep-good"),
        default="fail",
        help="what to do about damaged input: end with an error (default), or build what is whole",
    )
    add_output(parser)
    parser.add_argument(
        "--shard-bytes",
        type=int,
        default=argparse.SUPPRESS,  # that of Wiki40bConfig
        metavar="N",
        help="text in one output file, about (default 32 MiB)",
    )
    add_runner(parser)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from pipelines.wiki40b import Wiki40b, Wiki40bConfig

    fields = {field.name for field in dataclasses.fields(Wiki40bConfig)}
    given = {name: value for name, value in vars(settings).items() if name in fields}
    launch_build(Wiki40b(Wiki40bConfig(**given)), settings, beam_flags)
