"""Small corpora in several scripts, for the tests of vocabularies over many languages."""

import gzip
from collections.abc import Sequence
from pathlib import Path

from tests.makers.finished_builds import make_build
from tests.makers.sentence_builds import make_sentence_build
from tests.makers.text_builds import make_text_build

JAPANESE = ("富士山は高い山である。", "川は海に流れる。", "湖に船がある。", "山の水は冷たい。")


def make_corpora(output: Path) -> Path:
    """Builds of all corpora: Ukrainian of Wikipedia, English of news and books.

    Of train, 5 sentences are Ukrainian and 3 + 3 + 2 English; 1 and 2 + 1 are held out.
    """
    identities: dict[str, list[list[str]]] = {
        "train": [["Річка", "Море", "Гора"], ["Степ", "Ліс"]],
        "validation": [["Озеро"]],
        "test": [[]],
    }
    make_build(output, "uk", identities, settings={"language": "uk"})
    make_sentence_build(
        output,
        (b"Held out .\nToo .\n", b"One ferry .\nTwo ferries .\n", b"No ferry .\n"),
        (b"Too .\n", b"Held out .\n"),
    )
    book = "The ferry left\nat seven. Nobody saw it.\n\nIt was green."
    make_text_build(
        output, "pg19", "book_text", {"train": [[book]], "validation": [["A ferry."]], "test": [[]]}
    )
    make_text_build(
        output, "simplebooks", "raw_text", {"train": [["The sea.\nThe land."]], "test": [[]]}
    )
    return output


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    """A file of lines, compressed where its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path
