"""`corpusmill verify`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.commands.flags import add_runner

if TYPE_CHECKING:
    from pipelines.commands.flags import Commands

EPILOG = """\
examples:
  Everything below a folder, all languages together:
    corpusmill verify corpora
  Two builds, also of different dates: an entity must be in one split in all of them
    corpusmill verify corpora/wiki40b/en/20261101-1.2.0 corpora/wiki40b/uk/20261101-1.2.0 --report found.tsv
  On a cluster:
    corpusmill verify gs://corpora --report gs://corpora/verified.tsv --runner DataflowRunner …

what is proved:
  COMPLETED fits manifest.json, and every file in it is there with its size, SHA-256 and rows
  the files of each split hold as many articles as the manifest says were kept
  no entity is in two splits, whatever the languages and dates of its articles

Exit status: 0 all is well, 1 something is not or there is no build, 2 wrong settings.
"""


def add(commands: "Commands") -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "verify",
        help="finished builds → are all files whole, and is no entity in two splits?",
        description="Proves that finished builds are whole and that nothing leaks between splits.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run)
    parser.add_argument(
        "folders", nargs="+", metavar="DIR", help="a finished build, or a folder above some"
    )
    parser.add_argument(
        "--report",
        default="",
        metavar="FILE.tsv",
        help="takes what was checked and all that was found; the screen shows the first 20",
    )
    add_runner(parser)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from pipelines.verify import print_verdict, verify

    verdict = verify(
        settings.folders,
        runner=settings.runner,
        workers=settings.workers,
        beam_flags=beam_flags,
        report=settings.report,
    )
    print_verdict(verdict, settings.report)
    return 0 if verdict.is_sound else 1
