"""Profiles the processor time of a build with one worker.

    python -m tests.bench.processor_time wiki40b --language el --dump FILE --output FOLDER --vocabulary-size 0

Runs a command of corpusmill in this process and samples the running function every few milliseconds. Each
sample counts the processor time since the previous one, so other work on the machine has no effect. Prints
the seconds by step and by module.
"""

import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from types import FrameType

from corpusmill.pipelines.cli import main as run_command

EVERY_SECONDS = 0.004  # of processor time
SHOWN_SHARE = 0.005
_IN_STEPS = "process_encoded"  # of Beam: below it, the steps of the pipeline are at work

Place = tuple[str, str]  # step, module


def main() -> None:
    """Runs the command, and prints."""
    profile = Profile()
    signal.signal(signal.SIGPROF, profile.look)
    signal.setitimer(signal.ITIMER_PROF, EVERY_SECONDS, EVERY_SECONDS)
    status = run_command([*sys.argv[1:], "--workers", "1"])
    signal.setitimer(signal.ITIMER_PROF, 0)
    total = sum(profile.seconds.values())
    print(f"{total:.1f} s of processor time")
    for (step, module), seconds in sorted(profile.seconds.items(), key=lambda row: -row[1]):
        if seconds >= SHOWN_SHARE * total:
            print(f"{seconds:8.2f} s {seconds / total:6.1%}  {step:32} {module}")
    sys.exit(status)


class Profile:
    """The processor time of each place in the code, from samples of the main thread, which runs the steps."""

    def __init__(self) -> None:
        self.seconds: defaultdict[Place, float] = defaultdict(float)
        self._last = time.process_time()

    def look(self, _: int, frame: FrameType | None) -> None:
        """Adds a sample. It is called by a signal, at the end of a function of C that is running.

        A thread would be called when such a function releases the lock of the interpreter, so it would see
        functions that release it too often.
        """
        now = time.process_time()
        self.seconds[place_of([*modules_of(frame)])] += now - self._last
        self._last = now


def modules_of(frame: FrameType | None) -> Iterator[str]:
    """The modules of a stack, from the innermost on; for the function of Beam that runs steps, its name."""
    while frame:
        name = frame.f_globals.get("__name__", "")
        yield _IN_STEPS if frame.f_code.co_name == _IN_STEPS else str(name)
        frame = frame.f_back


def place_of(stack: list[str]) -> Place:
    """(step, module) of a stack."""
    if "importlib._bootstrap" in stack:
        return "imports", ""
    own = [name for name in stack if name.startswith(("transforms.", "pipelines."))]
    if _IN_STEPS not in stack:
        return "outside the steps", own[0] if own else ""
    below = stack[: stack.index(_IN_STEPS)]
    steps = [name for name in below if name.startswith("transforms.")]
    if not steps:
        return "Beam", below[0] if below else ""
    return steps[-1].removeprefix("transforms."), steps[0].removeprefix("transforms.")


if __name__ == "__main__":
    main()
