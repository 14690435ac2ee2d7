"""Defines the facts that a journal entry of each kind contains, and their types."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec

Fraction = Annotated[str, msgspec.Meta(pattern="^[0-9]+(/[1-9][0-9]*)?$")]


class _Head(msgspec.Struct):
    kind: str
    round: int
    time: str
    by: str


HEAD = _Head.__struct_fields__
"""Names of the facts that every entry has."""


class _Facts(msgspec.Struct):
    """The facts of one kind of journal entry.

    An entry may contain more facts, which no program reads.
    """

    def others(self) -> Sequence[int]:
        """Returns the numbers of the earlier entries that this entry refers to."""
        return ()


class _File(msgspec.Struct):
    name: str
    sha256: str


class _Packet(_Facts):
    why: str
    ids: list[str]
    files: dict[str, str]


class _Import(_Facts):
    base: int
    file: _File
    lines: int
    empty: int
    first: int
    same: int
    changed: int
    corrected: int
    disputed: int
    late: int
    corrects: list[int] = []

    def others(self) -> Sequence[int]:
        return [self.base, *self.corrects]


class _Rules(msgspec.Struct):
    error: dict[str, int]
    warning: dict[str, int]


class _Waiver(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    rule: str
    text_sha256: str
    because: str
    by: str


class _Check(_Facts):
    digest: str
    errors: int
    warnings: int
    waived: int
    rules: _Rules
    waivers: list[_Waiver] = []


class _Sheets(_Facts):
    reviewer: str
    sample_digest: str
    lines: int
    files: dict[str, str]


class _Review(_Facts):
    reviewer: str
    reviewed: list[str]
    errors: int
    sample_digest: str
    file: _File


class _Verdict(_Facts):
    accepted: bool
    accepted_from: Fraction
    shown: str
    sample_digest: str
    sample: list[str]
    reviews: list[int]

    def others(self) -> Sequence[int]:
        return self.reviews


_FACTS: Mapping[str, type[_Facts]] = {
    "packet": _Packet,
    "import": _Import,
    "check": _Check,
    "sheets": _Sheets,
    "review": _Review,
    "verdict": _Verdict,
}


def check_facts(facts: Any, number: int) -> None:
    """Checks the facts of a journal entry. For an unknown kind of entry, checks only the facts that all
    entries have.

    Args:
      number: number of the entry, from 1.

    Raises ValueError if facts are missing or invalid.
    """
    try:
        kind = msgspec.convert(facts, _Head).kind
        told = msgspec.convert(facts, _FACTS.get(kind, _Facts))
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # half a surrogate pair
        raise ValueError(str(error)) from None
    if not all(0 < other < number for other in told.others()):
        raise ValueError(
            f"the entry refers to an entry that is not one of the {number - 1} entries before it"
        )
