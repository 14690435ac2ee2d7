"""Fresh processes that have imported what they need, without the threads of the tests, and fork quickly."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable

processes = multiprocessing.get_context("forkserver")
processes.set_forkserver_preload(
    ["corpusmill.pipelines.translation.packet_files", "corpusmill.pipelines.translation.imports"]
)

KILLED = -signal.SIGKILL
_STEPS = {
    "open",
    "os.chmod",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "shutil.rmtree",
}


def run_all(target: Callable[..., None], arguments: list[tuple[object, ...]]) -> list[int | None]:
    """Runs a function in as many processes at once as there are tuples of arguments; their exit codes."""
    running = [processes.Process(target=target, args=each) for each in arguments]
    for process in running:
        process.start()
    for process in running:
        process.join()
    return [process.exitcode for process in running]


def kill_at_each_step(
    prepare: Callable[[int], None], act: Callable[[int], None], look: Callable[[int], None]
) -> int:
    """Kills `act` before its first step on files, before its second, and so on, until it ends by itself.

    All three are called with the number of the step, in a process that has no threads. Returns the number of
    steps. `prepare` comes before each attempt, and `look` after it.
    """
    step = 0
    while True:
        step += 1
        prepare(step)
        child = os.fork()
        if not child:
            _act_and_die(act, step)
        _, status = os.waitpid(child, 0)
        look(step)
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            return step
        assert code == KILLED, code


def _act_and_die(act: Callable[[int], None], step: int) -> None:
    left = step

    def count(event: str, _: object) -> None:
        nonlocal left
        if event in _STEPS:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    try:
        act(step)
    except BaseException:
        os._exit(1)
    os._exit(0)
