"""Writes the golden builds anew: python -m tests.tools.regenerate_golden

They change only together with VERSION and RELEASE_NOTES of a corpus. The toy corpus of the tests
has a tree of its own.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from corpusmill.pipelines.cli import main
from corpusmill.pipelines.run.corpora import CORPORA
from tests.pipelines.toy_corpus import ROW, declared
from tests.tools.golden_tree import GOLDEN, TOY


def regenerate() -> int:
    """Runs the demo and puts what it made in the place of the golden tree."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as toy:
        with declared(Path(toy), CORPORA):
            status = main(["demo", "--output", folder])
        if status == 0:
            for corpus in Path(folder).iterdir():
                tree = TOY if corpus.name == ROW.name else GOLDEN / corpus.name
                shutil.rmtree(tree, ignore_errors=True)
                shutil.copytree(corpus, tree)
    return status


if __name__ == "__main__":
    sys.exit(regenerate())
