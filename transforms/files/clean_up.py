"""Removes files after an error or an interrupt, without hiding the original error."""

import contextlib
import logging
import pathlib
import shutil
import time
from collections.abc import Iterator

from apache_beam.io.filesystem import BeamIOError

from corpusmill.transforms.files.open_input import InputError
from corpusmill.transforms.files.stores import refusal_of


@contextlib.contextmanager
def errors_logged() -> Iterator[None]:
    """Logs errors of disks and object stores in the `with` block, instead of raising them."""
    log = logging.getLogger(__name__)
    try:
        yield
    except BeamIOError as error:
        log.warning("files that are no longer needed were not removed: %s", refusal_of(error))
    except (OSError, InputError) as error:  # StoreError is an OSError
        log.warning("files that are no longer needed were not removed: %s", error)


def remove_busy(folder: pathlib.Path, seconds: float) -> bool:
    """Removes a folder to which workers of a killed build may still be writing.

    The workers stop when they notice that the build has ended. Until then, the removal is repeated, for at
    most `seconds`.

    Returns False if the folder still exists at the end.
    """
    end = time.monotonic() + seconds
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
        if time.monotonic() > end:
            break
        time.sleep(0.01)
    return not folder.exists()
