"""The command `corpusmill`. Flags that it does not know go to Beam's runner."""

import argparse
import dataclasses
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from transforms.text.wikimedia.language import LANGUAGE_CODES

if TYPE_CHECKING:
    from pipelines.launch import Corpus

EPILOG = """\
first steps:
  corpusmill demo                   builds every corpus from bundled samples, in a minute
  corpusmill wiki40b --help         how to build Wiki-40B from dumps on disk
"""

WIKI40B_EPILOG = """\
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit status."""
    parser = make_parser()
    settings, beam_flags = parser.parse_known_args(arguments)
    # Beam logs every error that it also raises, and warns of optional libraries that are absent.
    others = logging.INFO if settings.verbose else logging.CRITICAL
    logging.basicConfig(level=others, format="%(asctime)s %(levelname)s %(message)s")
    for package in ("pipelines", "transforms"):
        logging.getLogger(package).setLevel(logging.INFO)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # cleans up on its way
    return run(settings, beam_flags)


def run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    """Runs the command that was parsed; turns errors a person can act on into one line."""
    # Beam takes seconds to import: `--help` does not wait for it.
    from pipelines.launch import BuildError, check_beam_flags
    from pipelines.publish import TargetError
    from transforms.open_input import InputError

    try:
        check_beam_flags(beam_flags)
        settings.run(settings, beam_flags)
    except ValueError as error:
        return _fail(2, error)
    except (BuildError, InputError, TargetError) as error:
        return _fail(1, error)
    except KeyboardInterrupt:
        return _fail(130, "interrupted; nothing was published")
    return 0


def _fail(status: int, error: object) -> int:
    print(f"corpusmill: error: {error}", file=sys.stderr)
    return status


def make_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="corpusmill",
        description="Builds language-model benchmark corpora from their raw sources.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--verbose", action="store_true", help="log more")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_wiki40b(commands)
    _add_demo(commands)
    return parser


def _add_wiki40b(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "wiki40b",
        help="Wikipedia dumps → Wiki-40B: cleaned articles about Wikidata entities",
        description="Builds one language of Wiki-40B from dump files.",
        epilog=WIKI40B_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run_wiki40b)
    parser.add_argument(
        "--language",
        required=True,
        metavar="CODE",
        help=f"corpus code, one of: {' '.join(LANGUAGE_CODES)}",
    )
    files = parser.add_argument_group(
        "inputs", "file names or patterns, on any file system of Beam's (gs://, s3://, hdfs://)"
    )
    _add_files(
        files,
        "--dump",
        "pages-articles: .xml, .xml.bz2 (multistream or not), .xml.gz, .xml.xz",
        True,
    )
    _add_files(files, "--page-props", "<wiki>-<date>-page_props.sql.gz: page → Wikidata item")
    _add_files(
        files, "--items-per-site", "wikidatawiki-<date>-wb_items_per_site.sql.gz: the same by title"
    )
    _add_files(files, "--page-table", "<wiki>-<date>-page.sql.gz: a page not in it was deleted")
    _add_files(files, "--entities", "wikidata-<date>-all.json.gz (or .bz2): item → its classes")
    _add_files(
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
    _add_output(parser)
    parser.add_argument(
        "--shard-bytes",
        type=int,
        default=argparse.SUPPRESS,  # that of Wiki40bConfig
        metavar="N",
        help="text in one output file, about (default 32 MiB)",
    )
    _add_runner(parser)


def _add_demo(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "demo",
        help="build every corpus from bundled samples",
        description="Builds every corpus from samples that come with corpusmill, and shows what came out.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run_demo, output="corpusmill-demo")
    parser.add_argument(
        "--output", metavar="DIR", help="parent folder of the builds (default %(default)s)"
    )
    _add_runner(parser, workers=1)
    parser.set_defaults(replace=True)


def _add_files(
    group: argparse._ArgumentGroup, flag: str, what: str, required: bool = False
) -> None:
    group.add_argument(flag, nargs="+", default=[], metavar="FILE", help=what, required=required)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", required=True, metavar="DIR", help="parent folder of the build")
    parser.add_argument("--replace", action="store_true", help="replace a finished build")


def _add_runner(parser: argparse.ArgumentParser, workers: int | None = None) -> None:
    runner = parser.add_argument_group("where it runs", "flags not listed here are passed to Beam")
    runner.add_argument(
        "--workers",
        type=_positive,
        default=workers or os.cpu_count() or 1,
        metavar="N",
        help="processes of the in-process runner (default %(default)s)",
    )
    runner.add_argument(
        "--runner",
        default="in-process",
        metavar="NAME",
        help="in-process (default), SparkRunner, DataflowRunner, FlinkRunner, …",
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return number


def _run_wiki40b(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from pipelines.wiki40b import Wiki40b, Wiki40bConfig

    fields = {field.name for field in dataclasses.fields(Wiki40bConfig)}
    given = {name: value for name, value in vars(settings).items() if name in fields}
    _launch(Wiki40b(Wiki40bConfig(**given)), settings, beam_flags)


def _run_demo(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from pipelines.demo import sample_builds

    for corpus in sample_builds():
        _launch(corpus, settings, beam_flags)


def _launch(corpus: "Corpus", settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from pipelines.launch import launch

    launch(
        corpus,
        settings.output,
        runner=settings.runner,
        workers=settings.workers,
        beam_flags=beam_flags,
        replace=settings.replace,
    )
