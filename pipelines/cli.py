"""The command `corpusmill`: its parser with all commands, its log and its exit status.

The parser of a corpus is filled only when it is needed. Flags that no command defines are passed on to the
Beam runner.
"""

import argparse
import atexit
import contextlib
import functools
import gc
import importlib
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self, TextIO

from corpusmill.pipelines.inspect import inspect_commands
from corpusmill.pipelines.inspect.head import add_head
from corpusmill.pipelines.refresh import refresh_commands
from corpusmill.pipelines.run import flags
from corpusmill.pipelines.run.corpora import VERSION, CorpusRow, rows
from corpusmill.pipelines.run.engines.fork_server import without_collections
from corpusmill.pipelines.run.engines.worker_processes import started_early
from corpusmill.pipelines.run.extras import check_extras
from corpusmill.transforms.files import errors
from corpusmill.transforms.files.terminal import escape, escaped_output

from . import score_commands
from .adopt_settings import add_adopt


class LazyParser(flags.CommandParser):
    """A parser that adds its flags only when they are needed, because the module of a corpus is slow to
    import.

    Args:
      fill: Function that adds the flags to this parser.
    """

    def __init__(self, *args: Any, fill: Callable[[Self], None] | None = None, **named: Any):
        super().__init__(*args, **named)
        self._fill = fill

    def filled(self) -> Self:
        """Returns this parser. Adds its flags first, if this was not yet done."""
        fill, self._fill = self._fill, None
        if fill:
            fill(self)
        return self

    def parse_known_args(self, *args: Any, **named: Any) -> Any:
        """Parses arguments (see argparse)."""
        return super(LazyParser, self.filled()).parse_known_args(*args, **named)


def _fill(row: CorpusRow, parser: LazyParser) -> None:
    """Adds the flags of a corpus. Without a function `add`, its settings and its module say all about it."""
    module = importlib.import_module(row.command or row.module)
    if hasattr(module, "add"):
        module.add(parser)
        return
    flags.describe(parser, module.__doc__, functools.partial(flags.build_corpus, row.name))
    flags.add_build(parser, getattr(module, row.settings))


DEMO = "corpusmill-demo"


def add_demo(commands: flags.Commands) -> None:
    """Builds every corpus from the bundled samples, and prints the sizes of the builds."""
    parser = flags.add_command(
        commands, "demo", "build every corpus from bundled samples", add_demo.__doc__, _run_demo
    )
    about = "parent folder of the builds (default %(default)s)"
    flags.Flags(parser).text("--output", "DIR", about, default=DEMO)
    flags.add_json(parser)
    flags.add_runner(parser, workers=1)
    parser.set_defaults(extras=[*rows()])
    parser.set_defaults(replace=True, fresh=True, ignore_memory=False, dry_run=False)
    parser.set_defaults(accept=(), is_sample=True)


def _run_demo(settings: argparse.Namespace, beam_flags: Sequence[str]) -> None:
    from corpusmill.pipelines.inspect.build_sizes import find_sizes
    from corpusmill.pipelines.inspect.report import render_text
    from corpusmill.transforms.files.terminal import screen_columns

    from .sample_builds import sample_builds

    for corpus in sample_builds(settings.output):
        flags.launch_build(corpus, settings, beam_flags)
    if not settings.json:
        sys.stdout.write(render_text(find_sizes([settings.output]), screen_columns()))


OF_BUILDS = (
    add_adopt,
    *(refresh_commands.add_fetch, refresh_commands.add_refresh, inspect_commands.add_report),
    *(add_head, inspect_commands.add_inspect),
    *(inspect_commands.add_verify, inspect_commands.add_compare),
    *(inspect_commands.add_contamination, inspect_commands.add_overlap, score_commands.add_score),
    *(inspect_commands.add_harness, inspect_commands.add_publish),
    add_demo,
)

EPILOG = """\
first steps:
  corpusmill demo                   builds every corpus from bundled samples, in a minute
  corpusmill fetch wiki40b --language uk    downloads the files of one build, and prints how to build it
  corpusmill help wiki40b           how to build Wiki-40B from dumps on disk
  corpusmill help lm1b              how to build One Billion Word from news sentences
  corpusmill help pg19              how to build PG-19 from Project Gutenberg, and simplebooks SimpleBooks
  corpusmill report DIR             the sizes of finished builds, and the figures of the papers
"""


def make_parser() -> flags.CommandParser:
    """Returns the parser of all commands."""
    parser = flags.CommandParser(
        prog="corpusmill",
        description="Builds language-model benchmark corpora from their raw sources.",
        epilog=EPILOG,
        formatter_class=flags.HelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(**flags.DEFAULTS)
    parser.add_argument(
        "--version",
        action=_Version,
        nargs=0,
        help="print the versions of this package and of each corpus",
    )
    commands: Any = parser.add_subparsers(
        title="commands",
        required=True,
        metavar="COMMAND",
        dest="command",
        parser_class=LazyParser,
    )
    for row in rows().values():
        commands.add_parser(
            row.name,
            help=row.about or f"builds {row.name}",
            formatter_class=flags.HelpFormatter,
            allow_abbrev=False,
            fill=functools.partial(_fill, row),
        )
    for add_other in OF_BUILDS:
        add_other(commands)
    about = "show the help page of a command"
    help = commands.add_parser("help", help=about, description=about, allow_abbrev=False)
    help.add_argument("words", nargs="*", metavar="COMMAND", action=_Help)
    return parser


class _Version(argparse.Action):
    """Prints the versions, for --version, and exits."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        logging.getLogger().setLevel(logging.CRITICAL)  # Beam warns about optional libraries
        print(f"corpusmill {VERSION}", flush=True)
        for row in rows().values():  # a line as soon as the version of a corpus is known
            settings = importlib.import_module(row.command or row.module)  # mostly without Beam
            print(f"  {row.name:12} {settings.VERSION}", flush=True)
        parser.exit()


class _Help(argparse.Action):
    """Prints the help page of a command, such as "flores101 packets", and exits."""

    def __call__(self, _: argparse.ArgumentParser, __: object, words: Any, *___: object) -> None:
        make_parser().parse_args([*words, "--help"])


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
        return flags.fill(
            line.replace(f"{record.asctime} {record.levelname} ", f"{clock} {named}", 1)
        )


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
        try:
            return _main(arguments)
        except BrokenPipeError:  # the reader of a pipe, such as `head`, has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 128 + signal.SIGPIPE


def _main(arguments: Sequence[str] | None) -> int:
    parser = make_parser()
    settings, beam_flags = parser.parse_known_args(arguments)
    # Beam logs every error that it also raises, and warns about optional libraries that are not
    # installed.
    others = logging.INFO if settings.verbose else logging.CRITICAL
    handler = _LogHandler()
    handler.setFormatter(_LogFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=others, handlers=[handler])
    level = settings.log_level or ("warning" if settings.quiet else "info")
    logging.getLogger("corpusmill").setLevel(level.upper())
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:  # set by __main__.py
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # so that clean-up code runs
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    atexit.register(gc.freeze)  # a last garbage collection takes long
    try:
        errors.check_address_space()
        with _early_start(settings):
            return run(settings, beam_flags, parser.flags(settings.command))
    except errors.BuildError as error:
        return _fail(1, error)
    except (MemoryError, OSError, ImportError, RuntimeError) as error:
        shortage = errors.find_shortage(error)
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
        from corpusmill.pipelines.run.engines.engine import (
            check_beam_flags,
            check_runner_flags,
            set_file_options,
        )
        from corpusmill.pipelines.run.publish import TargetError
        from corpusmill.transforms.files.read_files import InputError
        from corpusmill.transforms.files.stores import StoreError
        from corpusmill.transforms.files.write_files import temporary_files

    try:
        check_extras(getattr(settings, "extras", [settings.command]))
        check_beam_flags(beam_flags, lambda flag: flags.guess(flag, known))
        check_runner_flags(getattr(settings, "runner", ""), beam_flags)
        set_file_options(beam_flags)
        with _ignored_interrupts_repeated(), temporary_files():
            status: int | None = settings.run(settings, beam_flags)
    except ValueError as error:
        return _fail(2, error)
    except (errors.BuildError, InputError, StoreError, TargetError) as error:
        return _fail(1, error)
    except KeyboardInterrupt:
        return _fail(130, f"interrupted; nothing unfinished was published{_resume_hint(settings)}")
    return status or 0


@contextlib.contextmanager
def _early_start(settings: argparse.Namespace) -> Iterator[None]:
    """Starts the process that forks workers, if the command is to run with several of them on this machine.

    That process imports Beam while this one does. A build with two workers starts a second earlier.
    """
    is_forking = getattr(settings, "runner", "") == errors.IN_PROCESS and settings.workers > 1
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
    print(flags.fill(f"corpusmill: error: {text}"), file=sys.stderr)
    return status
