"""Runs the benchmark's own scripts, get-data.sh and what it calls, as their README says.

They are the reference: what they make of the same lines is what a build must hold, byte for byte.
"""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.makers.news_lines import YEARS

TRAINING = "training-monolingual.tokenized.shuffled"
HELD_OUT = "heldout-monolingual.tokenized.shuffled"
SORTED = "training-monolingual.tokenized/news.20XX.en.shuffled.sorted"
TOKENIZED = SORTED + ".tokenized"


def run_scripts(
    scripts: Path, texts: Mapping[int, Iterable[bytes]], folder: Path, timeout_seconds: float
) -> None:
    """Runs get-data.sh in `folder` on the texts of the years; its output stays there.

    `scripts` is the folder of that name in the benchmark's repository. Lines that are not UTF-8 make the
    scripts hang, so they end after `timeout_seconds` with subprocess.TimeoutExpired.
    """
    write_texts(texts, folder)
    shutil.copytree(scripts, folder / "scripts")
    for script in (folder / "scripts").glob("*.perl"):
        script.chmod(0o755)  # get-data.sh calls them by name
    command = ["bash", "scripts/get-data.sh"]
    log = folder / "get-data.log"
    with log.open("wb") as output, _process(command, folder, output.fileno()) as process:
        try:
            status = process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)  # bash's children would go on
            raise
    if status:
        raise RuntimeError(f"get-data.sh ended with {status}: {log.read_text()[-1000:]}")


def _process(command: list[str], folder: Path, output: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )


def write_texts(texts: Mapping[int, Iterable[bytes]], folder: Path) -> None:
    """Writes the raw lines where get-data.sh looks for them, a file for every year."""
    raw = folder / "training-monolingual"
    raw.mkdir(parents=True)
    for year in YEARS:
        with (raw / f"news.{year}.en.shuffled").open("wb") as stream:
            stream.writelines(texts.get(year, ()))


def shards_of(folder: Path) -> dict[str, bytes]:
    """Name below the folder → the text shards that the scripts, or a build, have left there."""
    paths = [path for name in (TRAINING, HELD_OUT) for path in (folder / name).iterdir()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(paths)}
