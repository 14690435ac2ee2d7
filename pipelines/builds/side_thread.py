"""Work in a side thread during a block, such as drawing a display or renewing a lock."""

import contextlib
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def beside(work: Callable[[threading.Event], object]) -> Iterator[None]:
    """Runs `work` in a thread of its own while the block runs, and waits for its end.

    Args:
      work: gets an event that is set when the block ends; `work` must return then.
    """
    is_over = threading.Event()
    thread = threading.Thread(target=work, args=(is_over,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
