"""Small corpora in several scripts, for the tests of vocabularies over many languages."""

import gzip
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.makers.finished_builds import make_build, seal
from tests.makers.sentence_builds import make_sentence_build

JAPANESE = ("富士山は高い山である。", "川は海に流れる。", "湖に船がある。", "山の水は冷たい。")


def make_text_build(
    output: Path, corpus: str, column: str, texts: Mapping[str, Sequence[str]]
) -> Path:
    """A finished build of English documents: split → the texts of its one file."""
    folder = output / corpus / "en" / "20260101-1.0.0"
    folder.mkdir(parents=True)
    outputs = []
    for split, values in texts.items():
        name = f"{split}-00000-of-00001.parquet"
        pq.write_table(pa.table({column: pa.array(values, pa.string())}), folder / name)
        content = (folder / name).read_bytes()
        outputs.append(
            {
                "name": name,
                "split": split,
                "format": "parquet",
                "records": len(values),
                "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
            }
        )
    manifest = {
        "signature": f"{corpus}|lang:en|dump:20260101|v:1.0.0",
        "corpus": corpus,
        "edition": "en",
        "dump_date": "20260101",
        "version": "1.0.0",
        "settings": {},
        "outputs": outputs,
    }
    seal(folder, manifest)
    return folder


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
        output, "pg19", "book_text", {"train": [book], "validation": ["A ferry."], "test": []}
    )
    make_text_build(
        output, "simplebooks", "raw_text", {"train": ["The sea.\nThe land."], "test": []}
    )
    return output


def write_lines(path: Path, lines: Sequence[str]) -> Path:
    """A file of lines, compressed where its name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path
