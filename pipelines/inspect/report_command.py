"""Shows the sizes of finished builds, with those of the papers.

examples:
  All languages below a folder, with the figures of the paper:
    corpusmill report corpora
  An HTML page with charts, in one file that needs no network:
    corpusmill report corpora --html report.html
  Some builds, for a paper, and for a program:
    corpusmill report corpora/wiki40b/uk/* corpora/wiki40b/el/* --format markdown
    corpusmill report corpora --format tsv

the table of Wiki-40B, with a row per build and the columns of Table 2 of the paper (Guo et al., LREC 2020):
  articles and sections; SentencePiece pieces and characters of each split; characters per piece;
  coverage, the share of characters with a piece of their own; the paper's articles, characters per piece and
  bits per character
  the last row is the total over the newest build of each language; – means that a build has no vocabulary
the table of all other corpora: documents and words of each split, in the build and in the paper, and the best
score in the paper. They are left out, and the reason is a note below the table, if the build has other
settings than those of the paper, such as another language, --limit or fewer shards.
Unfinished builds are only listed. With --format tsv, there is one table: that of Wiki-40B if there is a build
of it.
--html answers ten questions about every build: what was rejected and why, whether it is as large as the
paper's, how long the documents are, what changed since the previous edition, and others. It has charts, 20
documents, and a searchable list of rejected documents. --html needs the libraries of the extra "report".
"""

import argparse
import sys
from collections.abc import Sequence

from corpusmill.pipelines.run.extras import check_extras
from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_folders, add_json

FORMATS = ("text", "markdown", "tsv", "json")


def add(commands: Commands) -> None:
    """Adds the command `corpusmill report` to the parser."""
    about = "prints the sizes of finished builds, with those of the papers"
    parser = add_command(commands, "report", about, __doc__, _run)
    add_folders(parser, "builds, or folders with builds below")
    Flags(parser).choice("--format", FORMATS, "output format (default %(default)s)")
    Flags(parser).text("--html", "FILE", "write an HTML page with charts, which needs no network")
    add_json(parser)
    parser.set_defaults(extras=[])


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    if settings.html:
        _write_page(settings.folders, settings.html)
        return

    from corpusmill.pipelines.inspect.build_sizes import find_sizes
    from corpusmill.pipelines.inspect.report import RENDERERS, render_text
    from corpusmill.transforms.files.drawing import screen_columns

    found = find_sizes(settings.folders)
    if settings.json or settings.format != "text":
        shown = RENDERERS["json" if settings.json else settings.format](found)
    else:
        shown = render_text(found, screen_columns())
    sys.stdout.write(shown)


def _write_page(folders: Sequence[str], path: str) -> None:
    check_extras(["report"])

    from corpusmill.pipelines.inspect.html_report.make_report import make_report
    from corpusmill.pipelines.inspect.html_report.text_of_numbers import readable_bytes
    from corpusmill.transforms.files.safe_files import write_whole

    page = make_report(folders).encode("utf-8")
    write_whole(path, page)
    print(f"written: {path} ({readable_bytes(len(page))})")
