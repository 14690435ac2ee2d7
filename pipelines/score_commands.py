"""The command `score`, with its metrics, flags and help pages."""

import argparse
import re
import sys
from collections.abc import Sequence

from corpusmill.pipelines.run.flags import Commands, Flags, add_command

METRICS = {
    "bpc": "bits per character: -log2 likelihood / characters",
    "bpb": "bits per byte: -log2 likelihood / bytes of UTF-8",
    "perplexity": "word-level perplexity: e^(-log likelihood / words)",
}
_NEGATIVE_NUMBER = re.compile(r"-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")


def add_model_metrics(metrics: Commands) -> None:
    """Scores a language model with any vocabulary on a split of a finished build.

    examples:
      Bits per character, from the sum of the natural log-likelihoods of the test split:
        corpusmill score bpc --log-likelihood -291834066.2 --corpus corpora/wiki40b/en/20261101-*
      Files of a training job with a row for each document, in base-2 logarithms:
        corpusmill score perplexity --log-likelihood 'run-7/part-*.parquet' --base 2 --split paper_test \\
            --corpus corpora/lm1b/en-perl-5.14/2007-2011-*
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
    languages written without spaces are scored by characters. In One Billion Word and SimpleBooks, the ends
    of lines (</S>, <eos>) count as words, as in their papers. The command also prints the other metrics,
    variants of each metric (such as characters with line feeds counted or not), and the scores of the paper,
    if the settings of the build are the paper's. In a training job, without Beam:
      from corpusmill.pipelines.inspect.language_model_scores import bits_per_character, read_normalisers

    The last printed line names the corpus, the split and the counts: cite it with the score.
    """  # noqa: E501
    for name, about in METRICS.items():
        _add(add_command(metrics, name, about, add_model_metrics.__doc__, _run_model))


def _add(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(extras=())  # only translations need sacrebleu
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


def _run_model(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from corpusmill.pipelines.inspect.score import print_score, score

    given = {name: vars(settings)[name] for name in ("log_likelihood", "perplexity", "base")}
    print_score(score(settings.metric, settings.corpus, settings.split, **given))


def add_mixture(metrics: Commands) -> None:
    """Scores a linear mixture of language models, with weights that are fitted to another split.

    examples:
      An n-gram model of One Billion Word and another model, mixed as in table 2 of its paper:
        corpusmill score mixture --corpus corpora/lm1b/en-perl-5.14/2007-2011-* \\
            --fit dev --split paper_test \\
            --models 'corpora/ngrams/lm1b-en-perl-5.14/*/*/{split}-*.parquet' \\
                     'run-7/{split}/*.parquet'

    The probability of a word is the sum of its probabilities in all models, each times the weight of the
    model. The weights are those that give the words of --fit the highest likelihood; expectation maximisation
    finds them. A row of the files has a list with a log-likelihood for each word (see `corpusmill score
    perplexity --help`), and all models must predict the same words. Both splits are kept in memory: 8 bytes
    for each word and model.
    """
    about = "perplexity of a linear mixture of models, whose weights are fitted to another split"
    flags = Flags(add_command(metrics, "mixture", about, add_mixture.__doc__, _run_mixture))
    flags.text("--corpus", "DIR", "folder of a finished build", required=True)
    flags.files(
        "--models",
        "for each model, a file or a pattern of files with log-likelihoods; {split} stands for the split",
        "PATTERN",
        required=True,
    )
    flags.text(
        "--fit",
        "SPLIT",
        "split that the weights are fitted to (default %(default)s)",
        default="validation",
    )
    flags.text("--split", "SPLIT", "split to score (default %(default)s)", default="test")
    flags.choice("--base", ("e", "2", "10"), "base of the logarithms (default %(default)s)")


def _run_mixture(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from corpusmill.pipelines.inspect.score import mix_models

    mix_models(settings.corpus, settings.models, settings.fit, settings.split, settings.base)


def add_spbleu(metrics: Commands) -> None:
    r"""Scores translations with spBLEU and chrF++. The results are those of sacrebleu.

    examples:
      A file of translations against its reference, with scores in total, by domain and by topic:
        corpusmill score spbleu --reference fra.devtest --hypothesis eng-fra.devtest \
            --model sacrebleu_tokenizer_spm.model --metadata metadata_devtest.tsv
      Several systems:
        corpusmill score spbleu --reference fra.devtest --hypothesis small.txt large.txt --model spm.model
      Many directions, with the translations in files <source>-<target>.<split>
      (or in a folder of such files for each system), and the references in the
      folder of a data set. Prints a table of directions, and the averages from
      and into each language:
        corpusmill score spbleu --reference flores101_dataset/devtest --hypothesis outputs --model spm.model
      What participants send for the hidden split test, in a folder for each of
      them. They have the package of `flores101 package --test-source`, and you
      have that of `flores101 package --with-test`:
        corpusmill score spbleu --hidden --reference withheld/test --hypothesis sent --output scores

    --model is a SentencePiece model. It is a file, or the name of a model that sacrebleu has downloaded to
    $SACREBLEU/models or ~/.sacrebleu/models: flores101 (default), flores200, spBLEU-1K. This command
    downloads nothing. With one of these three models, score and signature are those of sacrebleu with the
    tokeniser of the same name, such as `sacrebleu -tok flores101`. With any other model, the signature
    contains the hash of the model. Line n of each file is a translation of the same sentence; the text must
    not be tokenised. The last printed lines are signatures: cite them with the score.
    """
    about = "spBLEU and chrF++ of translations: BLEU over SentencePiece pieces"
    flags = Flags(add_command(metrics, "spbleu", about, add_spbleu.__doc__, _run_spbleu))
    flags.text("--reference", "PATH", "a file, or a folder with fra.devtest, …", required=True)
    flags.files(
        "--hypothesis",
        "files, or folders with eng-fra.devtest, …; or folders with such a folder for each system",
        "PATH",
        required=True,
    )
    flags.text("--model", "FILE", "SentencePiece model (see below)")
    flags.text(
        "--metadata", "PATH", "metadata_devtest.tsv, or its folder; adds scores by domain and topic"
    )
    flags.switch("--hidden", "list the files that cannot be scored, and do not name the references")
    flags.switch("--chrf", "also compute chrF, which uses no words")
    flags.switch("--bleu", "also compute BLEU over words, as WMT does")
    flags.switch("--json", "print JSON, with all domains and topics")
    flags.text("--output", "DIR", "a new folder for tables (TSV) and JSON")
    flags.workers("number of processes, which are used if there are several target languages")


def _run_spbleu(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from corpusmill.pipelines.translation.score_tables import render_files, render_json, render_text
    from corpusmill.pipelines.translation.score_translations import new_folder, score_translations

    with new_folder(settings.output) as write:
        report = score_translations(
            settings.reference,
            settings.hypothesis,
            model=settings.model,
            metadata=settings.metadata,
            more_metrics=[name for name in ("chrF", "BLEU") if getattr(settings, name.lower())],
            workers=settings.workers,
            is_hidden=settings.hidden,
        )
        for name, content in render_files(report).items():
            write(name, content)
    for warning in report.warnings:
        print(f"corpusmill: warning: {warning}", file=sys.stderr)
    sys.stdout.write(render_json(report) if settings.json else render_text(report))


def add_score(commands: Commands) -> None:
    """Scores a language model on a split of a finished build, or scores translations.

    examples:
      Bits per character, from the sum of the natural log-likelihoods of the test split:
        corpusmill score bpc --log-likelihood -291834066.2 --corpus corpora/wiki40b/en/20261101-*
      Translations into French against the FLORES-101 reference:
        corpusmill score spbleu --reference fra.devtest --hypothesis eng-fra.devtest --model spm.model

    `corpusmill score METRIC --help` explains each metric.
    """
    about = "computes bits per character, perplexity, or spBLEU of translations"
    parser = add_command(commands, "score", about, add_score.__doc__)
    metrics = parser.add_subparsers(title="metrics", required=True, metavar="METRIC", dest="metric")
    add_model_metrics(metrics)
    add_mixture(metrics)
    add_spbleu(metrics)
