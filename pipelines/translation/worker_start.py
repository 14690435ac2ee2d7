"""Prepares a worker process.

This module imports no library that logs warnings or takes long to load.
"""

import logging
import signal


def prepare_worker() -> None:
    """Turns off all logging in this process, and makes Ctrl-C end it at once.

    Logging is turned off because Beam logs warnings about missing libraries. Ending the process at once is
    safe, because entries are added atomically to the journal of a language (see journal.py).
    """
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
