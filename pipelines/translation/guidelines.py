"""Writes the guidelines for translators that accompany a packet.

A packet is a set of sentences that is sent to a translator as a file. The guidelines follow section 3.2 of
Goyal et al. 2022.
"""

from importlib import resources

from corpusmill.pipelines.translation.packets_records import Packet

SUFFIX = "-guidelines.md"


def write_guidelines(packet: Packet, name: str) -> bytes:
    """Returns the guidelines for the packet's target language, as Markdown in UTF-8.

    Args:
      packet: the packet that the guidelines accompany.
      name: the name of the packet's files, without the suffix; it is mentioned in the guidelines.
    """
    text = resources.files(__package__).joinpath("guidelines.md").read_text("utf-8")
    filled = text.format(
        language=packet.language.name, name=name, sentences=f"{len(packet.lines):,}"
    )
    return filled.encode("utf-8")
