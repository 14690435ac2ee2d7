"""Entry point of `corpusmill`, and of `python -m corpusmill` in a checkout that is not installed."""

import signal
import sys

if signal.getsignal(signal.SIGINT) == signal.default_int_handler:
    # until `main` runs; errors of imports are still printed
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
