"""Commands of the documents, run by an installed wheel on the bundled samples.

A block is run if its fence is "```sh runnable" or "```python runnable": the blocks of one document one after
the other, in a folder in which the samples have the names that the documents use. One whose fence is
"```sh runnable alone" is run in such a folder of its own. If the document downloads a wiki first, the
folder has what that command downloads, and nothing else.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.test_documents import DOCUMENTS, ROOT

BLOCK = re.compile(r"^```(sh|python) runnable( alone)?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FETCH = re.compile(r"^corpusmill fetch wiki40b --language (\w+) --layout dumps$", re.MULTILINE)
SAMPLES = Path("corpusmill", "pipelines", "samples")
SAMPLE_DATE, DATE = "20260101", "20261101"
TIMEOUT_SECONDS = 300


class Block(NamedTuple):
    """A block to run."""

    language: str  # "sh" or "python"
    alone: str  # "" if it is run in the folder of the block before it
    text: str


def blocks_of(document: str) -> list[Block]:
    """The blocks of a document that are to be run."""
    return [Block(*found) for found in BLOCK.findall((ROOT / document).read_text("utf-8"))]


def runnable() -> Iterator[object]:
    """The documents that have such blocks; those in Python need the extra "compat"."""
    for document in DOCUMENTS:
        languages = {block.language for block in blocks_of(document)}
        if languages:
            marks = [pytest.mark.compat] if "python" in languages else []
            yield pytest.param(document, marks=[pytest.mark.slow, *marks])


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which pip has installed the wheel of this checkout. Its programs see one core: only the
    command that asks for eight workers has several.
    """
    folder = tmp_path_factory.mktemp("wheel")
    for name in ("pipelines", "transforms"):
        shutil.copytree(ROOT / name, folder / "checkout" / name)
    shutil.copytree(ROOT / ".package", folder / "checkout" / ".package", symlinks=True)
    for name in ("README.md", "setup.py", "LICENSE"):
        shutil.copy(ROOT / name, folder / "checkout")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    source, wheels = str(folder / "checkout"), str(folder / "wheels")
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", wheels, source], check=True)
    (wheel,) = map(str, Path(wheels).iterdir())
    target = str(folder / "installed")
    subprocess.run([*pip, "install", "--no-deps", "--target", target, wheel], check=True)
    shutil.rmtree(source)
    (folder / "installed" / "sitecustomize.py").write_text(
        "import os\n\nos.cpu_count = lambda: 1\n"
    )
    return folder / "installed"


def lay_out(folder: Path, samples: Path, demo: Path, named: str) -> None:
    """Puts the samples where the documents have their inputs, and builds of them into `corpora`.

    The real txt-files.tar.zip holds all books; that of the samples holds a few. Builds that a document makes
    itself are left out.

    Args:
      named: the commands; a build of One Billion Word is there if they name it.
    """
    folder.mkdir()
    for path in samples.rglob(f"*-{SAMPLE_DATE}-*"):
        name = path.name.replace(SAMPLE_DATE, DATE).replace("all.json.gz", "all.json.bz2")
        (folder / name).symlink_to(path)
        dump = folder / "dumps" / name.partition("-")[0] / DATE
        dump.mkdir(parents=True, exist_ok=True)
        (dump / name).symlink_to(path)
    (folder / "downloads").symlink_to("dumps")
    books = samples / "gutenberg"
    for path in (*(samples / "news").glob("[nt]*"), *books.glob("*.csv")):
        (folder / path.name).symlink_to(path)
    with tarfile.open(folder / "txt-files.tar", "w") as archive:
        archive.add(books / "library", "library")
    with zipfile.ZipFile(folder / "txt-files.tar.zip", "w") as packed:
        packed.write(folder / "txt-files.tar", "txt-files.tar")
    shutil.copytree(demo, folder / "corpora", ignore=shutil.ignore_patterns("tokens", "lm1b"))
    sentences = [f"Sentence {number} of an evaluation set." for number in range(3)]
    flores = folder / "flores101_dataset" / "devtest"
    flores.mkdir(parents=True)
    (flores / "ukr.devtest").write_text("".join(f"{one}\n" for one in sentences), "utf-8")
    (folder / "web").mkdir()
    rows = "".join(f"{json.dumps({'text': one})}\n" for one in sentences)
    (folder / "web" / "a.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    (build,) = (demo / "lm1b").glob("*/2*")
    documents = sum(map(len, map(pq.read_table, build.glob("paper_test-*.parquet"))))
    scores = {"document": range(documents), "log_likelihood": [-100.0] * documents}
    if "corpora/lm1b/en/" in named:
        shutil.copytree(build, folder / "corpora" / "lm1b" / "en" / build.name)
    (folder / "run-7").mkdir()
    pq.write_table(pa.table(scores), folder / "run-7" / "scores.parquet")


def lay_out_download(folder: Path, samples: Path, language: str) -> None:
    """Puts the sample of a wiki where `corpusmill fetch` downloads it to, under the names of a newer dump."""
    dump = folder / "downloads" / f"{language}wiki" / DATE
    dump.mkdir(parents=True)
    sample = samples / "wikipedia" / f"{language}wiki"
    for kind in ("page_props.sql.gz", "pages-articles-multistream.xml.bz2"):
        shutil.copy(
            sample / f"{sample.name}-{SAMPLE_DATE}-{kind}", dump / f"{sample.name}-{DATE}-{kind}"
        )


@pytest.mark.parametrize("document", list(runnable()))
def test_commands_of_a_document_run(
    document: str, installed: Path, demo: Path, tmp_path: Path
) -> None:
    path = os.pathsep.join([str(installed / "bin"), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(installed)}
    folder = tmp_path
    for number, block in enumerate(blocks_of(document)):
        if block.language == "python":
            pytest.importorskip("datasets")
        if not number or block.alone:
            folder = tmp_path / str(number)
            fetched = FETCH.search((ROOT / document).read_text("utf-8"))
            if fetched:
                lay_out_download(folder, installed / SAMPLES, fetched[1])
            else:
                lay_out(folder, installed / SAMPLES, demo, block.text)
        command = ["bash", "-euc"] if block.language == "sh" else [sys.executable, "-c"]
        done = subprocess.run(
            [*command, block.text],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        assert not done.returncode, f"{block.text}\n{done.stdout}\n{done.stderr}"
