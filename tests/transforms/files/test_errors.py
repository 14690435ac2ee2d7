"""Errors of workers about files reach the person who started the build, in one line."""

import errno

import apache_beam as beam
import pytest

from corpusmill.pipelines.run.engines.run_pipeline import InProcess, run_pipeline
from corpusmill.transforms.files.errors import BuildError, find_shortage, find_worker_error
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.stores import StoreError
from tests.tools.case_tables import read_cases

TRACEBACK = """\
Traceback (most recent call last):
  File "a.py", line 1, in b
google.api_core.exceptions.Forbidden: 403 POST https://x: no

The above exception was the direct cause of the following exception:

transforms.files.stores.StoreError: gs://b/x: access is denied: no [while running 'Write-ptransform-7']
"""


@pytest.mark.parametrize(("text", "line"), read_cases("files/errors", "one_line_of_a_traceback"))
def test_one_line_of_a_traceback(text: str, line: str) -> None:
    assert find_worker_error(text) == line


LESS = "use fewer --workers, or a machine with more memory"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "a/b"), "a/b: No space left on device"),
        (MemoryError(), f"memory ran out (MemoryError): {LESS}"),
        (
            RuntimeError("can't start new thread"),
            f"memory ran out (can't start new thread): {LESS}",
        ),
        (OSError(errno.ELOOP, "Too many levels of links", "a/b"), "a/b: Too many levels of links"),
        (RuntimeError("Symlink loop from 'a'"), "Symlink loop from 'a'"),
        (OSError(errno.ENOENT, "No such file or directory", "a/b"), ""),
        (RuntimeError("x"), ""),
    ],
)
def test_one_line_of_what_is_short(error: Exception, line: str) -> None:
    assert find_shortage(error) == line


def test_a_worker_without_memory_ends_the_run_with_a_line() -> None:
    with pytest.raises(BuildError, match=r"^a worker process stopped: memory ran out"):
        run_pipeline(
            lambda root: root | beam.Create([1]) | beam.Map(_take_all_memory) and None,
            InProcess(1, ()),
        )


def _take_all_memory(_: int) -> None:
    raise MemoryError


def _fail(kind: str) -> None:
    raise StoreError("s3://b/x", "full") if kind == "store" else InputError("b.xml", "cut off", 7)


@pytest.mark.parametrize(
    ("kind", "line"), [("store", "s3://b/x: full"), ("input", "b.xml, byte 7: cut off")]
)
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_error_of_a_worker_ends_the_run(kind: str, line: str, workers: int) -> None:
    with pytest.raises(BuildError) as error:
        run_pipeline(
            lambda root: root | beam.Create([kind]) | beam.Map(_fail) and None,
            InProcess(workers, ()),
        )
    assert str(error.value) == line


def test_an_error_while_the_pipeline_is_made_ends_the_run() -> None:
    with pytest.raises(BuildError, match=r"^s3://b/x: full$"):
        run_pipeline(lambda _: _fail("store"), InProcess(1, ()))
