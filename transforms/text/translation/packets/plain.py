"""Line-aligned files, as releases have them: the n-th line of "fra.devtest" translates the n-th sentence."""

from collections.abc import Sequence

from transforms.text.translation.packets.records import NO_NAME, Returned
from transforms.text.translation.records import ReadError, Translation


def read_plain(text: str, file: str, ids: Sequence[str]) -> Returned:
    """The lines of a file as the translations of the sentences with these ids, in their order.

    Lines end at line feeds and nowhere else, and are texts to the letter: spaces at their ends, an empty
    line, a byte order mark, U+0085 and U+2028 belong to them. Where every line feed has a carriage return
    before it, that is how this file ends its lines, and both go; where only some have, it is text. The
    last line may lack its end. So a file with line feeds is had again, byte for byte, from what is read.

    Raises ReadError where there are more or fewer lines than ids (with both numbers), and for NUL.
    """
    if text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if len(lines) != len(ids):
        raise ReadError(0, f"{len(lines)} lines, and there are {len(ids)} sentences")
    if "\0" in text:
        raise ReadError(text.count("\n", 0, text.index("\0")) + 1, "there is a NUL in it")
    translations = (
        Translation(id_, line, file, number)
        for number, (id_, line) in enumerate(zip(ids, lines, strict=True), 1)
    )
    return Returned(*NO_NAME, tuple(translations))
