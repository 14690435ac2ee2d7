"""Sends a signal to a process of a build when one of them reaches a point.

Python imports a module of this name at its start. tests/tools/kills.py puts the folder on PYTHONPATH, and the
point into the environment, so that the product needs no code for it.
"""

import functools
import importlib.util
import json
import os
import pathlib
import re
import sys
import threading
import time

VARIABLE = "CORPUSMILL_KILL"
"""JSON: the fields of kill_points.Point, `signal`, and `folder`, which takes pids and the file `reached`."""

LAUNCHER, WORKER, SERVER, OTHER = "launcher", "worker", "fork server", "other"


class Hook:
    """Counts how often this process reaches the point."""

    def __init__(self, plan):
        self.plan = plan
        self.left = plan["occurrence"]
        self.lock = threading.Lock()
        self.folder = pathlib.Path(plan["folder"])
        self.role = _role()
        if self.role in (LAUNCHER, SERVER):
            (self.folder / self.role).write_text(str(os.getpid()), "ascii")
        os.register_at_fork(after_in_child=self.become_worker)

    def become_worker(self):
        """Only the fork server forks in Python."""
        self.role = WORKER

    def reach(self):
        """Sends the signal at the occurrence that is wanted, once in all processes."""
        if self.role != self.plan["at"]:
            return
        with self.lock:
            self.left -= 1
            if self.left:
                return
        victims = self.victims()
        try:
            descriptor = os.open(self.folder / "reached", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            return
        with os.fdopen(descriptor, "w") as file:
            json.dump({"time": time.time(), "victims": victims}, file)
        for pid in victims:
            os.kill(pid, self.plan["signal"])

    def victims(self):
        """The process at the point, if it is of the kind that is to be killed, or else one of that kind."""
        wanted = self.plan["victim"]
        if wanted == self.role:
            return [os.getpid()]
        if wanted == WORKER:
            return children_of(int((self.folder / SERVER).read_text("ascii")))[:1]
        return [int((self.folder / wanted).read_text("ascii"))]

    def watch(self, event, arguments):
        """An audit hook, called before the step."""
        if event == self.plan["step"] and (event != "open" or _is_for_writing(arguments)):
            names = arguments[:1] if event == "open" else arguments
            words = (
                os.fsdecode(one) for one in names if isinstance(one, str | bytes | os.PathLike)
            )
            if self.plan["pattern"].search(" -> ".join(words)):
                self.reach()

    def watch_fsync(self):
        """There is no audit event for it."""
        fsync = os.fsync

        def watched(descriptor):
            self.watch("os.fsync", [pathlib.Path(f"/proc/self/fd/{descriptor}").readlink()])
            fsync(descriptor)

        os.fsync = watched

    def watch_function(self):
        """Wraps a function, "module:Class.name", as soon as its module is there."""
        module, _, name = self.plan["what"].partition(":")
        sys.meta_path.insert(0, _Finder(module, functools.partial(self.wrap, name.split("."))))

    def wrap(self, names, module):
        owner = functools.reduce(getattr, names[:-1], module)
        function = getattr(owner, names[-1])

        @functools.wraps(function)
        def wrapped(*arguments, **named):
            if self.plan["step"] == "call":
                self.reach()
            try:
                return function(*arguments, **named)
            finally:
                if self.plan["step"] == "return":
                    self.reach()

        setattr(owner, names[-1], wrapped)


class _Finder:
    def __init__(self, module, change):
        self.module, self.change = module, change

    def find_spec(self, name, path=None, target=None):
        if name != self.module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def execute_and_change(module):
            execute(module)
            self.change(module)

        spec.loader.exec_module = execute_and_change
        return spec


def _role():
    command = " ".join(sys.orig_argv)
    if "-m corpusmill" in command:
        return LAUNCHER
    return SERVER if "fork_server" in command else OTHER


def _is_for_writing(arguments):
    return bool(arguments[2] & (os.O_WRONLY | os.O_RDWR))


def children_of(pid):
    """Processes that it has started, and that have not ended."""
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(status.parent.name))
    return sorted(found)


def _start():
    plan = json.loads(os.environ[VARIABLE])
    hook = Hook(plan)
    if plan["step"] in ("call", "return"):
        hook.watch_function()
    elif plan["step"]:
        plan["pattern"] = re.compile(plan["what"])
        hook.watch_fsync()
        sys.addaudithook(hook.watch)


if VARIABLE in os.environ:
    _start()
