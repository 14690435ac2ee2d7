"""Cleaning up after an error, or an interrupt, which must not be hidden by what goes wrong then."""

import contextlib
import logging
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
    except (OSError, InputError) as error:  # StoreError is one of the first
        log.warning("left behind: %s", error)
    except BeamIOError as error:
        log.warning("left behind: %s", refusal_of(error))
