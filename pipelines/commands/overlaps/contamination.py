"""Finds the items of evaluation sets in training data: which, how much of each, and where.

examples:
  FLORES sentences in a build of Wiki-40B:
    corpusmill contamination --train corpora/wiki40b/uk --eval flores101_dataset#ukr
  Held-out sentences of One Billion Word in its training shards:
    corpusmill contamination --train corpora/lm1b/en --eval corpora/lm1b/en
  Questions and contexts in web text, both in files of others:
    corpusmill contamination --train 'web/*.jsonl.gz' --eval 'squad/*.parquet#question,context'

  A new edition of a build without passages that have 13 words of a sentence in a row:
    corpusmill contamination --train corpora/wiki40b/uk --eval flores101_dataset#ukr \
      --output found --remove passages --editions corpora

training data and evaluation sets may be:
  a finished build, or a folder above some   of training data the split train is read, of sets all others
  a folder in the layout of FLORES   devtest/ukr.devtest; DIR#ukr,vie for some of its languages
  Parquet or JSON lines   FILE#COLUMN,COLUMN names the columns of texts (default: text)
  text   each line is a text; with --whole-files each file of training data
  NAME=PATH gives a set a name; FILE may be a pattern, .gz, .bz2, .xz or .zst

how texts are compared:
  by words, without case and punctuation, in NFKC; “Don’t” is the two words don and t
  8 words in a row count (--ngram-words); an item with fewer has to be a line of its own, whole
  what is found is exact: words are compared, not only hashes

what is shown of each split of a set:
  items; those with 8 words in a row in the training data; with 13, as in GPT-3; those with 70 % of their
  8-grams in it, as in PaLM; those that are in one document as a whole

what you get, with --output, in <output>/:
  found.jsonl      each item that was found, with passages of documents (docs/contamination.md)
  found.html       the same as a page: items and passages side by side
  hits-*.parquet   each stretch of 13 words, or of a whole item, in all documents, with its place
  stats.json       the counts
  manifest.json README.md COMPLETED
and with --remove whole builds in <editions>/, which list in removed-*.parquet what went

Exit status: 0 no item has 13 words in a row in the training data, or is there as a whole; 1 some are, or an
input cannot be read; 2 wrong settings.
"""

import argparse
import json
from collections.abc import Sequence

from pipelines.commands.flags import Commands, Flags, add_command, add_json, add_runner, runner_of
from pipelines.settings.contamination_settings import NGRAM_WORDS, PASSAGES, Search


def add(commands: Commands) -> None:
    """Adds the command to the parser."""
    about = "training data, evaluation sets → which items are in it, how much of each, and where"
    parser = add_command(commands, "contamination", about, __doc__, _run)
    flags = Flags(parser)
    flags.files("--train", "training data", "DATA", required=True)
    flags.files("--eval", "evaluation sets", "SET", required=True)
    flags.text("--output", "DIR", "new folder for what is found, on a disk that all workers share")
    flags.number("--ngram-words", "words in a row that count", NGRAM_WORDS)
    flags.number("--passages", "passages of each item in the report", PASSAGES)
    flags.text(
        "--train-id", "COLUMN", "column of document ids in Parquet and JSON lines (default: id)"
    )
    flags.text("--eval-id", "COLUMN", "the same of evaluation sets")
    flags.choice(
        "--remove",
        ("", "documents", "passages"),
        "write new editions of the builds of --train without what hits-*.parquet lists",
        metavar="{documents,passages}",
    )
    flags.text("--editions", "DIR", "parent folder of the new editions")
    flags.switch("--whole-files", "take each text file of the training data as one document")
    add_json(parser)
    add_runner(parser)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from pipelines.inspect.contamination import (
        find_contamination,
        print_contamination,
        summarise,
    )
    from pipelines.inspect.new_editions import find_builds_of, write_editions

    if bool(settings.remove) != bool(settings.editions) or (
        settings.remove and not settings.output
    ):
        raise ValueError("--remove needs --editions and --output, and --editions needs --remove")
    passages = settings.remove == "passages"
    builds = find_builds_of(settings.train if settings.remove else (), passages=passages)
    search = Search(
        settings.train,
        settings.eval,
        settings.ngram_words,
        settings.passages,
        settings.train_id,
        settings.eval_id,
        settings.whole_files,
    )
    found = find_contamination(search, settings.output, **runner_of(settings, beam_flags))
    if settings.json:
        print(json.dumps(summarise(found), ensure_ascii=False))
    else:
        print_contamination(found, settings.ngram_words, settings.output)
    how = runner_of(settings, beam_flags)
    write_editions(
        builds,
        settings.output,
        settings.editions,
        as_json=settings.json,
        passages=passages,
        **how,
    )
    return 0 if found.is_clean else 1
