"""Which code makes a build: the versions that decide about its bytes."""

import importlib.metadata
import platform
import unicodedata

VERSION = "0.1.0"

_LIBRARIES = ("apache-beam", "orjson", "protobuf", "pyarrow", "zstandard")


def code_versions() -> dict[str, str]:
    """Package → version."""
    versions = {name: importlib.metadata.version(name) for name in _LIBRARIES}
    python = ".".join(platform.python_version_tuple()[:2])
    return (
        {"corpusmill": VERSION}
        | versions
        | {"python": python, "unicode": unicodedata.unidata_version}
    )
