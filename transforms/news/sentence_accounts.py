"""Computes the counts, statistics and dataset card of a corpus of shuffled sentences (One Billion Word).

Names the files of a corpus of shuffled sentences, and assigns them to splits.

The text files are named like those of the published One Billion Word corpus. Shard 0 of the corpus is held
out, and divided into smaller shards. As in TensorFlow Datasets, the split "train" has all other shards, and
the split "test" has all held-out sentences. The paper evaluates only on the first of the smaller shards. This
is the split "paper_test". The split "dev" has the others, for choosing a model without the paper's test
set. The sentences of both are also in "test".
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..files.builds.ledger import (
    Accounts,
    Ledger,
    NothingLeftError,
    records_of,
)
from ..files.builds.manifest import Provenance
from ..files.builds.paper_figures import LM1B
from ..files.formats import FORMATS, TEXT, TFRECORD, file_pattern, formats_in
from ..files.line_blocks import LineStats, add_line_stats
from ..files.markup import render
from ..files.text import Shard
from ..models.word_vocabulary import VocabularyStats

TRAIN, HELDOUT = "train", "heldout"  # series of shards
HELD_OUT_SHARD = 0  # of the series "train"
PAPER_SHARD = 0  # of the series "heldout"

SPLITS = ("train", "test", "paper_test", "dev")
HELD_OUT_FILE = "news.en-00000-of-00100"
"""The held-out shard of the published corpus, which is also there in parts."""

TRAIN_FOLDER = "training-monolingual.tokenized.shuffled"
HELDOUT_FOLDER = "heldout-monolingual.tokenized.shuffled"


def text_name(series: str, shard: int, shards: int, language: str) -> str:
    """Returns the path of a text file, in a form like that of the published corpus.

    An example is "training-monolingual.tokenized.shuffled/news.en-00001-of-00100".

    Args:
      series: TRAIN for the shards of the corpus, HELDOUT for the parts of the held-out shard.
      shard: the number of the shard in its series.
      shards: the number of shards of the series.
      language: language code.
    """
    numbers = f"{shard:05d}-of-{shards:05d}"
    if series == HELDOUT:
        return f"{HELDOUT_FOLDER}/news.{language}.heldout-{numbers}"
    folder = HELDOUT_FOLDER if shard == HELD_OUT_SHARD else TRAIN_FOLDER
    return f"{folder}/news.{language}-{numbers}"


def split_of(series: str, shard: int) -> str:
    """Returns the split of a text file.

    Returns "" for shard 0 of the corpus, which is held out: its parts, not the whole shard, are in "test".

    Args:
      series: TRAIN for the shards of the corpus, HELDOUT for the parts of the held-out shard.
      shard: the number of the shard in its series.
    """
    if series == HELDOUT:
        return "test"
    return "" if shard == HELD_OUT_SHARD else "train"


def tables_of(series: str, shard: int, shards: int) -> tuple[Shard, ...]:
    """Returns the shards in other formats that get the sentences of a text file.

    Each returned shard is (split, number of this shard, number of shards in the split). The result is () for
    shard 0 of the corpus, which is held out: its sentences are taken from the files of its parts instead.

    Args:
      series: TRAIN for the shards of the corpus, HELDOUT for the parts of the held-out shard.
      shard: the number of the text file in its series.
      shards: the number of text files of the series.
    """
    if series == HELDOUT:
        test = Shard("test", shard, shards)
        if shard == PAPER_SHARD:
            return test, Shard("paper_test", 0, 1)
        return test, Shard("dev", shard - 1, shards - 1)
    return () if shard == HELD_OUT_SHARD else (Shard("train", shard - 1, shards - 1),)


def table_formats(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the formats that a build has beside its text files, which it always has."""
    return tuple(one for one in formats_in(settings) if one != TEXT)


BEFORE = "before_deduplication"  # key in stats.json for the counts of all lines before sorting
WHOLE = ("train", "test")  # splits that together hold each sentence once


class _Found(NamedTuple):
    """The counts of a build of One Billion Word, added up from the entries of its ledger."""

    lines: int  # lines that were read
    rejected: Mapping[str, int]
    measured: LineStats  # lines before sorting, repeated ones included; zero if not measured
    duplicates: int
    unique: int
    splits: Mapping[str, LineStats]
    replaced: Mapping[str, int]
    vocabulary: VocabularyStats

    @property
    def sentences(self) -> int:
        return sum(self.splits[split].lines for split in WHOLE)

    @property
    def well_formed(self) -> int:
        """The number of well-formed lines, including repeated lines."""
        return self.lines - self.rejected["total"]


def account_for_sentences(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts, statistics and sections of the dataset card of a build of One Billion Word.

    `provenance` has the facts about the build that were known before it ran, such as its settings.

    The ledger contains the counts of all stages of the build. In addition to the entries of every build, it
    has:
      lines: number of lines read, rejected lines included.
      measured: LineStats of lines before sorting, repeated lines included; absent if not measured.
      duplicates: number of lines dropped because they repeat another line.
      unique: number of well-formed lines without the dropped duplicates.
      splits: (split, LineStats).
      replaced: (split, number of characters replaced in Parquet and TFRecord).
      vocabulary: one VocabularyStats.
      unterminated: names of files whose last line has no line feed.

    Raises AccountingError if lines were lost or added between the input and the output files. Raises
    NothingLeftError if no sentence is left, or if most lines were rejected and the setting on_corrupt is not
    "keep-good".
    """
    found = _Found(
        lines=ledger.number("lines"),
        rejected=ledger.rejected,
        measured=add_line_stats(ledger.values("measured")),
        duplicates=ledger.number("duplicates"),
        unique=ledger.number("unique"),
        splits=ledger.per_split("splits", SPLITS, LineStats()),
        replaced=ledger.per_split("replaced", SPLITS, 0),
        vocabulary=ledger.one("vocabulary"),
    )
    _check_lines(found)
    formats = table_formats(provenance.settings)
    _check_files(found, ledger, formats)
    _check_vocabulary(found)
    if not found.sentences:
        rejected = found.rejected["total"]
        raise NothingLeftError(
            (), f"no sentence is left: of {found.lines:,} lines {rejected:,} were rejected"
        )
    keeps_good = provenance.settings.get("on_corrupt") == "keep-good"
    if found.rejected["total"] > found.well_formed and not keeps_good:
        raise NothingLeftError(
            (),
            f"most of the {found.lines:,} lines were rejected ({ledger.often_rejected()}): is the input"
            " binary, or in another encoding than UTF-8? use --on-corrupt keep-good to build from the other"
            " lines",
        )
    stats, counts = _make_stats(found), _make_counts(found)
    return Accounts(
        counts=counts,
        stats=stats,
        sections=render(
            "lm1b",
            stats=stats,
            counts=counts,
            files=_name_files(formats, provenance.corpus),
            has_records=TFRECORD in formats,
            is_loadable=any(FORMATS[one].is_loadable for one in formats),
            measured=[name for name in (BEFORE, *SPLITS, "total") if name in stats],
            beside=LM1B.beside_new(provenance, ledger, counts["kept"]),
        ),
        caveats=tuple(_make_caveats(found, ledger.values("unterminated"))),
    )


def account_for_released(ledger: Ledger, provenance: Provenance) -> Accounts:
    """Returns the counts and statistics of the released corpus, which are those of a build.

    The ledger has `splits`, `replaced` and `vocabulary`, see `account_for_sentences`.
    """
    splits = ledger.per_split("splits", SPLITS, LineStats())
    lines = sum(splits[split].lines for split in WHOLE)
    replaced = ledger.per_split("replaced", SPLITS, 0)
    found = _Found(
        lines, ledger.rejected, LineStats(), 0, lines, splits, replaced, ledger.one("vocabulary")
    )
    for split, stats in splits.items():
        ledger.check_files(split, stats.lines, "sentences", table_formats(provenance.settings))
    _check_vocabulary(found)
    in_all = _make_stats(found)
    for name in ("input_lines", "unique_lines", "sentences_before_deduplication"):
        del in_all[name]
    counts = {name: _make_counts(found)[name] for name in ("kept", "replaced_characters")}
    return Accounts(counts, in_all, (), caveats=tuple(_make_caveats(found, ())))


def _name_files(formats: Sequence[str], corpus: str) -> dict[str, str]:
    """Returns split → the patterns of its files, in Markdown; "" if there is only the text."""
    return {
        split: ", ".join(f"`{file_pattern(one, corpus, split)}`" for one in formats)
        for split in SPLITS
    }


def _check_lines(found: _Found) -> None:
    Ledger.balance(
        found.well_formed,
        "lines that were read and not rejected",
        different=found.unique,
        repeated=found.duplicates,
    )
    if found.measured.lines:
        Ledger.balance(found.well_formed, "lines to sort", measured=found.measured.lines)
    Ledger.balance(found.unique, "different lines", sentences=found.sentences)


def _check_files(found: _Found, ledger: Ledger, formats: Sequence[str]) -> None:
    for split, stats in found.splits.items():
        ledger.check_files(split, stats.lines, "sentences", formats)
        if split in WHOLE:
            texts = records_of(ledger.files("text", split))
            ledger.balance(stats.lines, f"sentences of {split}", in_text_files=texts)
    whole = [one for one in ledger.files("text", "") if one.name.startswith(f"{HELDOUT_FOLDER}/")]
    ledger.balance(
        found.splits["test"].lines, "sentences of its parts", in_the_heldout_shard=records_of(whole)
    )


def _check_vocabulary(found: _Found) -> None:
    train, counted = found.splits["train"], found.vocabulary
    Ledger.balance(train.lines, "sentences of train", counted=counted.training_sentences)
    Ledger.balance(train.words, "words of train", counted=counted.training_words)
    heldout = sum(shard.sentences for shard in counted.heldout)
    Ledger.balance(found.splits["test"].lines, "sentences of test", looked_up=heldout)


def _make_counts(found: _Found) -> dict[str, Any]:
    kept = {split: stats.lines for split, stats in found.splits.items()}
    return {
        "lines_read": found.lines,
        "duplicates": found.duplicates,
        "kept": kept | {"total": found.sentences},
        "rejected": found.rejected,
        "replaced_characters": found.replaced,
    }


def _make_stats(found: _Found) -> dict[str, Any]:
    """Returns the content of stats.json: counts, the vocabulary, and the line statistics of each split."""
    total = add_line_stats(found.splits[split] for split in WHOLE)
    before = {BEFORE: found.measured} if found.measured.lines else {}
    lines = {**before, **found.splits, "total": total}
    return {
        "input_lines": found.lines,
        "unique_lines": found.unique,
        "sentences_before_deduplication": found.well_formed,
        "sentences_after_deduplication": found.sentences,
        **found.vocabulary.as_dict(),
        **{name: describe_lines(stats) for name, stats in lines.items()},
    }


def describe_lines(stats: LineStats) -> dict[str, Any]:
    """Returns the line statistics of a split as the JSON object that stats.json has for this split."""
    return {
        "sentences": stats.lines,
        "words": stats.words,
        "characters": stats.characters,
        "text_bytes": stats.bytes,
        "longest_line_bytes": stats.longest_line_bytes,
        "sentences_by_words": stats.histogram(),
    }


def _make_caveats(found: _Found, unterminated: Sequence[str]) -> Iterator[str]:
    if names := sorted(set(unterminated)):
        yield (
            f"The last line of {', '.join(names)} has no line feed, and is a line of its own here; the"
            " scripts would read one line of it and the first line of the file that follows."
        )
    if replaced := sum(found.replaced[split] for split in WHOLE):
        yield (
            f"{replaced:,} characters are not valid in Unicode. The text files have their bytes unchanged;"
            " Parquet and TFRecord have U+FFFD in their place."
        )
