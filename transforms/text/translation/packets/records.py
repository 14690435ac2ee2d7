"""Records that go to translators and come back from them, in any format."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote, unquote

from transforms.text.translation.languages import TargetLanguage
from transforms.text.translation.records import SourceSentence, Translation

_NAME = re.compile(r"([^/]+)/([^/]+)/round([1-9][0-9]{0,5})/packet([1-9][0-9]{0,5})")


class PacketLine(NamedTuple):
    """A sentence to translate."""

    source: SourceSentence
    target: str  # what is there of its translation; "" where nothing is yet
    reasons: tuple[str, ...]  # why it comes back to the translator, a line each


class Packet(NamedTuple):
    """The sentences that a translator is given at a time."""

    project: str
    language: TargetLanguage
    round: int  # from 1
    number: int  # of the journal entry that keeps it, from 1
    lines: tuple[PacketLine, ...]  # in the order of the source table


class PacketName(NamedTuple):
    """The packet that a file belongs to. A format that does not name it has "" and 0."""

    project: str
    language: str  # code
    round: int
    number: int


NO_NAME = PacketName("", "", 0, 0)


class Returned(NamedTuple):
    """The content of a file that came back; the first four fields as in PacketName."""

    project: str
    language: str
    round: int
    number: int
    # Of the sentences that have one, in the order of the file.
    translations: tuple[Translation, ...]
    sources: Mapping[str, str] = MappingProxyType({})
    """Id → the source text that the file shows with it, for all its sentences; nothing where it shows
    none. Where it is not the one that was sent, somebody has sorted a column by itself."""


def format_name(packet: Packet) -> str:
    """The name of the packet in one word, "flores101/zho_simpl/round1/packet3", that files carry along.

    Raises ValueError for a packet that no reader could name: without project or language, or with a
    number that is not from 1 to 999,999.
    """
    project, language = (quote(part, safe="") for part in (packet.project, packet.language.code))
    name = f"{project}/{language}/round{packet.round}/packet{packet.number}"
    if parse_name(name) == NO_NAME:
        raise ValueError(f"a packet cannot have the name {name!r}")
    return name


def parse_name(name: str) -> PacketName:
    """Parses a name made by `format_name`; NO_NAME for anything else."""
    found = _NAME.fullmatch(name)
    if not found:
        return NO_NAME
    return PacketName(unquote(found[1]), unquote(found[2]), int(found[3]), int(found[4]))
