"""Scores a language model with any vocabulary on a split of a finished build.

examples:
  Bits per character, from the sum of the natural log-likelihoods of the test split:
    corpusmill score bpc --log-likelihood -291834066.2 --corpus corpora/wiki40b/en/20261101-1.7.0
  Files of a training job with a row for each document, in base-2 logarithms:
    corpusmill score perplexity --log-likelihood 'run-7/part-*.parquet' --base 2 --split paper_test \\
        --corpus corpora/lm1b/en/2007-2011-1.1.0
  Bits per character, for a model that predicts the pieces of the build's own SentencePiece model:
    corpusmill score bpc --perplexity-per-piece 14.24 --corpus DIR

rows are JSON lines (which may be compressed) or Parquet:
    {"document": 0, "log_likelihood": -812.25}
    {"document": 1, "log_likelihood": [-7.5, -0.25, -11.0]}
  document is the index of the document in the split, from 0, in the order of its Parquet files and of their
  rows. The rows may be in any order. Each document must be present once, because a model that leaves text out
  must not get a better score. log_likelihood is the value for the whole document, with its ends of lines. Or
  it is a list with a value for each piece of the build's model, or for each word and, in One Billion Word and
  SimpleBooks, each end of a line. The number of values is checked; what is in a sum cannot be checked.

The model must score the text as it is in the corpus, with markers. Words are separated by white space;
languages written without spaces are scored by characters. In One Billion Word and SimpleBooks, the ends of
lines (</S>, <eos>) count as words, as in their papers. The command also prints the other metrics, variants of
each metric (such as characters with line feeds counted or not), and the scores of the paper, if
the settings of the build are the paper's.
In a training job, without Beam:
  from corpusmill.pipelines.inspect.language_model_scores import bits_per_character, read_normalisers

The last printed line names the corpus, the split and the counts: cite it with the score.
"""

import argparse
import re
from collections.abc import Sequence

from corpusmill.pipelines.run.flags import Commands, Flags, add_command

METRICS = {
    "bpc": "bits per character: -log2 likelihood / characters",
    "bpb": "bits per byte: -log2 likelihood / bytes of UTF-8",
    "perplexity": "word-level perplexity: e^(-log likelihood / words)",
}
_NEGATIVE_NUMBER = re.compile(r"-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")


def add(metrics: Commands) -> None:
    """Adds the metrics of language models to `corpusmill score`."""
    for name, about in METRICS.items():
        _add(add_command(metrics, name, about, __doc__, _run))


def _add(parser: argparse.ArgumentParser) -> None:
    # argparse recognises -1234.5 as a number, but takes -1.2345e3 for a flag.
    parser._negative_number_matcher = _NEGATIVE_NUMBER
    flags = Flags(parser)
    flags.text("--corpus", "DIR", "folder of a finished build", required=True)
    flags.text("--split", "SPLIT", "split of the build (default %(default)s)", default="test")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument(
        "--log-likelihood",
        dest="log_likelihood",
        default="",
        metavar="X",
        help="the sum over the whole split; or a file, or a pattern of files, with a row for each document",
    )
    given.add_argument(
        "--perplexity-per-piece",
        dest="perplexity",
        type=float,
        metavar="P",
        help="the perplexity per piece of the build's own SentencePiece model",
    )
    flags.choice("--base", ("e", "2", "10"), "base of the logarithms (default %(default)s)")


def _run(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from corpusmill.pipelines.inspect.score import print_score, score

    given = {name: vars(settings)[name] for name in ("log_likelihood", "perplexity", "base")}
    print_score(score(settings.metric, settings.corpus, settings.split, **given))
