"""Work that goes on beside a block: a display that is drawn, a sign of life that is given."""

import contextlib
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def beside(work: Callable[[threading.Event], object]) -> Iterator[None]:
    """Works in a thread of its own while the block runs, and waits for its end.

    Args:
      work: gets an event that is set when the block is over; then it has to return.
    """
    is_over = threading.Event()
    thread = threading.Thread(target=work, args=(is_over,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
