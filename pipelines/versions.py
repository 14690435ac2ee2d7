"""Prints the versions of the package and of the corpora.

The version of a corpus changes when the same input would give a different build.
"""

import logging

from corpusmill.pipelines.run.corpora import rows
from corpusmill.pipelines.run.provenance import VERSION


def print_versions() -> None:
    """Prints the version of the package, and then a line for each corpus as soon as its version is known."""
    logging.getLogger().setLevel(logging.CRITICAL)  # Beam warns about optional libraries
    print(f"corpusmill {VERSION}", flush=True)
    for row in rows().values():
        print(f"  {row.name:12} {_version_of(row.name)}", flush=True)


def _version_of(name: str) -> str:
    try:
        build, _ = rows()[name].classes()  # takes seconds, because it imports Beam
    except ImportError:
        return f"not installed: pip install 'corpusmill[{name}]'"
    return str(build.release.version)
