"""What became of the lines of a corpus of shuffled sentences, and whether all that was counted agrees."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from transforms.records import OutputFile
from transforms.text.builds.build_manifest import AccountingError
from transforms.text.lines.line_stats import LineStats, add_line_stats
from transforms.text.news.shard_names import HELDOUT_FOLDER, SPLITS
from transforms.text.vocabularies.vocabulary import VocabularyStats

BEFORE = "before_deduplication"  # name of the lines as they are sorted, in stats.json
WHOLE = ("train", "test")  # splits that all sentences are in, once
NEAR_DUPLICATES = "rejected/near-duplicates"  # how the files begin that list them
LEFT_OUT = {"duplicates": "repeated", "near_duplicates": "near-duplicates"}
"""Count of lines that are text and are not kept, in manifest.json → its name in tables."""


class Found(NamedTuple):
    """What a build has found, summed up."""

    lines_read: int
    rejections: Mapping[tuple[str, str], int]  # (stage, reason) → lines
    read: LineStats  # lines as they are sorted, repeated ones too; zero where nobody measured
    duplicates: int  # lines left out because they stand there already
    unique: int  # the other lines
    near_duplicates: int  # sentences left out because one like them is there
    splits: Mapping[str, LineStats]
    replaced: Mapping[str, int]  # split → characters
    vocabulary: VocabularyStats

    @property
    def sentences(self) -> int:
        """Sentences of the corpus."""
        return sum(self.splits[split].lines for split in WHOLE)

    @property
    def rejected(self) -> int:
        """Lines that are no text."""
        return sum(self.rejections.values())

    @property
    def well_formed(self) -> int:
        """Lines that are text, repeated ones too."""
        return self.lines_read - self.rejected


def check_accounts(found: Found, outputs: Sequence[OutputFile]) -> None:
    """Raises AccountingError."""
    _check_lines(found)
    _check_files(found, outputs)
    _check_vocabulary(found)


def _check_lines(found: Found) -> None:
    _check(
        found.unique + found.duplicates,
        found.well_formed,
        "different or repeated lines",
        "lines that were read and not rejected",
    )
    if found.read.lines:
        _check(found.read.lines, found.well_formed, "lines measured", "lines to sort")
    kept = found.sentences + found.near_duplicates
    _check(kept, found.unique, "sentences, kept or near-duplicates,", "different lines")


def _check_files(found: Found, outputs: Sequence[OutputFile]) -> None:
    for split in SPLITS:
        sentences = found.splits[split].lines
        kinds = ("text", "parquet", "tfrecord") if split in WHOLE else ("parquet", "tfrecord")
        for kind in kinds:
            files = [file for file in outputs if (file.format, file.split) == (kind, split)]
            _check(_records(files), sentences, f"sentences in {kind} of {split}", "sentences")
            if kind != "text":
                _check_complete(files, f"{kind} of {split}")
    near = [file for file in outputs if file.name.startswith(NEAR_DUPLICATES)]
    _check(_records(near), found.near_duplicates, "near-duplicates listed", "left out")
    _check_complete(near, "near-duplicates")
    heldout = [file for file in outputs if is_heldout_whole(file)]
    test = found.splits["test"].lines
    _check(_records(heldout), test, "sentences in the held-out shard", "sentences of its parts")


def _check_complete(files: Sequence[OutputFile], what: str) -> None:
    """A file without lines could be lost and no sentence missed; its readers would miss it."""
    for file in files:
        count = int(file.name.rpartition("-of-")[2].partition(".")[0])
        _check(len(files), count, f"files of {what}", "files in their names")


def _check_vocabulary(found: Found) -> None:
    train, counted = found.splits["train"], found.vocabulary
    _check(counted.training_sentences, train.lines, "sentences counted", "sentences of train")
    _check(counted.training_words, train.words, "words counted", "words of train")
    heldout = sum(shard.sentences for shard in counted.heldout)
    _check(heldout, found.splits["test"].lines, "sentences looked up", "sentences of test")


def _check(one: int, other: int, what: str, against: str) -> None:
    if one != other:
        raise AccountingError(f"{one} {what} are not the {other} {against}")


def _records(files: Iterable[OutputFile]) -> int:
    return sum(file.records for file in files)


def is_heldout_whole(file: OutputFile) -> bool:
    """Whether this is the held-out shard before it is split."""
    return (file.format, file.split) == ("text", "") and file.name.startswith(f"{HELDOUT_FOLDER}/")


def make_counts(found: Found) -> dict[str, Any]:
    """What became of the lines, for manifest.json."""
    kept = {split: found.splits[split].lines for split in SPLITS}
    rejected = {f"{stage}/{reason}": n for (stage, reason), n in sorted(found.rejections.items())}
    return {
        "lines_read": found.lines_read,
        "duplicates": found.duplicates,
        "near_duplicates": found.near_duplicates,
        "kept": kept | {"total": found.sentences},
        "rejected": rejected | {"total": found.rejected},
        "replaced_characters": {split: found.replaced.get(split, 0) for split in SPLITS},
    }


def make_stats(found: Found) -> dict[str, Any]:
    """stats.json: the corpus as a whole, its vocabulary, and what its lines are like."""
    total = add_line_stats(found.splits[split] for split in WHOLE)
    before = {BEFORE: found.read} if found.read.lines else {}
    lines = before | {split: found.splits[split] for split in SPLITS} | {"total": total}
    return {
        "input_lines": found.lines_read,
        "unique_lines": found.unique,
        "sentences_before_deduplication": found.well_formed,
        "sentences_after_deduplication": found.sentences,
        **found.vocabulary.as_dict(),
        **{name: _describe(stats) for name, stats in lines.items()},
    }


def _describe(stats: LineStats) -> dict[str, Any]:
    return {
        "sentences": stats.lines,
        "words": stats.words,
        "characters": stats.characters,
        "text_bytes": stats.bytes,
        "longest_line_bytes": stats.longest_line_bytes,
        "sentences_by_words": stats.histogram(),
    }


def make_caveats(found: Found, unterminated: Iterable[str]) -> Iterator[str]:
    """Sentences on what a reader of this very build should know, in a fixed order.

    Args:
      unterminated: names of files whose last line has no line feed.
    """
    names = sorted(set(unterminated))
    if names:
        yield (
            f"The last line of {', '.join(names)} has no line feed, and is a line of its own here; the"
            " scripts would read one line of it and the first line of the file that follows."
        )
    replaced = sum(found.replaced.get(split, 0) for split in WHOLE)
    if replaced:
        yield (
            f"{replaced:,} characters are none of Unicode; text files have them as they were read, Parquet"
            " and TFRecord have U+FFFD in their place."
        )
