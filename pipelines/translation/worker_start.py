"""Prepares a worker process. This module imports nothing that logs warnings or loads slowly."""

import logging
import signal


def prepare_worker() -> None:
    """Turns off logging, and makes Ctrl-C end the process at once.

    Logging is turned off because Beam logs warnings about missing libraries. Ending at once is safe, because
    entries of a journal are added atomically.
    """
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
