"""Guidelines for translators, beside a packet: guidelines.md, after section 3.2 of Goyal et al. 2022."""

from importlib import resources

from transforms.text.translation.packets.records import Packet

SUFFIX = "-guidelines.md"


def write_guidelines(packet: Packet, name: str) -> bytes:
    """The guidelines, for the language of the packet.

    Args:
      name: of the packet's files, without an ending.
    """
    text = resources.files(__package__).joinpath("guidelines.md").read_text("utf-8")
    filled = text.format(
        language=packet.language.name, name=name, sentences=f"{len(packet.lines):,}"
    )
    return filled.encode("utf-8")
