"""`corpusmill subwords`."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pipelines.commands.flags import add_output, add_runner, launch_build, settings_of

if TYPE_CHECKING:
    from pipelines.commands.flags import Commands

EPILOG = """\
examples:
  256,000 pieces over all corpora that were built, as in the FLORES-101 paper:
    corpusmill subwords --corpora corpora --evaluate flores101 --output corpora
  With text of our own, a sentence a line, and a small vocabulary:
    corpusmill subwords --corpora corpora/wiki40b 'sw=texts/sw-*.txt.gz' --size 32000 \\
      --sentences 10000000 --output corpora

Of N sentences, but no more than all languages have, a language that has n of all gives a share proportional
to (n / all)^(1 / temperature). Where it has fewer than that, each is taken equally often, and those with
the smallest fingerprints once more; where more, those with the smallest fingerprints. Sentences are lines
of files, and those of train of builds of Wiki-40B, One Billion Word, PG-19 and SimpleBooks, of each edition
the newest. Several corpora of one language are one. One worker trains, from words and their counts; no one
holds the text. To find its first candidates, the trainer writes each word out as often as it counts, 500 MB
at a time: of 100 million sentences that is more than 10 GB of text, and tens of minutes (reckoned, not
measured).

FLORES is for --evaluate: a vocabulary that has seen it measures nothing.

what you get, in <output>/subwords/multilingual-<languages>-<size>/<newest dump date>-<version>/:
  sentencepiece.model   for `corpusmill score spbleu --model`, or sentencepiece.SentencePieceProcessor
  sentencepiece.vocab   the pieces and their scores, to be read
  stats.json            per language: sentences, sampled ones, pieces and unknown ones of what was held out
  rejected/ manifest.json README.md COMPLETED

Exit status: 0 done, 1 bad input, 2 wrong settings.
"""


def add(commands: "Commands") -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "subwords",
        help="corpora of many languages → one SentencePiece vocabulary, by temperature sampling",
        description="Trains a SentencePiece vocabulary over many languages (Goyal et al. 2022, 5.2).",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run)
    parser.add_argument(
        "--corpora",
        nargs="+",
        required=True,
        metavar="[LANG=]PATH",
        help="finished builds or folders above some; with a language also files, a sentence a line",
    )
    add_output(parser)
    parser.add_argument(
        "--evaluate",
        nargs="+",
        metavar="DIR",
        help="data sets like FLORES (devtest/ukr.devtest) to measure unknown tokens on",
    )
    parser.add_argument("--dump-date", metavar="DATE", help="date in the name of the build")
    sample = parser.add_argument_group("what is learned from")
    sample.add_argument(
        "--temperature",
        metavar="T",
        help="1 keeps the sizes of languages, more evens them (default 5)",
    )
    sample.add_argument(
        "--sentences",
        type=int,
        metavar="N",
        help="of all languages, at most, and no more than there are (default 100000000)",
    )
    sample.add_argument(
        "--seed", type=int, metavar="N", help="of the choice of sentences (default 0)"
    )
    sample.add_argument(
        "--min-count",
        type=int,
        metavar="N",
        help="leave out words that the sample has less often, where memory is short (default 1)",
    )
    model = parser.add_argument_group("the model")
    model.add_argument("--size", type=int, metavar="N", help="pieces (default 256000)")
    model.add_argument(
        "--character-coverage",
        type=float,
        metavar="SHARE",
        help="of the text whose characters get pieces (default 0.9995)",
    )
    model.add_argument(
        "--normalization",
        metavar="RULE",
        help="nmt_nfkc (default), nfkc, nmt_nfkc_cf, nfkc_cf or identity",
    )
    model.add_argument(
        "--byte-fallback",
        action="store_true",
        help="spell characters without a piece in bytes: there is no unknown token then",
    )
    add_runner(parser)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from pipelines.settings.subwords_settings import SubwordsConfig
    from pipelines.subwords import Subwords

    given = settings_of(SubwordsConfig, settings)
    launch_build(Subwords(SubwordsConfig(**given)), settings, beam_flags)
