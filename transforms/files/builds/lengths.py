"""Makes histograms of the lengths of documents, in words or characters.

The classes of a histogram are the lengths 0, 1, 2, 3, 4-5, 6-7, 8-11, 12-15, 16-23, …
"""

from collections.abc import Mapping, Sequence

from corpusmill.transforms.files.builds.ledger import Ledger, balance

LENGTHS = "lengths"
"""Name of an account in the ledger, with entries ((split, class of length), number of documents)."""

_SINGLE = 4  # each length below this number is a class of its own


def length_class(length: int) -> int:
    """Returns the number of the class to which a length belongs. Class 0 has only the length 0.

    From length 2 on, there are two classes between each power of two and the next one.
    """
    bits = length.bit_length()
    return 2 * bits - 2 + (length >> bits - 2 & 1) if bits > 1 else length


def name_class(number: int) -> str:
    """Returns the name of a class of lengths, such as "3" for class 3 and "4-5" for class 4."""
    if number < _SINGLE:
        return str(number)
    width = 1 << number // 2 - 1
    low = (2 + number % 2) * width
    return f"{low}-{low + width - 1}"


def histograms(
    ledger: Ledger, kept: Mapping[str, int], whole: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Returns a histogram of document lengths for each split, and one for the whole corpus ("total").

    A histogram is a mapping: class of lengths, such as "4-5" → number of documents, the shortest class first.

    Args:
      ledger: the ledger of the build.
      kept: split → number of documents; may have an entry "total".
      whole: splits that are summed for the total.

    Raises AccountingError if the sum of a histogram is not the number of kept documents.
    """
    counts = ledger.pairs(LENGTHS)
    classes = [number for _, number in counts]
    numbers = range(min(classes, default=0), max(classes, default=-1) + 1)
    found = {
        split: {name_class(number): counts.get((split, number), 0) for number in numbers}
        for split in kept
        if split != "total"
    }
    for split, histogram in found.items():
        balance(kept[split], f"documents of {split}", with_a_length=sum(histogram.values()))
    names = map(name_class, numbers)
    return {**found, "total": {name: sum(found[one][name] for one in whole) for name in names}}
