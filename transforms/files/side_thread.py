"""Runs work, such as drawing a display or renewing a lock, in another thread during a `with` block."""

import contextlib
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def beside(work: Callable[[threading.Event], object]) -> Iterator[None]:
    """Runs `work` in another thread during the `with` block. At the end, waits until it has returned.

    Args:
      work: Function with an event as its argument. The event is set at the end of the `with` block; the
        function must then return.
    """
    is_over = threading.Event()
    thread = threading.Thread(target=work, args=(is_over,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
