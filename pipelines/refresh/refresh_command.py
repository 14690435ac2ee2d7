"""Builds new editions of the corpora in a configuration, if their sources have changed. Safe to run any time.

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

on an object store: output = "gs://bucket/corpora" or "s3://…", and no `downloads`. Downloads are streamed to
<output>/.downloads, without a copy on disk; state and lock are also there. The runner can then be Dataflow:
runner = "DataflowRunner", beam_flags = ["--project=…", "--region=…", "--temp_location=gs://…"].

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

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from corpusmill.pipelines.run.command_parser import fill
from corpusmill.pipelines.run.flags import Commands, add_command

if TYPE_CHECKING:
    from corpusmill.pipelines.refresh.config import RefreshConfig
    from corpusmill.pipelines.refresh.refresh import Prospect

_REMEDY = "the reasons are above; correct them: the next run tries these corpora again"
LOCKED = 75  # EX_TEMPFAIL of sysexits.h: try again later


def add(commands: Commands) -> None:
    """Adds the command `corpusmill refresh` to the parser."""
    about = "downloads new dumps, builds and publishes new editions; for cron and other schedulers"
    parser = add_command(commands, "refresh", about, __doc__, _run)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--config", metavar="FILE.toml", help="the corpora to refresh, and the output folder"
    )
    example = "print a configuration with comments"
    what.add_argument("--example", action="store_true", help=example)
    how = parser.add_mutually_exclusive_group()
    check = "only check the configuration"
    how.add_argument("--check", action="store_true", help=check)
    dry_run = "only query the servers, and print what would be done"
    how.add_argument("--dry-run", action="store_true", help=dry_run)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from corpusmill.pipelines.refresh.config import load_config
    from corpusmill.pipelines.run.engines.file_options import set_file_options

    if settings.example:
        return _print_example()
    if beam_flags:
        raise ValueError(
            f"{' '.join(beam_flags)}: refresh takes no Beam flags on the command line; set them in the file"
            " given by --config, as beam_flags = […]"
        )
    config = load_config(settings.config)
    _check(settings.config, config)
    set_file_options(config.refresh.beam_flags)
    if settings.check:
        print(f"{settings.config}: {len(config.corpus)} corpora, no errors")
        return 0
    return _look_ahead(config) if settings.dry_run else _refresh(config)


def _print_example() -> int:
    from importlib import resources

    example = resources.files("corpusmill.pipelines") / "samples" / "refresh" / "refresh.toml"
    print(example.read_text("utf-8"), end="")
    return 0


def _check(path: str, config: "RefreshConfig") -> None:
    """Raises ValueError if a configuration has settings that do not suit its corpora or its runner.

    Args:
      path: The path of the configuration file, for the error message.
      config: The content of the configuration file.
    """
    from corpusmill.pipelines.refresh.check_config import check_config

    try:
        check_config(config)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _refresh(config: "RefreshConfig") -> int:
    from corpusmill.pipelines.refresh.lock import LockedError, locked
    from corpusmill.pipelines.refresh.refresh import FAILED, refresh
    from corpusmill.transforms.files.errors import end_if_failed

    try:
        with locked([config.refresh.state, config.refresh.downloads]) as check_lock:
            outcomes = refresh(config, check_lock)
    except LockedError as error:
        print(fill(f"corpusmill: error: {error}"), file=sys.stderr)
        return LOCKED
    widest = max(len(one.label) for one in outcomes)
    for one in outcomes:
        print(fill(f"{one.label:{widest}}  {one.status:10}  {one.message}"))
    failed = [one.label for one in outcomes if one.status == FAILED]
    end_if_failed(failed, len(outcomes), "corpora failed", _REMEDY)
    return 0


def _look_ahead(config: "RefreshConfig") -> int:
    from corpusmill.pipelines.refresh.refresh import look_ahead
    from corpusmill.transforms.files.errors import LOOKED_AHEAD, end_if_failed

    prospects = look_ahead(config)
    for prospect in prospects:
        print(fill(f"{prospect.label}: {_describe(prospect)}"))
    failed = [one.label for one in prospects if one.error]
    end_if_failed(failed, len(prospects), "corpora would fail", LOOKED_AHEAD)
    return 0


def _describe(prospect: "Prospect") -> str:
    if prospect.error:
        return prospect.error
    if not prospect.plan:
        return "no dump is finished yet"
    plan = prospect.plan
    if not plan.is_newer:
        return f"up to date: {plan.folder}/{plan.current}"
    files = [file for dump in plan.dumps for file in dump.all_files]
    size = sum(max(file.size, 0) for file in files)
    place = f"{plan.folder}/{plan.edition}" if plan.folder else plan.edition
    after = f", after {plan.current}" if plan.current else ""
    return f"would make {place}{after}, from {len(files)} files of {size:,} bytes"
