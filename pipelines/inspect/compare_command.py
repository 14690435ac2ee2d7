"""Compares two editions of a corpus in the same language, document by document.

examples:
  What has changed in a newer dump:
    corpusmill compare wiki40b/uk/20261001-1.3.0 wiki40b/uk/20261101-1.3.0 --report changes.tsv
  On a cluster:
    corpusmill compare gs://…/20261001-1.3.0 gs://…/20261101-1.3.0 --report gs://…/changes.tsv --runner …

how documents are matched in each corpus:
{identity}
  if several rows have the same id, each row is matched with the most similar row of the other edition
  the fate of a document: added; removed; moved, if it is in another split; changed, if only its text differs

--report has a line for each document that differs between the editions, sorted by id:
  id, title, fate, old_split, new_split, old_bytes, new_bytes; FILE.tsv.json has the counts

corpora in which a document may move to another split, and the reason:
{moves}

Exit status: 0 if no document has moved to another split, or if the corpus allows moves; 1 for a move that is
not allowed, or for a missing build; 2 for wrong settings, or for builds of different corpora or languages.
"""

import argparse
from collections.abc import Sequence

from corpusmill.pipelines.run.corpora import shapes
from corpusmill.pipelines.run.flags import Commands, Flags, add_command, add_runner, runner_of


def add(commands: Commands) -> None:
    """Adds the command `corpusmill compare` to the parser."""
    about = (
        "compares two finished builds: documents added, removed, changed, or moved to another split"
    )
    parser = add_command(commands, "compare", about, _describe_corpora(__doc__ or ""), _run)
    parser.add_argument("old", metavar="OLD", help="folder of the older finished build")
    parser.add_argument("new", metavar="NEW", help="folder of the newer finished build")
    Flags(parser).text(
        "--report",
        "FILE.tsv",
        "file for the list of all documents that differ; the counts are in FILE.tsv.json",
    )
    add_runner(parser)


def _describe_corpora(text: str) -> str:
    known = shapes().items()
    identity = (
        f"  {name}: {shape.unit} "
        + (
            "by their text, whose fingerprint is the id"
            if not shape.id
            else f"{'within' if shape.repeats else 'by'} {shape.id}"
        )
        for name, shape in known
    )
    moves = (f"  {name}: {shape.why_moves}" for name, shape in known if shape.why_moves)
    return text.format(identity="\n".join(identity), moves="\n".join(moves))


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from corpusmill.pipelines.inspect.compare import compare_builds, print_changes

    how = runner_of(settings, beam_flags)
    changes = compare_builds(settings.old, settings.new, **how, report=settings.report)
    print_changes(changes, settings.report)
    return 0 if changes.is_sound else 1
