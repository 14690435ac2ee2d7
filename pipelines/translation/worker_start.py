"""Initializes a worker process. This module imports nothing that logs warnings or loads slowly."""

import logging
import signal


def prepare_worker() -> None:
    """Turns off logging, because Beam logs warnings about missing libraries, and restores the default effect
    of Ctrl-C.

    Ctrl-C ends a worker at once. That is safe, because entries of a journal are added atomically.
    """
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
