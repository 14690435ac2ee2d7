"""Records of packets: sets of sentences that are sent to translators as a file and returned by them."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote, unquote

from corpusmill.pipelines.translation.languages import TargetLanguage
from corpusmill.transforms.files.translation_records import SourceSentence, Translation

_NAME = re.compile(r"([^/]+)/([^/]+)/round([1-9][0-9]{0,5})/packet([1-9][0-9]{0,5})")


class PacketLine(NamedTuple):
    """A sentence to translate."""

    source: SourceSentence
    target: str  # the present translation; "" if there is none yet
    reasons: tuple[str, ...]  # why it must be translated again, one line each


class Packet(NamedTuple):
    """Sentences that are sent to a translator together, in one file."""

    project: str
    language: TargetLanguage
    round: int  # number of the round, from 1
    number: int  # number of the packet's entry in the project's journal, from 1
    lines: tuple[PacketLine, ...]  # in the order of the source table


class PacketName(NamedTuple):
    """The name of a packet, split into its parts. All parts are "" or 0 if a file has no packet name."""

    project: str
    language: str  # language code
    round: int
    number: int


NO_NAME = PacketName("", "", 0, 0)


class Returned(NamedTuple):
    """The content of a file that a translator has returned. The first four fields are those of PacketName."""

    project: str
    language: str
    round: int
    number: int
    # The translations of translated sentences only, in the order of the file.
    translations: tuple[Translation, ...]
    sources: Mapping[str, str] = MappingProxyType({})
    """Id → source text in the file, for all its sentences; empty if the file has no source texts.

    A source text that differs from the one that was sent shows that a single column was sorted."""


def format_name(packet: Packet) -> str:
    """Returns a packet's name, which is written into its files: "flores101/zho_simpl/round1/packet3".

    Raises ValueError if the packet's project or language is empty, or if its round or number is not from 1 to
    999,999.
    """
    project, language = (quote(part, safe="") for part in (packet.project, packet.language.code))
    name = f"{project}/{language}/round{packet.round}/packet{packet.number}"
    if parse_name(name) == NO_NAME:
        raise ValueError(
            f"invalid packet name {name!r}: expected project/language/round1/packet1,"
            " with numbers from 1 to 999,999"
        )
    return name


def parse_name(name: str) -> PacketName:
    """Parses a name made by `format_name`. Returns NO_NAME (no part has a value) for any other text."""
    found = _NAME.fullmatch(name)
    if not found:
        return NO_NAME
    return PacketName(unquote(found[1]), unquote(found[2]), int(found[3]), int(found[4]))
