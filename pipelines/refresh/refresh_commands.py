"""The commands `fetch` and `refresh`, with their flags and help pages."""

import argparse
import logging
import sys
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from corpusmill.transforms.files.terminal import draw, screen_columns
from corpusmill.transforms.wikipedia.dump_folder import LAYOUTS

from ..run.corpora import OWN_FILES, rows
from ..run.flags import Commands, Flags, add_command, fill
from ..run.settings import language_code

if TYPE_CHECKING:
    from .config import RefreshConfig

_DOWNLOADS = "downloads"
_OF_CORPORA = ("language", "first_year", "last_year", "page_table", "layout", "connections")


def add_fetch(commands: Commands) -> None:
    """Downloads and checks the newest dump that one build needs, and prints the command that runs the build.

    examples:
      The pages of the Ukrainian Wikipedia, and the table of their Wikidata items:
        corpusmill fetch wiki40b --language uk
      The files of that download and their sizes:
        corpusmill fetch wiki40b --language uk --dry-run
      Wikidata's entities, which give the class of each article; more than 90 GB, once for all languages:
        corpusmill fetch entities --downloads /data/dumps
      News of some years for One Billion Word:
        corpusmill fetch lm1b --language de --first-year 2020 --last-year 2022
      All books of Project Gutenberg with their catalogue, for PG-19 and SimpleBooks:
        corpusmill fetch pg19

    Files are written to <downloads>/<source>/<date>/. Wikimedia publishes its pages in two layouts, dumps and
    Content File Exports. The newest is downloaded, unless --layout selects one. `corpusmill wiki40b --dumps`
    finds downloads with --layout dumps; the printed command names the files of any layout. Interrupted
    downloads are resumed and finished files are kept, so the same command can be repeated. Sizes and
    checksums are compared with those that the site lists; a file that differs is deleted. This command does
    not delete older files; `corpusmill refresh` does, and also builds the corpora.

    Exit status: 0 all files are complete, 1 a site or file is not available, 2 wrong settings.
    """
    about = "downloads the files of one build, and checks them"
    parser = add_command(commands, "fetch", about, add_fetch.__doc__, _run_fetch)
    parser.set_defaults(extras=["refresh"])
    known = [row.name for row in rows().values() if row.refresh not in ("", OWN_FILES)]
    parser.add_argument("corpus", choices=known, metavar="CORPUS", help=", ".join(known))
    what = Flags(parser, "what")
    what.text(
        "--language",
        "CODE",
        "for wiki40b and lm1b: the language, as a code or a name like Ukrainian",
        default=None,
        type=language_code,
    )
    what.number("--first-year", "first year of the news (default: the oldest)")
    what.number("--last-year", "last year of the news (default: the newest)")
    what.switch("--page-table", "for wiki40b: also download the table of pages", default=None)
    what.choice(
        "--layout",
        LAYOUTS,
        "for wikis: the layout to download (default: the one with the newest dump)",
        default=None,
    )
    where = Flags(parser, "servers and folder")
    where.text(
        "--downloads", "DIR", "folder for the files (default %(default)s)", default=_DOWNLOADS
    )
    where.text(
        "--contact",
        "ADDRESS",
        "your e-mail or web address, sent to the servers so that their operators can contact you (default:"
        " your user name and the name of this machine)",
    )
    where.files(
        "--mirror", "mirrors to use instead of the usual servers, the preferred one first", "URL"
    )
    where.number("--connections", "number of parallel downloads; servers allow at most 3", 2)
    where.switch("--dry-run", "only print the available files")


def _run_fetch(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from .fetch import describe, want

    given: dict[str, Any] = {
        name: value for name in _OF_CORPORA if (value := getattr(settings, name)) is not None
    }
    if settings.corpus == "wiki40b" and "language" not in given:
        raise ValueError("--language is missing: give the code of the Wikipedia to download")
    wanted = want(settings.corpus, settings.downloads, settings.contact, settings.mirror, **given)
    if not settings.contact:
        told = "%s is sent to the servers as your contact; --contact sets another one"
        logging.getLogger(__name__).info(told, wanted.settings.contact)
    found = wanted.find()
    for offers in found:
        print(describe(offers[0], settings.downloads), end="")
    if settings.dry_run:
        return
    command = wanted.fetch(found)
    print("all files are downloaded and match the site; to build:")
    print(f"  {command}")
    if wanted.table.joins:
        print(
            f"with --{wanted.table.joins} FILE, the build links articles to entities;"
            f" `corpusmill fetch {wanted.table.joins}` downloads that file"
        )


_REMEDY = "the reasons are above; correct them: the next run tries these corpora again"
LOCKED = 75  # EX_TEMPFAIL of sysexits.h: try again later


def add_refresh(commands: Commands) -> None:
    """Builds new editions of the corpora in a configuration, if their sources have changed. Safe to run any
    time.

    a minimal refresh.toml:
      [refresh]
      output    = "/srv/corpora"
      downloads = "/srv/downloads"             # a separate folder: files are removed after the build
      contact   = "corpora@example.org"        # sent to the servers in the User-Agent
      keep      = 3                            # number of editions to keep of each corpus

      [[corpus]]
      kind = "entities"                        # before the languages, which use it

      [[corpus]]
      kind = "wiki40b"
      languages = ["uk", "el"]                 # or ["paper"] for the 41 of the paper, or ["all"]
      build = { near_duplicates = 0.8 }        # flags of the command of that name, with underscores
      For a file that explains every key: corpusmill refresh --example > refresh.toml

    what it does for each [[corpus]]: finds the newest finished dump; downloads it, resuming interrupted
    downloads; builds it; checks every file of the build; compares it with the current edition; makes it the
    current edition; removes old editions and downloads. If a run was killed, the same call resumes it.

    on an object store: output = "gs://bucket/corpora" or "s3://…", and no `downloads`. Downloads are streamed
    to <output>/.downloads, without a copy on disk; state and lock are also there. The runner can then be
    Dataflow: runner = "DataflowRunner", beam_flags = ["--project=…", "--region=…", "--temp_location=gs://…"].

    files to read:
      <output>/wiki40b/uk/CURRENT              one line with the name of the current, finished edition
      <output>/wiki40b/uk/20261101-1.3.0/      an edition; not changed or removed while CURRENT names it
      <output>/wiki40b/uk/changes-20261120-1.3.0.tsv   documents changed since the previous edition
      <state>/metrics.prom                     metrics for the textfile collector of Prometheus' node exporter

    exit status:
      0    every corpus is up to date; also if there was nothing to do
      1    a corpus failed and keeps its current edition; the others were refreshed
      2    wrong settings: nothing was done
      75   another refresh with the same folders is running: nothing was done
      130  interrupted (Ctrl-C), 143 terminated (SIGTERM); the next run resumes
    """
    about = "downloads new dumps, builds and publishes new editions; for cron and other schedulers"
    parser = add_command(commands, "refresh", about, add_refresh.__doc__, _run_refresh)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--config", metavar="FILE.toml", help="the corpora to refresh, and the output folder"
    )
    what.add_argument("--example", action="store_true", help="print a configuration with comments")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--check", action="store_true", help="only check the configuration")
    dry_run = "only query the servers, and print what would be done"
    how.add_argument("--dry-run", action="store_true", help=dry_run)


def _run_refresh(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    if settings.example:
        example = resources.files("corpusmill.pipelines") / "samples" / "refresh" / "refresh.toml"
        print(example.read_text("utf-8"), end="")
        return 0
    if beam_flags:
        raise ValueError(
            f"{' '.join(beam_flags)}: refresh takes no Beam flags on the command line; set them in the file"
            " given by --config, as beam_flags = […]"
        )
    from ..run.engines.engine import set_file_options
    from .config import check_config, load_config

    config = load_config(settings.config)
    try:
        check_config(config)
    except ValueError as error:
        raise ValueError(f"{settings.config}: {error}") from None
    set_file_options(config.refresh.beam_flags)
    if settings.check:
        print(f"{settings.config}: {len(config.corpus)} corpora, no errors")
        return 0
    return _refresh(config, settings.dry_run)


def _refresh(config: "RefreshConfig", is_dry: bool) -> int:
    from corpusmill.transforms.files.errors import LOOKED_AHEAD, end_if_failed

    from ..run.publish import BusyError
    from .refresh import FAILED, Outcome, look_ahead, refresh
    from .state import locked

    what, remedy = ("would fail", LOOKED_AHEAD) if is_dry else ("failed", _REMEDY)
    try:
        if is_dry:
            outcomes = look_ahead(config)
        else:
            with locked([config.refresh.state, config.refresh.downloads]) as check_lock:
                outcomes = refresh(config, check_lock)
    except BusyError as error:
        print(fill(f"corpusmill: error: {error}"), file=sys.stderr)
        return LOCKED
    print(draw(Outcome._fields, outcomes, key=3, width=screen_columns()), end="")
    failed = [one.corpus for one in outcomes if one.status == FAILED]
    end_if_failed(failed, len(outcomes), f"corpora {what}", remedy)
    return 0
