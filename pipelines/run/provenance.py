"""Returns the versions of the software that influences the output of a build."""

import importlib.metadata
import platform
import unicodedata

import corpusmill

VERSION = corpusmill.__version__

_LIBRARIES = ("apache-beam", "msgspec", "protobuf", "pyarrow", "sentencepiece", "zstandard")


def code_versions(*more_libraries: str) -> dict[str, str]:
    """Returns name → version of corpusmill, Python, Unicode and libraries, for the manifest.

    Args:
      more_libraries: Libraries in addition to those that every build uses.
    """
    libraries = sorted((*_LIBRARIES, *more_libraries))
    versions = {name: importlib.metadata.version(name) for name in libraries}
    python = ".".join(platform.python_version_tuple()[:2])
    return (
        {"corpusmill": VERSION}
        | versions
        | {"python": python, "unicode": unicodedata.unidata_version}
    )
