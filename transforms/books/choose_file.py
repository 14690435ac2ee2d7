"""Chooses one of several files of the same book.

Project Gutenberg has up to three files of a book, in ASCII, in an 8-bit encoding and in UTF-8, and keeps
older releases. File names are not reliable: the file "84-0.txt" should be UTF-8, but may be ASCII. So files
are compared by their content. The chosen file has, in order of importance:

1. the richest encoding: Unicode text that is not only ASCII; then 8-bit; then ASCII, which has lost accents,
  dashes and quotation marks;
2. the newest release date in the head;
3. the largest number of characters;
4. the smallest fingerprint of the text, which does not depend on compression. Of files with the same text,
  the one whose name is first in alphabetical order is chosen.
"""

from collections.abc import Sequence

from corpusmill.transforms.files.records import BookFile

_FORMS = ("ASCII", "8-bit", "Unicode")


def choose_file(files: Sequence[BookFile]) -> tuple[BookFile, list[tuple[BookFile, str]]]:
    """Chooses one of several files of a book.

    Returns the chosen file, and (file, reason for not choosing it) for each other file, in order of
    preference. The result does not depend on the order of `files`.

    Args:
      files: one or more files of the same book.
    """
    taken, *others = sorted(files, key=_preference)
    return taken, [(other, _reason(taken, other)) for other in others]


def _preference(file: BookFile) -> tuple[object, ...]:
    return -_richness(file), _newest_first(file.header.release_date), -file.characters, *_rest(file)


def _rest(file: BookFile) -> tuple[object, ...]:
    """Returns the last part of a file's sort key, for files of equal encoding, date and length."""
    return file.digest, file.name, file.encoding, file.header


def _richness(file: BookFile) -> int:
    """Returns 2 if the file is encoded in Unicode, 1 for an 8-bit encoding and 0 for ASCII."""
    if file.encoding == "ascii":
        return 0
    is_unicode = file.encoding.startswith("utf-") and "+" not in file.encoding
    return 2 if is_unicode else 1


def _newest_first(date: str) -> tuple[int, ...]:
    """Returns a sort key that puts the newest ISO date first. "2004" comes after all dates in 2004."""
    parts = [int(part) for part in date.split("-") if part]
    return tuple(-part for part in [*parts, 0, 0, 0][:3])


def _reason(taken: BookFile, other: BookFile) -> str:
    if _richness(taken) != _richness(other):
        return f"{taken.name} is {_FORMS[_richness(taken)]}, this is {_FORMS[_richness(other)]}"
    if taken.header.release_date != other.header.release_date:
        dates = [file.header.release_date or "undated" for file in (taken, other)]
        return f"{taken.name} is of {dates[0]}, this of {dates[1]}"
    if taken.characters != other.characters:
        return f"{taken.name} has {taken.characters:,} characters, this {other.characters:,}"
    return f"{taken.name} has the same date and length"
