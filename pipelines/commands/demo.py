"""`corpusmill demo`."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.commands.flags import add_runner, launch_build
from pipelines.corpora import CORPORA

if TYPE_CHECKING:
    from pipelines.commands.flags import Commands


def add(commands: "Commands") -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "demo",
        help="build every corpus from bundled samples",
        description="Builds every corpus from samples that come with corpusmill, and shows what came out.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run, output="corpusmill-demo")
    parser.add_argument(
        "--output", metavar="DIR", help="parent folder of the builds (default %(default)s)"
    )
    add_runner(parser, workers=1)
    parser.set_defaults(extras=[row.name for row in CORPORA])
    parser.set_defaults(replace=True, fresh=True, ignore_memory=False)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from pipelines.inspect.build_sizes import find_sizes
    from pipelines.inspect.report import render_text
    from pipelines.samples.sample_builds import sample_builds

    for corpus in sample_builds(settings.output):
        launch_build(corpus, settings, beam_flags)
    sys.stdout.write(render_text(find_sizes([settings.output])))
