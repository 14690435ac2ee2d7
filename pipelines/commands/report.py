"""Shows the sizes of finished builds, those of Wiki-40B beside those of the paper.

examples:
  All languages below a folder, beside the figures of the paper:
    corpusmill report corpora
  Some builds, for a paper, and for a program:
    corpusmill report corpora/wiki40b/uk/* corpora/wiki40b/el/* --format markdown
    corpusmill report corpora --format tsv

what is shown of Wiki-40B, as in Table 2 of the paper (Guo et al., LREC 2020):
  articles, sections, SentencePiece pieces and characters of each split, characters per piece, coverage;
  the paper's articles, characters per piece and bits per character; a row per build, and a total of the
  newest of each language. Builds without a vocabulary show – for pieces. Unfinished builds are named, not
  shown.
Of every other corpus: documents and words of each split, beside those of the paper, and the best score of the
paper. tsv has one table: that of Wiki-40B, if there is a build of it.
"""

import argparse
import sys
from collections.abc import Sequence

from pipelines.commands.flags import Commands, Flags, add_command, add_folders, add_json

FORMATS = ("text", "markdown", "tsv", "json")


def add(commands: Commands) -> None:
    """Adds the command to the parser."""
    about = "finished builds → the table of their sizes, beside the paper's"
    parser = add_command(commands, "report", about, __doc__, _run)
    add_folders(parser, "builds, or folders with builds below")
    Flags(parser).choice("--format", FORMATS, "what to print (default %(default)s)")
    add_json(parser)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from pipelines.inspect.build_sizes import find_sizes
    from pipelines.inspect.report import RENDERERS, render_text
    from pipelines.translation.drawing import screen_columns

    found = find_sizes(settings.folders)
    if settings.json or settings.format != "text":
        shown = RENDERERS["json" if settings.json else settings.format](found)
    else:
        shown = render_text(found, screen_columns())
    sys.stdout.write(shown)
