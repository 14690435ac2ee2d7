"""Checks several languages at once in parallel processes."""

import concurrent.futures
import contextlib
import functools
import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import TextIO

from corpusmill.pipelines.translation.checks import Checked, check_language
from corpusmill.pipelines.translation.languages import TargetLanguage
from corpusmill.pipelines.translation.project import Project
from corpusmill.pipelines.translation.waivers import Waive
from corpusmill.pipelines.translation.worker_start import prepare_worker
from corpusmill.transforms.files.open_input import InputError

# If all languages together have fewer lines, starting processes takes longer than the checks.
MIN_LINES = 1_500


class Progress:
    """Displays the number of checked languages on a stream.

    In a terminal, the display is one line that is overwritten; otherwise it is a line for each language.
    """

    def __init__(self, total: int, stream: TextIO) -> None:
        self._total = total
        self._stream = stream
        self._done = 0
        self._is_terminal = stream.isatty()

    def show(self) -> None:
        """Writes the progress line, if the stream is a terminal."""
        if self._total > 1 and self._is_terminal and self._done < self._total:
            self._write(f"\r\x1b[Kchecked {self._done:,} of {self._total:,} languages …")

    def add(self, code: str) -> None:
        """Counts a checked language. In a terminal, also removes the progress line."""
        self._done += 1
        if self._is_terminal:
            self.close()
        elif self._total > 1:
            self._write(f"checked {code}, {self._done:,} of {self._total:,} languages\n")

    def close(self) -> None:
        """Removes the progress line."""
        if self._total > 1 and self._is_terminal:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        print(text, end="", file=self._stream, flush=True)


def check_languages(
    project: Project,
    languages: Sequence[TargetLanguage],
    *,
    workers: int = 1,
    waive: Waive | None = None,
    send_back: Collection[str] = (),
    by: str = "",
) -> Iterator[Checked]:
    """Checks languages. Yields the results in the order of the languages.

    Args:
      workers: number of processes; the results do not depend on it.
      waive: findings to accept; only allowed if one language is checked.
      send_back: rules whose warnings count as errors in this check.
      by: name of the person who checks.

    Raises the errors of `check_language`, and InputError if a process is killed. The languages before the
    failed one are then already checked.
    """
    check = functools.partial(_check, project, waive=waive, send_back=send_back, by=by)
    count = min(workers, len(languages))
    # Reads the ids here once, so that the workers do not read them again.
    has_few_lines = len(languages) * len(project.ids) < MIN_LINES
    progress = Progress(len(languages), sys.stderr)
    if count < 2 or has_few_lines:
        return _check_here(check, languages, progress)
    return _check_in_processes(check, languages, count, progress, str(project.folder))


def _check(
    project: Project,
    language: TargetLanguage,
    *,
    waive: Waive | None,
    send_back: Collection[str],
    by: str,
) -> Checked:
    try:
        return check_language(project, language, waive=waive, send_back=send_back, by=by)
    except ValueError as error:
        if language.code in str(error):
            raise
        raise ValueError(f"{language.code}: {error}") from error
    except InputError:
        raise
    except Exception as error:
        error.add_note(f"This happened in the check of {language.code}.")
        raise


_Check = Callable[[TargetLanguage], Checked]


def _check_here(
    check: _Check, languages: Iterable[TargetLanguage], progress: Progress
) -> Iterator[Checked]:
    with contextlib.closing(progress):
        for language in languages:
            progress.show()
            checked = check(language)
            progress.add(language.code)
            yield checked


def _check_in_processes(
    check: _Check,
    languages: Sequence[TargetLanguage],
    count: int,
    progress: Progress,
    folder: str,
) -> Iterator[Checked]:
    # Beam and Arrow start threads, and a forked process with threads may hang.
    context = multiprocessing.get_context("spawn")
    with contextlib.closing(progress):
        pool = concurrent.futures.ProcessPoolExecutor(count, context, prepare_worker)
        try:
            progress.show()
            with _ignored_interrupts():
                futures = [pool.submit(check, language) for language in languages]
            yield from _in_order(futures, languages, progress)
        except BrokenProcessPool:
            place = sum(future.done() and not future.exception() for future in futures)
            told = f"{place:,} of {len(languages):,} languages are checked"
            message = (
                f"a process was killed, perhaps because memory ran out; {told}: use --workers 1, which"
                " needs the least memory"
            )
            raise InputError(folder, message) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _in_order(
    futures: Sequence[concurrent.futures.Future[Checked]],
    languages: Sequence[TargetLanguage],
    progress: Progress,
) -> Iterator[Checked]:
    codes = {future: language.code for future, language in zip(futures, languages, strict=True)}
    waiting = list(reversed(futures))
    for done in concurrent.futures.as_completed(futures):
        progress.add(codes[done])
        while waiting and waiting[-1].done():
            yield waiting.pop().result()
            progress.show()


@contextlib.contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Makes processes that are started in the `with` block ignore Ctrl-C until they call `prepare_worker`."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
