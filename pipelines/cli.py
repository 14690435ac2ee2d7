"""The command `corpusmill`. Flags that it does not know go to Beam's runner."""

import argparse
import logging
import os
import signal
import sys
from collections.abc import Sequence

from pipelines.commands.parser import make_parser
from pipelines.engines.errors import find_shortage
from pipelines.settings.extras import check_extras


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns the exit status."""
    parser = make_parser()
    settings, beam_flags = parser.parse_known_args(arguments)
    # Beam logs every error that it also raises, and warns of optional libraries that are absent.
    others = logging.INFO if settings.verbose else logging.CRITICAL
    logging.basicConfig(level=others, format="%(asctime)s %(levelname)s %(message)s")
    for package in ("pipelines", "transforms"):
        logging.getLogger(package).setLevel(logging.INFO)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # cleans up on its way
    try:
        return run(settings, beam_flags)
    except (MemoryError, OSError, ImportError, RuntimeError) as error:
        shortage = find_shortage(error)
        if not shortage:
            raise
        return _fail(1, shortage)


def run(settings: argparse.Namespace, beam_flags: Sequence[str]) -> int:
    """Runs the command that was parsed; turns errors a person can act on into one line."""
    try:
        # Beam takes seconds to import: `--help` does not wait for it.
        from pipelines.builds.publish import TargetError
        from pipelines.builds.temporary_files import temporary_files
        from pipelines.engines.beam_flags import check_beam_flags
        from pipelines.engines.errors import BuildError
        from pipelines.engines.file_options import set_file_options
        from transforms.files.open_input import InputError
        from transforms.files.stores import StoreError

        check_extras(getattr(settings, "extras", [settings.command]))
        check_beam_flags(beam_flags)
        set_file_options(beam_flags)
        with temporary_files():
            status: int | None = settings.run(settings, beam_flags)
    except KeyboardInterrupt:  # perhaps before the errors below are imported
        return _fail(130, "interrupted; what was not finished is not published")
    except ValueError as error:
        return _fail(2, error)
    except (BuildError, InputError, StoreError, TargetError) as error:
        return _fail(1, error)
    except BrokenPipeError:  # the reader, `head` perhaps, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return status or 0


def _fail(status: int, error: object) -> int:
    print(f"corpusmill: error: {error}", file=sys.stderr)
    return status
