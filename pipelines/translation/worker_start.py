"""The first thing that a worker process runs. Imports nothing that warns or takes time."""

import logging
import signal


def prepare_worker() -> None:
    """Keeps a worker quiet: Beam warns of absent libraries, and Ctrl-C is for the process that started it.

    A worker that Ctrl-C reaches ends at once: what it adds to a journal is there whole or not at all.
    """
    logging.disable(logging.CRITICAL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
