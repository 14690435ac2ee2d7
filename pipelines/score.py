"""Scores a language model on a split of a finished build, or scores translations.

examples:
  Bits per character, from the sum of the natural log-likelihoods of the test split:
    corpusmill score bpc --log-likelihood -291834066.2 --corpus corpora/wiki40b/en/20261101-1.7.0
  Translations into French against the FLORES-101 reference:
    corpusmill score spbleu --reference fra.devtest --hypothesis eng-fra.devtest --model spm.model

`corpusmill score METRIC --help` explains each metric.
"""

from corpusmill.pipelines import score_model, score_spbleu
from corpusmill.pipelines.run.flags import Commands, add_command


def add(commands: Commands) -> None:
    """Adds the command `corpusmill score` to the parser."""
    about = "computes bits per character, perplexity, or spBLEU of translations"
    parser = add_command(commands, "score", about, __doc__)
    metrics = parser.add_subparsers(title="metrics", required=True, metavar="METRIC", dest="metric")
    score_model.add(metrics)
    score_spbleu.add(metrics)
