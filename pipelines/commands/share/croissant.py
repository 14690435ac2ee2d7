"""Writes Croissant metadata for finished builds, with which data-set tools describe and load them.

examples:
  For all languages:
    corpusmill croissant corpora/wiki40b
  With the page of the data set:
    corpusmill croissant corpora/wiki40b/uk --url https://example.org/wiki40b-uk

For each edition at or below DIR, the current build is described; without a current build, the newest one:
  <output>/wiki40b/uk/croissant.json   its licence, citation, columns, and files with their SHA-256

Run it again after a new build. `corpusmill publish` also writes it. To read the records:
  import mlcroissant
  data = mlcroissant.Dataset("corpora/wiki40b/uk/croissant.json")
  next(iter(data.records("train")))

It needs the libraries of the extra "croissant".
"""

import argparse
from collections.abc import Sequence

from pipelines.commands.flags import Commands, Flags, add_command, add_folders


def add(commands: Commands) -> None:
    """Adds the command to the parser."""
    about = "writes croissant.json of finished builds, metadata for ML tools"
    parser = add_command(commands, "croissant", about, __doc__, _run)
    add_folders(parser, "builds, or folders with builds below")
    Flags(parser).text("--url", "URL", "the page of the data set")


def _run(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from pipelines.share.croissant import write_croissants

    for path in write_croissants(settings.folders, settings.url):
        print(f"written: {path}")
