"""Scores a language model on a split of a finished build, whatever its pieces.

examples:
  The sum of the natural log-likelihoods of all pieces of the test split:
    corpusmill score bpc --pieces-log-likelihood -291834066.2 --corpus corpora/wiki40b/en/20261101-1.3.0
  One log-likelihood a line, of each piece or of each article, in bits:
    corpusmill score bpc --pieces-log-likelihood model.txt.gz --base 2 --split validation --corpus DIR
  The perplexity per piece of a model over the pieces of the build's own SentencePiece model:
    corpusmill score bpc --perplexity-per-piece 14.24 --corpus DIR
  Per word, whatever the pieces:
    corpusmill score perplexity --pieces-log-likelihood model.txt --corpus DIR

A file must have a line for each piece or for each article of the split: who leaves text out must not score
better. The text that is scored is that of the corpus, markers and all. Words stand between white space:
languages written without are scored by characters. In a training job, without Beam:
  from transforms.text.builds.language_model_scores import bits_per_character, read_normalisers

The last line that is printed names the corpus, the split and the counts: quote it with the score.
"""

import argparse
import re
from collections.abc import Sequence

from pipelines.commands.flags import Commands, Flags, add_command

METRICS = {
    "bpc": "bits per character: -log2 likelihood / characters",
    "perplexity": "word-level perplexity: e^(-log likelihood / words)",
}
_NEGATIVE_NUMBER = re.compile(r"-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")


def add(metrics: Commands) -> None:
    """Adds the metrics of language models to those of `corpusmill score`."""
    for name, about in METRICS.items():
        _add(add_command(metrics, name, about, __doc__, _run))


def _add(parser: argparse.ArgumentParser) -> None:
    # argparse knows -1234.5 for a number and takes -1.2345e3 for a flag.
    parser._negative_number_matcher = _NEGATIVE_NUMBER
    flags = Flags(parser)
    flags.text("--corpus", "DIR", "a finished build", required=True)
    flags.choice("--split", ("test", "validation", "train"), "default %(default)s")
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument(
        "--pieces-log-likelihood",
        dest="log_likelihood",
        default="",
        metavar="X",
        help="the sum over all pieces, or a file (pattern) with a line for each piece or article",
    )
    given.add_argument(
        "--perplexity-per-piece",
        dest="perplexity",
        type=float,
        metavar="P",
        help="over the pieces of the build's own SentencePiece model",
    )
    flags.choice("--base", ("e", "2", "10"), "of the logarithms (default %(default)s)")


def _run(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from pipelines.inspect.score import print_score, score

    given = {name: vars(settings)[name] for name in ("log_likelihood", "perplexity", "base")}
    print_score(score(settings.metric, settings.corpus, settings.split, **given))
