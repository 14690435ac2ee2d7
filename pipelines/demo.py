"""Builds every corpus from the bundled samples, and prints the sizes of the builds."""

import argparse
import sys
from collections.abc import Sequence

from corpusmill.pipelines.run.corpora import CORPORA
from corpusmill.pipelines.run.flags import (
    Commands,
    Flags,
    add_command,
    add_json,
    add_runner,
    launch_build,
)

DEMO = "corpusmill-demo"


def add(commands: Commands) -> None:
    """Adds the command `corpusmill demo` to the parser."""
    parser = add_command(commands, "demo", "build every corpus from bundled samples", __doc__, _run)
    about = "parent folder of the builds (default %(default)s)"
    Flags(parser).text("--output", "DIR", about, default=DEMO)
    add_json(parser)
    add_runner(parser, workers=1)
    parser.set_defaults(extras=[row.name for row in CORPORA])
    parser.set_defaults(replace=True, fresh=True, ignore_memory=False, dry_run=False)
    parser.set_defaults(accept=(), is_sample=True)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from corpusmill.pipelines.inspect.build_sizes import find_sizes
    from corpusmill.pipelines.inspect.report import render_text
    from corpusmill.pipelines.sample_builds import sample_builds
    from corpusmill.transforms.files.drawing import screen_columns

    for corpus in sample_builds(settings.output):
        launch_build(corpus, settings, beam_flags)
    if not settings.json:
        sys.stdout.write(render_text(find_sizes([settings.output]), screen_columns()))
