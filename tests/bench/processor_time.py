"""Profiles the processor time of a build with one worker.

    python -m tests.bench.processor_time wiki40b --language el --dump FILE --output FOLDER --vocabulary-size 0

Runs a command of corpusmill in this process and samples the running function every few milliseconds. Each
sample counts the processor time since the previous one, so other work on the machine has no effect. Prints
the seconds by step and by module.
"""

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from types import FrameType

from pipelines.cli import main as run_command

EVERY_SECONDS = 0.004
SHOWN_SHARE = 0.005
_IN_STEPS = "process_encoded"  # of Beam: below it, the steps of the pipeline are at work
_WAITING = ("threading.py", "queue.py", "selectors.py", "_channel.py", "_server.py", "thread.py")

Place = tuple[str, str]  # step, module


def main() -> None:
    """Runs the command, and prints."""
    profile = Profile()
    profile.start()
    status = run_command([*sys.argv[1:], "--workers", "1"])
    profile.stop()
    total = sum(profile.seconds.values())
    print(f"{total:.1f} s of processor time")
    for (step, module), seconds in sorted(profile.seconds.items(), key=lambda row: -row[1]):
        if seconds >= SHOWN_SHARE * total:
            print(f"{seconds:8.2f} s {seconds / total:6.1%}  {step:32} {module}")
    sys.exit(status)


class Profile(threading.Thread):
    """Looks at all other threads of this process until it is stopped."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.seconds: defaultdict[Place, float] = defaultdict(float)
        self._is_over = threading.Event()

    def run(self) -> None:
        last = time.process_time()
        while not self._is_over.wait(EVERY_SECONDS):
            now = time.process_time()
            places = self._look()
            for place in places:
                self.seconds[place] += (now - last) / len(places)
            last = now

    def stop(self) -> None:
        """Ends it."""
        self._is_over.set()
        self.join()

    def _look(self) -> list[Place]:
        # No other thread runs meanwhile: a frame that is looked at would keep what its function has held.
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1)
        stacks = [
            [*modules_of(frame)]
            for thread, frame in sys._current_frames().items()
            if thread != self.ident and not frame.f_code.co_filename.endswith(_WAITING)
        ]
        sys.setswitchinterval(interval)
        return [place_of(stack) for stack in stacks] or [("waiting", "")]


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
