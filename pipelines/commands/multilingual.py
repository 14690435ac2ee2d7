"""`corpusmill multilingual`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.commands.flags import add_output, add_runner, launch_build, settings_of

if TYPE_CHECKING:
    from pipelines.commands.flags import Commands

EPILOG = """\
examples:
  64k and 128k pieces over all languages that were built, as in the paper:
    corpusmill multilingual --corpora corpora --output corpora
  Over three languages, 20,000 articles of each:
    corpusmill multilingual --corpora corpora/wiki40b/uk corpora/wiki40b/pl corpora/wiki40b/cs \\
      --sample-articles 20000 --vocabulary-sizes 48000 --output slavic

The newest finished build of each language is taken, and its first articles of train: the same from each
language, however large it is. One worker trains; the others count.

what you get, in <output>/wiki40b/multilingual-<languages>/<newest dump date>-<version>/:
  sentencepiece/multilingual-64k.model   sentencepiece.SentencePieceProcessor(model_file=…)
  sentencepiece/multilingual-64k.vocab   the pieces and their scores, to be read
  stats.json                             pieces and characters: vocabulary → language → split
  manifest.json README.md COMPLETED

Exit status: 0 done, 1 bad input, 2 wrong settings.
"""


def add(commands: "Commands") -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "multilingual",
        help="finished builds of Wiki-40B → SentencePiece vocabularies over all their languages",
        description="Trains multilingual SentencePiece vocabularies on finished builds of Wiki-40B.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run)
    parser.add_argument(
        "--corpora",
        nargs="+",
        required=True,
        metavar="DIR",
        help="finished builds, or folders above some",
    )
    add_output(parser)
    parser.add_argument(
        "--vocabulary-sizes",
        nargs="+",
        type=int,
        metavar="N",
        help="pieces of each vocabulary (default 64000 128000)",
    )
    parser.add_argument(
        "--sample-articles",
        type=int,
        metavar="N",
        help="articles of train of each language to learn from (default 10000)",
    )
    add_runner(parser)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from pipelines.settings.wiki40b_multilingual_settings import MultilingualConfig
    from pipelines.wiki40b_multilingual import Wiki40bMultilingual

    given = settings_of(MultilingualConfig, settings)
    launch_build(Wiki40bMultilingual(MultilingualConfig(**given)), settings, beam_flags)
