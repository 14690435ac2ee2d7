"""The golden builds: what `corpusmill demo` makes, kept in tests/golden and compared byte for byte.

A Parquet file and what holds its hash depend on the version of pyarrow, and the manifest on those of
other libraries: where they differ from those of the golden tree, what the files say is compared. The scores
of a SentencePiece vocabulary are sums of floating-point numbers, whose last bits another processor may
round otherwise: they are compared to three digits.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import sentencepiece

GOLDEN = Path(__file__).parents[1] / "golden"
TOY = Path(__file__).parents[1] / "golden_toy"  # that of the toy corpus


def tree_of(folder: Path) -> dict[str, bytes]:
    """Name → bytes of every file below a folder."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}


def check_golden(fresh: Mapping[str, bytes], below: str = "", tree: Path = GOLDEN) -> None:
    """Asserts that files are those of the golden tree in a folder.

    Args:
      fresh: name in that folder → bytes.
      below: path of the folder in the tree; "" is the whole tree.
      tree: the golden tree.
    """
    files = tree_of(tree)
    is_alike = is_written_alike(next(data for name, data in files.items() if ".parquet" in name))
    inside = f"{below}/" if below else ""
    golden = {
        name.removeprefix(inside): data for name, data in files.items() if name.startswith(inside)
    }
    assert golden
    assert fresh.keys() == golden.keys()
    for name, data in golden.items():
        expected = content_of(name, data, is_alike=is_alike)
        assert content_of(name, fresh[name], is_alike=is_alike) == expected, name


def is_written_alike(golden: bytes) -> bool:
    """Returns True if the running pyarrow is of the version that wrote a golden Parquet file."""
    created_by = pq.ParquetFile(pa.BufferReader(golden)).metadata.created_by
    return bool(created_by == f"parquet-cpp-arrow version {pa.cpp_version}")


def content_of(name: str, data: bytes, *, is_alike: bool) -> Any:
    """Returns the content that must be equal in a golden file and a fresh one."""
    if name.endswith("manifest.json"):
        manifest = json.loads(data)
        del manifest["code"]
        manifest["settings"].pop(
            "builds", None
        )  # hashes of manifests, with what libraries made them
        for file in (*manifest["inputs"], *manifest["outputs"]):
            if _depends_on_libraries(file, is_alike):
                del file["bytes"], file["sha256"]
        return manifest
    if name.endswith("COMPLETED"):
        return data.split()[1]
    if name.endswith(".parquet") and not is_alike:
        return pq.read_table(pa.BufferReader(data))
    if name.endswith(".model"):
        processor = sentencepiece.SentencePieceProcessor(model_proto=data)
        pieces = range(processor.get_piece_size())
        return [(processor.id_to_piece(one), round(processor.get_score(one), 3)) for one in pieces]
    if name.endswith(".vocab"):
        lines = (line.rsplit("\t", 1) for line in data.decode("utf-8").splitlines())
        return [(piece, round(float(score), 3)) for piece, score in lines]
    return data


def _depends_on_libraries(file: dict[str, Any], is_alike: bool) -> bool:
    if file["name"] == "manifest.json":  # of a build that this one was made from
        return True
    kind = file.get("format", file.get("role", ""))
    return kind.startswith("sentencepiece") or (kind == "parquet" and not is_alike)
