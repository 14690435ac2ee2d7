"""The golden builds: what `corpusmill demo` makes, kept in tests/golden and compared byte for byte.

A Parquet file and what holds its hash depend on the version of pyarrow, and the manifest on those of
other libraries: where they differ from those of the golden tree, what the files say is compared.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

GOLDEN = Path(__file__).parent / "golden"


def tree_of(folder: Path) -> dict[str, bytes]:
    """Name → bytes of every file below a folder."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}


def is_written_alike(golden: bytes) -> bool:
    """Whether the running pyarrow is of the version that wrote a golden Parquet file."""
    created_by = pq.ParquetFile(pa.BufferReader(golden)).metadata.created_by
    return bool(created_by == f"parquet-cpp-arrow version {pa.cpp_version}")


def content_of(name: str, data: bytes, *, is_alike: bool) -> Any:
    """What must be equal in a golden file and a fresh one."""
    if name.endswith("manifest.json"):
        manifest = json.loads(data)
        del manifest["code"]
        if not is_alike:
            for file in manifest["outputs"]:
                if file["format"] == "parquet":
                    del file["bytes"], file["sha256"]
        return manifest
    if name.endswith("COMPLETED"):
        return data.split()[1]
    if name.endswith(".parquet") and not is_alike:
        return pq.read_table(pa.BufferReader(data))
    return data
