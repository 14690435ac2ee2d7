"""Of several files of one book, the one to take.

Project Gutenberg has a book in up to three files, one for each of ASCII, an 8-bit encoding and UTF-8, and
keeps older releases of them. Names are not reliable: "84-0.txt" should be UTF-8, and may be ASCII. So the
content of the files decides, in this order:

1. the text with the richest characters: one that is not ASCII, and was Unicode; then 8-bit; then ASCII, where
   accents, dashes and quotation marks have been lost;
2. the newest date of release in the head;
3. the largest, in characters;
4. the smallest fingerprint of the text, which no packing changes; of the same text the first name.
"""

from collections.abc import Sequence

from transforms.records import BookFile

_FORMS = ("ASCII", "8-bit", "Unicode")


def choose_file(files: Sequence[BookFile]) -> tuple[BookFile, list[tuple[BookFile, str]]]:
    """The file to take, and each of the others with the reason why not, in the order of preference.

    The order in which the files are given makes no difference.

    Args:
      files: of one book; at least one.
    """
    taken, *others = sorted(files, key=_preference)
    return taken, [(other, _reason(taken, other)) for other in others]


def _preference(file: BookFile) -> tuple[object, ...]:
    return -_richness(file), _newest_first(file.header.release_date), -file.characters, *_rest(file)


def _rest(file: BookFile) -> tuple[object, ...]:
    """Returns the rest of the sort key, which makes the order total."""
    return file.digest, file.name, file.encoding, file.header


def _richness(file: BookFile) -> int:
    """The place of its form in _FORMS."""
    if file.encoding == "ascii":
        return 0
    is_unicode = file.encoding.startswith("utf-") and "+" not in file.encoding
    return 2 if is_unicode else 1


def _newest_first(date: str) -> tuple[int, ...]:
    """Sorts ISO dates of any exactness; a less exact one comes after those inside it."""
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
