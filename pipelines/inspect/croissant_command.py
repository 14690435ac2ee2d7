"""Writes Croissant metadata for finished builds, so that other tools can describe and load them.

examples:
  For all languages:
    corpusmill croissant corpora/wiki40b
  With the address of the data set's web page:
    corpusmill croissant corpora/wiki40b/uk --url https://example.org/wiki40b-uk

For each edition at or below DIR, the current build is described; without a current build, the newest one:
  <output>/wiki40b/uk/croissant.json   licence, citation, columns, and files with their SHA-256

Run this command again after a new build. `corpusmill publish` also writes the file. To read the records:
  import mlcroissant
  data = mlcroissant.Dataset("corpora/wiki40b/uk/croissant.json")
  next(iter(data.records("train")))

The command needs the libraries of the extra "croissant".
"""

import argparse
from collections.abc import Sequence

from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_folders


def add(commands: Commands) -> None:
    """Adds the command `corpusmill croissant` to the parser."""
    about = "writes croissant.json for finished builds: metadata for other tools"
    parser = add_command(commands, "croissant", about, __doc__, _run)
    add_folders(parser, "builds, or folders with builds below")
    Flags(parser).text("--url", "URL", "address of the web page of the data set")


def _run(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from corpusmill.pipelines.inspect.share_croissant import write_croissants

    for path in write_croissants(settings.folders, settings.url):
        print(f"written: {path}")
