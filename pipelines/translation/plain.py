"""Reads translations from a file with one line per sentence, such as "fra.devtest" of FLORES-101."""

from collections.abc import Sequence

from corpusmill.pipelines.translation.packets_records import NO_NAME, Returned
from corpusmill.transforms.files.translation_records import ReadError, Translation


def read_plain(text: str, file: str, ids: Sequence[str]) -> Returned:
    """Reads a file in which line n is the translation of the sentence ids[n].

    Only line feeds end a line. The texts are unchanged: spaces, empty lines, a byte order mark, U+0085 and
    U+2028 are kept. Carriage returns before line feeds are removed only if there is one before every line
    feed. The last line may lack its line feed.

    Args:
      text: the content of the file.
      file: the name of the file, which is stored in each Translation.
      ids: the ids of all sentences, in the order of the lines.

    Raises ReadError if the number of lines differs from the number of ids, or if a line contains a NUL
    character.
    """
    if text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if len(lines) != len(ids):
        raise ReadError(0, f"expected {len(ids)} lines, one per sentence; found {len(lines)}")
    if "\0" in text:
        raise ReadError(
            text.count("\n", 0, text.index("\0")) + 1, "the line has a NUL character: remove it"
        )
    translations = (
        Translation(id_, line, file, number)
        for number, (id_, line) in enumerate(zip(ids, lines, strict=True), 1)
    )
    return Returned(*NO_NAME, tuple(translations))
