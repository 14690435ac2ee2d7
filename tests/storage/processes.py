"""Processes that tests kill: forks of one that has imported what they need, which takes seconds."""

import multiprocessing
import os
from collections.abc import Callable, Mapping
from multiprocessing.context import ForkServerProcess
from typing import Any

from corpusmill.pipelines.run.engines.engine import set_file_options

context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(
    [
        "corpusmill.pipelines.refresh.refresh",
        "corpusmill.pipelines.wiki40b",
        "tests.storage.stores",
        __name__,
    ]
)


def start(run: Callable[..., object], *arguments: object) -> ForkServerProcess:
    """Runs a function in a process of its own, with the environment that there is now."""
    process = context.Process(target=_run, args=(dict(os.environ), run, arguments))
    process.start()
    return process


def _run(environment: Mapping[str, str], run: Callable[..., Any], arguments: Any) -> None:
    os.environ.clear()
    os.environ.update(environment)
    set_file_options([])
    run(*arguments)
