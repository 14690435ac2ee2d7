"""Checks of the memory that is available, and the message if it is not enough."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.run.corpora import MemoryModel
from corpusmill.pipelines.run.forecast import cgroup_limits, check_memory, memory_limit
from corpusmill.transforms.files.errors import BuildError
from tests.tools.case_tables import read_cases

GB = 10**9
MODEL = MemoryModel(base_bytes=GB, worker_bytes=GB // 2, input_share=0.5)


@pytest.mark.parametrize(
    ("own", "limits", "found"),
    read_cases("pipelines/memory", "limits_of_groups"),
    ids=["version 2", "version 1", "of the host", "none"],
)
def test_limits_of_groups(
    own: str, limits: dict[str, str], found: list[int], tmp_path: pathlib.Path
) -> None:
    listed = tmp_path / "cgroup"
    if own:
        listed.write_text(own)
    for name, limit in limits.items():
        path = tmp_path / "fs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{limit}\n")
    assert list(cgroup_limits(listed, tmp_path / "fs")) == found


def test_the_limit_is_no_more_than_the_memory_of_the_machine() -> None:
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 0 < memory_limit() <= physical


def test_the_limit_of_a_process_counts() -> None:
    show = "from corpusmill.pipelines.run.forecast import memory_limit; print(memory_limit())"
    done = subprocess.run(
        ["bash", "-c", 'ulimit -v 3000000; exec "$0" -c "$1"', sys.executable, show],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) == 3000000 * 1024


def test_packed_files_hold_more_than_is_stored() -> None:
    sizes = {"gs://b/a.gz": 100, "/data.gz/b": 7, "c.bz2": 10}
    assert MODEL.text_bytes(sizes) == 250 + 7 + 33
    assert MODEL._replace(expansion={}).text_bytes(sizes) == 117


def test_what_fits_may_start() -> None:
    check_memory(MODEL, 2 * GB, workers=3, limit=3 * GB)


@pytest.mark.parametrize(
    ("text_bytes", "message"),
    [
        (
            2 * GB,
            "the in-process runner needs about 3.5 GB of memory for 2.0 GB of text, but only 3.0 GB"
            " are available: --workers 3 needs 3.0 GB; --runner SparkRunner also runs on this machine,"
            " and its memory does not grow with the input; --ignore-memory starts the build anyway",
        ),
        (10 * GB, "available: --runner SparkRunner also runs"),  # no number of workers fits
    ],
)
def test_what_does_not_fit_is_refused_with_advice(text_bytes: int, message: str) -> None:
    with pytest.raises(BuildError, match=re.escape(message)):
        check_memory(MODEL, text_bytes, workers=4, limit=3 * GB)


@given(st.integers(0, 100 * GB), st.integers(1, 64), st.integers(1, 100 * GB))
def test_advised_numbers_of_workers_fit(text_bytes: int, workers: int, limit: int) -> None:
    try:
        check_memory(MODEL, text_bytes, workers, limit)
    except BuildError as error:
        assert MODEL.needed(text_bytes, workers) > limit
        if "--workers" in str(error):
            fewer = int(str(error).split("--workers ")[1].split()[0])
            assert fewer < workers
            check_memory(MODEL, text_bytes, fewer, limit)
    else:
        assert MODEL.needed(text_bytes, workers) <= limit
