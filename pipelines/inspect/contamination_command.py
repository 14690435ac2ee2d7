"""Finds the items of evaluation sets that occur in training data, with the passages.

examples:
  FLORES sentences in a build of Wiki-40B:
    corpusmill contamination --train corpora/wiki40b/uk --eval flores101_dataset#ukr
  Held-out sentences of One Billion Word in its training shards:
    corpusmill contamination --train corpora/lm1b/en --eval corpora/lm1b/en
  Questions and contexts in web text, both from files of other tools:
    corpusmill contamination --train 'web/*.jsonl.gz' --eval 'squad/*.parquet#question,context'

  A new edition of a build, without the passages that share 13 words in a row with a sentence:
    corpusmill contamination --train corpora/wiki40b/uk --eval flores101_dataset#ukr \\
      --output found --remove passages --editions corpora

training data and evaluation sets may be:
  a finished build, or a folder with builds below   --train reads the split train, --eval all other splits
  a folder with the layout of FLORES   devtest/ukr.devtest; DIR#ukr,vie selects languages
  Parquet or JSON lines   FILE#COLUMN,COLUMN names the columns with texts (default: text)
  text files   each line is a text; with --whole-files, each file of the training data is a text
  NAME=PATH gives a set a name; FILE may be a pattern; files may be .gz, .bz2, .xz or .zst

how texts are compared:
  word by word, in lower case, without punctuation, in NFKC; “Don’t” is the two words don and t
  8 equal words in a row are a match (--ngram-words); of a shorter item, all its words
  matches are exact: words are compared, not only hashes
  items with fewer than 8 words of two letters are too short to tell: they are counted, but are never
  contaminated, clean or removed (in scripts without spaces: 16 Han characters, 32 other letters)

counts for each split of a set:
  all items; items with 8 words in a row in the training data; with 13, as in GPT-3;
  with 70 % of their 8-grams, as in PaLM; items that are completely in one document; items that
  are too short

what you get, with --output, in <output>/:
  found.jsonl      each item that was found, with passages of documents (docs/contamination.md)
  found.html       the same as a page: items and passages side by side
  hits-*.parquet   the position of each match of 13 words, or of a whole item, in all documents
  stats.json       the counts
  manifest.json README.md COMPLETED
and with --remove, new builds in <editions>/, with removed-*.parquet, the list of removed texts

Exit status: 0 if no item that is long enough occurs in the training data, either completely or with 13 words
in a row; 1 if one does, or if no text can be read from an input; 2 wrong settings.
"""

import argparse
import json
from collections.abc import Sequence

from corpusmill.pipelines.inspect.contamination_settings import NGRAM_WORDS, PASSAGES, Search
from corpusmill.pipelines.run.flags import (
    Commands,
    Flags,
    add_command,
    add_json,
    add_runner,
    runner_of,
)


def add(commands: Commands) -> None:
    """Adds the command `corpusmill contamination` to the parser."""
    about = "finds items of evaluation sets in training data"
    parser = add_command(commands, "contamination", about, __doc__, _run)
    flags = Flags(parser)
    flags.files("--train", "training data (see below)", "DATA", required=True)
    flags.files("--eval", "evaluation sets (see below)", "SET", required=True)
    flags.text("--output", "DIR", "new folder for the findings, on a disk that all workers share")
    flags.number("--ngram-words", "number of words in a row that are a match", NGRAM_WORDS)
    flags.number("--passages", "maximum number of passages per item in the report", PASSAGES)
    flags.text(
        "--train-id",
        "COLUMN",
        "column with the ids of training documents in Parquet and JSON lines (default: id)",
    )
    flags.text(
        "--eval-id", "COLUMN", "column with the ids of items in evaluation sets (default: id)"
    )
    flags.choice(
        "--remove",
        ("", "documents", "passages"),
        "write new editions of the builds in --train, without the documents or passages in hits-*.parquet",
        metavar="{documents,passages}",
    )
    flags.text("--editions", "DIR", "parent folder of the new editions")
    flags.switch("--whole-files", "read each text file of the training data as one document")
    add_json(parser)
    add_runner(parser)


def _run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    from corpusmill.pipelines.inspect.contamination import (
        find_contamination,
        print_contamination,
        summarise,
    )
    from corpusmill.pipelines.inspect.new_editions import find_builds_of, write_editions

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
