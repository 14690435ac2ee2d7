"""`corpusmill score`."""

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipelines.commands.flags import Commands

METRICS = {
    "bpc": "bits per character: -log2 likelihood / characters",
    "perplexity": "word-level perplexity: e^(-log likelihood / words)",
    "spbleu": "spBLEU and chrF++ of translations: BLEU over SentencePiece pieces",
}
EPILOG = """\
examples:
  The sum of the natural log-likelihoods of all pieces of the test split:
    corpusmill score bpc --pieces-log-likelihood -291834066.2 --corpus corpora/wiki40b/en/20261101-1.3.0
  Translations into French against the FLORES-101 reference:
    corpusmill score spbleu --reference fra.devtest --hypothesis eng-fra.devtest --model spm.model

`corpusmill score METRIC --help` tells more of each.
"""
MODEL_EPILOG = """\
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
SPBLEU_EPILOG = """\
examples:
  A file of translations against its reference, in all and by domain and topic:
    corpusmill score spbleu --reference fra.devtest --hypothesis eng-fra.devtest \\
        --model sacrebleu_tokenizer_spm.model --metadata metadata_devtest.tsv
  Several systems:
    corpusmill score spbleu --reference fra.devtest --hypothesis small.txt large.txt --model spm.model
  Many to many: files <source>-<target>.<split>, or a folder of them for each system, against the folder of
  a package; a table of directions, and the averages out of and into each language:
    corpusmill score spbleu --reference flores101_dataset/devtest --hypothesis outputs --model spm.model

--model is a file. Without it, or with one of the names flores101, flores200, spBLEU-1K, the model is the one
that sacrebleu has downloaded (below $SACREBLEU or ~/.sacrebleu, models/). Nothing is ever downloaded here.
With a released model, score and signature are those of `sacrebleu -tok flores101`; with another one the
signature names it by its hash. Line n of each file is a translation of the same sentence; text goes in as it
is, not cut into words. The last lines that are printed are signatures: quote them with the score.
"""
_NEGATIVE_NUMBER = re.compile(r"-(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$")


def add(commands: "Commands") -> None:
    """Adds the command to the parser."""
    parser = commands.add_parser(
        "score",
        help="log-likelihood of a model → bits per character, perplexity; translations → spBLEU",
        description="Scores a language model on a split of a finished build, or translations.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    metrics = parser.add_subparsers(title="metrics", required=True, metavar="METRIC", dest="metric")
    for name in ("bpc", "perplexity"):
        _add_of_model(metrics, name)
    _add_spbleu(metrics)


def _add_metric(metrics: "Commands", name: str, about: str, epilog: str) -> argparse.ArgumentParser:
    return metrics.add_parser(
        name,
        help=METRICS[name],
        description=about,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _add_of_model(metrics: "Commands", name: str) -> None:
    about = "Scores a language model on a split of a finished build, whatever its pieces."
    parser = _add_metric(metrics, name, about, MODEL_EPILOG)
    # argparse knows -1234.5 for a number and takes -1.2345e3 for a flag.
    parser._negative_number_matcher = _NEGATIVE_NUMBER
    parser.set_defaults(run=_run)
    parser.add_argument("--corpus", required=True, metavar="DIR", help="a finished build")
    parser.add_argument("--split", choices=("test", "validation", "train"), default="test")
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
    parser.add_argument(
        "--base",
        choices=("e", "2", "10"),
        default="e",
        help="of the logarithms (default %(default)s)",
    )


def _add_spbleu(metrics: "Commands") -> None:
    about = "Scores translations by spBLEU and chrF++, as sacrebleu does."
    parser = _add_metric(metrics, "spbleu", about, SPBLEU_EPILOG)
    parser.set_defaults(run=_run_spbleu)
    parser.add_argument(
        "--reference", required=True, metavar="PATH", help="a file, or a folder with fra.devtest, …"
    )
    parser.add_argument(
        "--hypothesis",
        required=True,
        nargs="+",
        metavar="PATH",
        help="files, or folders with eng-fra.devtest, … or with folders of such, one for each system",
    )
    parser.add_argument("--model", default="", metavar="FILE", help="SentencePiece model")
    parser.add_argument(
        "--metadata",
        default="",
        metavar="PATH",
        help="metadata_devtest.tsv, or its folder: scores by domain and topic",
    )
    parser.add_argument("--chrf", action="store_true", help="chrF too, without words")
    parser.add_argument("--bleu", action="store_true", help="BLEU over words too, as WMT has it")
    parser.add_argument("--json", action="store_true", help="print JSON, with all groups")
    parser.add_argument(
        "--output", default="", metavar="DIR", help="a new folder for tables (TSV) and JSON"
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes, where there are many targets (default %(default)s)",
    )


def _run(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from pipelines.inspect.score import print_score, score

    print_score(
        score(
            settings.metric,
            settings.corpus,
            settings.split,
            log_likelihood=settings.log_likelihood,
            perplexity=settings.perplexity,
            base=settings.base,
        )
    )


def _run_spbleu(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from pipelines.inspect.score_translations import new_folder, score_translations
    from pipelines.inspect.translation_score_tables import render_files, render_json, render_text

    with new_folder(settings.output) as write:
        report = score_translations(
            settings.reference,
            settings.hypothesis,
            model=settings.model,
            metadata=settings.metadata,
            more_metrics=[name for name in ("chrF", "BLEU") if getattr(settings, name.lower())],
            workers=settings.workers,
        )
        for name, content in render_files(report).items():
            write(name, content)
    for warning in report.warnings:
        print(f"corpusmill: warning: {warning}", file=sys.stderr)
    sys.stdout.write(render_json(report) if settings.json else render_text(report))
