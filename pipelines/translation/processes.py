"""Computes results for many items in several processes."""

import concurrent.futures
import contextlib
import logging
import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from corpusmill.transforms.files.read_files import InputError

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def in_processes(
    check: Callable[[_Item], _Result], items: Sequence[_Item], count: int, place: str, what: str
) -> Iterator[_Result]:
    """Yields the results of `check` for items, in their order, computed by `count` processes.

    Raises InputError with the path `place` if a process is killed. `what` is the noun for items.
    """
    # Beam and Arrow start threads, and a forked process with threads may hang.
    context = multiprocessing.get_context("spawn")
    quiet = (logging.disable, (logging.CRITICAL,))  # Beam warns of libraries that are absent
    pool = concurrent.futures.ProcessPoolExecutor(count, context, *quiet)
    try:
        with _ignored_interrupts():
            futures = [pool.submit(_check_in_worker, check, one) for one in items]
        yield from (future.result() for future in futures)
    except BrokenProcessPool:
        done = sum(future.done() and not future.exception() for future in futures)
        told = f"{done:,} of {len(items):,} {what} are done"
        message = (
            f"a process was killed, perhaps because memory ran out; {told}: use --workers 1, which"
            " needs the least memory"
        )
        raise InputError(place, message) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _check_in_worker(check: Callable[[_Item], _Result], item: _Item) -> _Result:
    """Checks an item in a process that Ctrl-C ends at once.

    This is safe, because entries are added atomically to the journal of a language (see journal.py).
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return check(item)


@contextlib.contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Makes processes that are started in the `with` block ignore Ctrl-C until they check a language."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
