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

--model is a SentencePiece model. It is a file, or the name of a model that sacrebleu has downloaded to
$SACREBLEU/models or ~/.sacrebleu/models: flores101 (default), flores200, spBLEU-1K. This command downloads
nothing. With one of these three models, score and signature are those of sacrebleu with the tokeniser of the
same name, such as `sacrebleu -tok flores101`. With any other model, the signature contains the hash of the
model. Line n of each file is a translation of the same sentence; the text must not be tokenised. The last
printed lines are signatures: cite them with the score.
"""

import argparse
import sys
from collections.abc import Sequence

from corpusmill.pipelines.run.flags import Commands, Flags, add_command


def add(metrics: Commands) -> None:
    """Adds the metric `spbleu` to `corpusmill score`."""
    about = "spBLEU and chrF++ of translations: BLEU over SentencePiece pieces"
    parser = add_command(metrics, "spbleu", about, __doc__, _run)
    flags = Flags(parser)
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
    flags.switch("--chrf", "also compute chrF, which uses no words")
    flags.switch("--bleu", "also compute BLEU over words, as WMT does")
    flags.switch("--json", "print JSON, with all domains and topics")
    flags.text("--output", "DIR", "a new folder for tables (TSV) and JSON")
    flags.workers("number of processes, which are used if there are several target languages")


def _run(settings: argparse.Namespace, _: Sequence[str]) -> None:
    from corpusmill.pipelines.translation.score_translations import new_folder, score_translations
    from corpusmill.pipelines.translation.translation_score_tables import (
        render_files,
        render_json,
        render_text,
    )

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
