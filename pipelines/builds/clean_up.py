"""Cleaning up after an error, or an interrupt, which must not be hidden by what goes wrong then."""

import contextlib
import logging
import pathlib
import shutil
import time
from collections.abc import Iterator

from apache_beam.io.filesystem import BeamIOError

from transforms.files.open_input import InputError
from transforms.files.stores import refusal_of


@contextlib.contextmanager
def errors_logged() -> Iterator[None]:
    """Logs what a disk or a store refuses inside the block, and goes on."""
    log = logging.getLogger(__name__)
    try:
        yield
    except BeamIOError as error:
        log.warning("left behind: %s", refusal_of(error))
    except (OSError, InputError) as error:  # StoreError is one of the first
        log.warning("left behind: %s", error)


def remove_busy(folder: pathlib.Path, seconds: float) -> bool:
    """Removes a folder. Workers of a killed build write on in it until they notice that they are alone.

    Returns False where they have not noticed after so many seconds.
    """
    end = time.monotonic() + seconds
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)
        if time.monotonic() > end:
            break
        time.sleep(0.01)
    return not folder.exists()
