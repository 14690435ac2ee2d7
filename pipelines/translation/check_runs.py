"""Checks of many languages at once, in processes of their own."""

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

from pipelines.translation.checks import Checked, check_language
from pipelines.translation.project import Project
from pipelines.translation.waivers import Waive
from pipelines.translation.worker_start import prepare_worker
from transforms.files.open_input import InputError
from transforms.text.translation.languages import TargetLanguage

# Of all languages together: below it, a process takes longer to start than it saves.
MIN_LINES = 1_500


class Progress:
    """Shows how many languages are done: at a terminal a line that is overwritten, elsewhere a line for
    each.
    """

    def __init__(self, total: int, stream: TextIO) -> None:
        self._total = total
        self._stream = stream
        self._done = 0
        self._is_terminal = stream.isatty()

    def show(self) -> None:
        """On a terminal: shows the line, until other lines come."""
        if self._total > 1 and self._is_terminal and self._done < self._total:
            self._write(f"\r\x1b[Kchecked {self._done:,} of {self._total:,} languages …")

    def add(self, code: str) -> None:
        """Another language is done. What is printed next takes the place of the line."""
        self._done += 1
        if self._is_terminal:
            self.close()
        elif self._total > 1:
            self._write(f"checked {code}, {self._done:,} of {self._total:,} languages\n")

    def close(self) -> None:
        """Takes the line away."""
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
    """Checks languages, in their order.

    Args:
      workers: processes; what they write does not depend on it.
      waive: see `check_language`; for one language.
      send_back: see `check_language`.
      by: who checks.

    Raises what `check_language` raises, and InputError where a process is killed. Languages before the one
    that it is raised for are done; later ones may be.
    """
    check = functools.partial(_check, project, waive=waive, send_back=send_back, by=by)
    count = min(workers, len(languages))
    # Reads the ids, so that workers need not.
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
        error.add_note(f"This came of the check of {language.code}.")
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
    # A forked copy of a process that has threads, as Beam and Arrow start them, may hang.
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
                f"a process of the checks was killed, {told}: --workers 1 needs the least memory"
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
    """Processes that are started meanwhile do not answer Ctrl-C, until `prepare_worker` changes it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
