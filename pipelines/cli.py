"""The command `corpusmill`. Flags that no command defines are passed on to the Beam runner."""

import argparse
import atexit
import contextlib
import gc
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

from corpusmill.pipelines.parser import make_parser
from corpusmill.pipelines.run.command_parser import fill, guess, level_of
from corpusmill.pipelines.run.corpora import rows
from corpusmill.pipelines.run.engines.fork_server import without_collections
from corpusmill.pipelines.run.engines.worker_processes import started_early
from corpusmill.pipelines.run.extras import check_extras
from corpusmill.transforms.files.errors import BuildError, check_address_space, find_shortage
from corpusmill.transforms.files.runners import IN_PROCESS
from corpusmill.transforms.files.terminal import escape, escaped_output

LAUNCH = "corpusmill.pipelines.run.launch"  # most modules of the launcher that workers import, too
_REPEAT_SECONDS = 0.01
_BEAM_EXTRA = re.compile(r"pip install apache-beam\[(\w+)\]")  # Beam's messages name its own extras


class _LogFormatter(logging.Formatter):
    """Formats log lines. Lines for a terminal are shorter than lines for a file.

    In a terminal, a line has the time without the date, has no level if it is INFO, and is wrapped between
    words.
    """

    def format(self, record: logging.LogRecord) -> str:
        line = escape(super().format(record))  # a progress bar interprets control characters
        if not sys.stderr.isatty():
            return line
        named = "" if record.levelno == logging.INFO else f"{record.levelname} "
        clock = self.formatTime(record, "%H:%M:%S")
        return fill(line.replace(f"{record.asctime} {record.levelname} ", f"{clock} {named}", 1))


class _LogHandler(logging.StreamHandler[TextIO]):
    """Writes log lines to the current sys.stderr. A progress bar replaces sys.stderr while it is drawn."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line, and returns the exit status.

    Args:
      arguments: The words of the command line; by default those of this process.
    """
    with escaped_output():
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    parser = make_parser()
    settings, beam_flags = parser.parse_known_args(arguments)
    # Beam logs every error that it also raises, and warns about optional libraries that are not
    # installed.
    others = logging.INFO if settings.verbose else logging.CRITICAL
    handler = _LogHandler()
    handler.setFormatter(_LogFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=others, handlers=[handler])
    logging.getLogger("corpusmill").setLevel(level_of(settings))
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:  # set by __main__.py
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM)
    )  # so that clean-up code runs
    atexit.register(gc.freeze)  # a last garbage collection takes long
    try:
        check_address_space()
        with _early_start(settings):
            return run(settings, beam_flags, parser.flags(settings.command))
    except BuildError as error:
        return _fail(1, error)
    except (MemoryError, OSError, ImportError, RuntimeError) as error:
        shortage = find_shortage(error)
        if not shortage:
            raise
        return _fail(1, shortage)


def run(settings: argparse.Namespace, beam_flags: Sequence[str], known: Iterable[str] = ()) -> int:
    """Runs a parsed command, and returns the exit status. Errors that the user can fix are printed as one
    line.

    Args:
      settings: The parsed arguments.
      beam_flags: The flags to pass on to Beam.
      known: The flags of the command. If Beam does not know a flag, the error suggests a similar one.
    """
    # Importing Beam takes a second; `--help` does not wait for it.
    with _signals_end_process(), without_collections():
        from corpusmill.pipelines.run.engines.beam_flags import check_beam_flags, check_runner_flags
        from corpusmill.pipelines.run.engines.file_options import set_file_options
        from corpusmill.pipelines.run.publish import TargetError
        from corpusmill.transforms.files.open_input import InputError
        from corpusmill.transforms.files.stores import StoreError
        from corpusmill.transforms.files.temporary_files import temporary_files

    try:
        check_extras(getattr(settings, "extras", [settings.command]))
        check_beam_flags(beam_flags, lambda flag: guess(flag, known))
        check_runner_flags(getattr(settings, "runner", ""), beam_flags)
        set_file_options(beam_flags)
        with _ignored_interrupts_repeated(), temporary_files():
            status: int | None = settings.run(settings, beam_flags)
    except ValueError as error:
        return _fail(2, error)
    except (BuildError, InputError, StoreError, TargetError) as error:
        return _fail(1, error)
    except BrokenPipeError:  # the reader of a pipe, such as `head`, has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return _fail(130, f"interrupted; nothing unfinished was published{_resume_hint(settings)}")
    return status or 0


@contextlib.contextmanager
def _early_start(settings: argparse.Namespace) -> Iterator[None]:
    """Starts the process that forks workers, if the command is to run with several of them on this machine.

    That process imports Beam while this one does. A build with two workers starts a second earlier.
    """
    is_forking = getattr(settings, "runner", "") == IN_PROCESS and settings.workers > 1
    if not is_forking or getattr(settings, "dry_run", False):
        yield
        return
    row = rows().get(settings.command)
    modules = [LAUNCH, row.module] if row else [LAUNCH]
    with contextlib.ExitStack() as stack:
        with _signals_end_process():
            stack.enter_context(started_early(modules))
        yield


@contextlib.contextmanager
def _signals_end_process() -> Iterator[None]:
    """Lets Ctrl-C and SIGTERM end the process at once, without clean-up, during the `with` block.

    If the signals raised an exception instead, a callback that runs during an import could swallow it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in handlers.items():
        if handler != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _ignored_interrupts_repeated() -> Iterator[None]:
    """Sends Ctrl-C or SIGTERM again, if Python has ignored the exception that the signal raised. Python
    ignores exceptions in finalizers.
    """
    show = sys.unraisablehook

    def repeat(ignored: Any) -> None:
        if not isinstance(ignored.exc_value, KeyboardInterrupt | SystemExit):
            show(ignored)
            return
        is_ctrl_c = isinstance(ignored.exc_value, KeyboardInterrupt)
        number = signal.SIGINT if is_ctrl_c else signal.SIGTERM
        threading.Timer(_REPEAT_SECONDS, os.kill, (os.getpid(), number)).start()

    sys.unraisablehook = repeat
    try:
        yield
    finally:
        sys.unraisablehook = show


def _resume_hint(settings: argparse.Namespace) -> str:
    """Returns the end of a message that says how to resume an interrupted build; "" for commands without
    stages.
    """
    if not hasattr(settings, "fresh") or settings.command == "demo":
        return ""
    without = ", without --fresh," if settings.fresh else ""
    return f"; the same command{without} continues from the last finished stage"


def _fail(status: int, error: object) -> int:
    text = _BEAM_EXTRA.sub(r"pip install 'corpusmill[\1]'", str(error))
    text = text.replace("\n", "\n  ")  # a line from an input cannot look like a message of its own
    with contextlib.suppress(OSError):
        sys.stdout.flush()  # the error is the last line, even if both streams go to one file
    print(fill(f"corpusmill: error: {text}"), file=sys.stderr)
    return status
