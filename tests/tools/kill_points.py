"""Points at which tests/tools/kills.py ends a process, and the commands that it ends there.

A point is a step of a process: a call that changes files, found by Python's audit events (and os.fsync, which
has none), or the begin or end of a function where processes hand over to each other. The signal comes before
the step.
"""

from typing import NamedTuple

LAUNCHER, WORKER, SERVER = "launcher", "worker", "fork server"

CALL, RETURN = "call", "return"
OPEN, RENAME, REMOVE, MKDIR, RMDIR = "open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"
FSYNC, LINK, RMTREE = "os.fsync", "os.link", "shutil.rmtree"
FLOCK, POPEN, FORK = "fcntl.flock", "subprocess.Popen", "os.fork"

LOCAL = "corpusmill.pipelines.run.engines"
FORK_SERVER = f"{LOCAL}.fork_server"
WORKERS = f"{LOCAL}.worker_processes:Workers"
BUNDLE = "apache_beam.runners.worker.sdk_worker:SdkWorker.process_bundle"
BUILDING = r"\.building-[^/]*"
STAGE = r"\.stages/\d\d-[^/]*"


class Point(NamedTuple):
    """A point, and what is ended there."""

    name: str  # "COMPLETED: rename"
    at: str  # the process that reaches it
    victim: str  # the process that gets the signal
    step: str  # an audit event, CALL or RETURN
    what: (
        str  # of files: a pattern of their names, "old -> new" of a renaming; or "module:function"
    )
    commands: tuple[str, ...]  # names in kill_commands.COMMANDS
    occurrence: int = 1  # of the process


def _own(name: str, at: str, step: str, what: str, *commands: str, occurrence: int = 1) -> Point:
    """A point whose process gets the signal itself."""
    return Point(name, at, at, step, what, commands, occurrence)


_FOLDERS_AND_LOCKS = (
    _own("folder of the build: mkdir", LAUNCHER, MKDIR, f"{BUILDING}$", "entities", "flores101 package"),
    _own("lock: flock", LAUNCHER, FLOCK, "", "lm1b", "flores101 import"),
    _own("folder of stages: mkdir", LAUNCHER, MKDIR, r"\.stages$", "wiki40b", "lm1b"),
)  # fmt: skip

_STAGES = (
    _own("second stage: mkdir", LAUNCHER, MKDIR, r"\.stages/02-", "entities", "simplebooks"),
    _own("stage's file: open", WORKER, OPEN, rf"{STAGE}/.*\.part$", "entities", "lm1b"),
    _own("stage's file: rename", WORKER, RENAME, rf"{STAGE}/.*\.part -> ", "wiki40b", "pg19"),
    Point("stage's file: rename", WORKER, LAUNCHER, RENAME, rf"{STAGE}/.*\.part -> ", ("entities", "pg19")),
    _own("mark of a stage: rename", LAUNCHER, RENAME, r"\.stage\.json", "lm1b", "wiki40b"),
    _own("scratch file: open", WORKER, OPEN, r"\.scratch/", "lm1b", "pg19"),
    _own("stages: removal begins", LAUNCHER, RMTREE, r"\.stages$", "lm1b", "pg19"),
    _own("stages: removal midway", LAUNCHER, RMDIR, r"^0\d-", "entities", "wiki40b"),
)  # fmt: skip

_OUTPUTS = (
    _own("output: open", WORKER, OPEN, rf"{BUILDING}/.*\.part$", "pg19", "wiki40b"),
    Point("output: open", WORKER, LAUNCHER, OPEN, rf"{BUILDING}/.*\.part$", ("lm1b", "wiki40b")),
    _own("output: rename", WORKER, RENAME, rf"{BUILDING}/.*\.part -> ", "entities", "simplebooks"),
    _own("manifest: rename", WORKER, RENAME, r"\.manifest\.json", "lm1b", "multilingual"),
    Point("manifest: rename", WORKER, LAUNCHER, RENAME, r"\.manifest\.json", ("entities", "subwords")),
    _own("build: rename", LAUNCHER, RENAME, rf"{BUILDING} -> ", "entities", "flores101 package"),
    _own("COMPLETED: rename", LAUNCHER, RENAME, "/COMPLETED$", "entities", "flores101 package", "refresh"),
    _own("COMPLETED: fsync of the folder", LAUNCHER, FSYNC, r"/\d[\d.-]*$", "wiki40b", "entities"),
    _own("card: open", LAUNCHER, OPEN, r"\.README\.md\.part$", "pg19", "flores101 package"),
    _own("card: rename", LAUNCHER, RENAME, r"/\.README\.md\.part -> ", "lm1b", "pg19"),
    _own(
        "second card: rename", LAUNCHER, RENAME, r"/\.README\.md\.part -> ", "wiki40b", "flores101 package",
        occurrence=2,
    ),
    _own("replaced build: its mark", LAUNCHER, REMOVE, "/COMPLETED$", "entities --replace"),
    _own("replaced build: midway", LAUNCHER, REMOVE, r"^manifest\.json$", "entities --replace"),
)  # fmt: skip

_HAND_OVERS = (
    _own("fork server: start", LAUNCHER, POPEN, "", "entities", "pg19"),
    _own("fork server: imports", SERVER, CALL, f"{FORK_SERVER}:import_all", "entities", "pg19"),
    Point("fork server: imports", SERVER, LAUNCHER, CALL, f"{FORK_SERVER}:import_all", ("lm1b", "wiki40b")),
    Point("worker: requested", LAUNCHER, SERVER, RETURN, f"{WORKERS}.start", ("pg19", "lm1b")),
    _own("worker: fork", SERVER, FORK, "", "entities", "wiki40b"),
    _own("worker: born", WORKER, CALL, f"{FORK_SERVER}:_become_worker", "lm1b", "entities"),
    Point("worker: born", WORKER, LAUNCHER, CALL, f"{FORK_SERVER}:_become_worker", ("pg19", "wiki40b")),
    _own(
        "worker: connects", WORKER, CALL, "apache_beam.runners.worker.sdk_worker_main:main",
        "flores101 source", "pg19",
    ),
    _own("bundle: begins", WORKER, CALL, BUNDLE, "entities", "lm1b"),
    Point("bundle: begins", WORKER, LAUNCHER, CALL, BUNDLE, ("pg19", "wiki40b")),
    Point("bundle: begins", WORKER, SERVER, CALL, BUNDLE, ("entities", "flores101 source")),
    _own("bundle: ends", WORKER, RETURN, BUNDLE, "lm1b", "multilingual", occurrence=2),
    _own(
        "second pipeline: runs", LAUNCHER, CALL, f"{LOCAL}.run_pipeline:_run_to_the_end",
        "entities", "wiki40b", occurrence=2,
    ),
    _own(
        "vocabulary: training", WORKER, CALL, "corpusmill.transforms.models.subword_models:run_trainer",
        "multilingual", "subwords",
    ),
    _own("workers: wait for their end", LAUNCHER, CALL, f"{WORKERS}.wait", "entities", "pg19"),
    Point("workers: wait for their end", LAUNCHER, WORKER, CALL, f"{WORKERS}.wait", ("lm1b", "entities")),
)  # fmt: skip

_PROJECTS = (
    _own("project: rename", LAUNCHER, RENAME, r"\.project\.", "flores101 packets"),
    _own("entry: mkdir", LAUNCHER, MKDIR, r"\.unfinished-[^/]*$", "flores101 import", "flores101 check"),
    _own("entry: open", LAUNCHER, OPEN, r"/entry\.json$", "flores101 import", "flores101 packets"),
    _own("entry: rename", LAUNCHER, RENAME, r"\.unfinished-", "flores101 import", "flores101 check"),
    _own(
        "entry: fsync of the journal", LAUNCHER, FSYNC, r"languages/\w+$",
        "flores101 import", "flores101 packets",
    ),
    _own("copy: link", LAUNCHER, LINK, "outbox", "flores101 packets"),
)  # fmt: skip

_REFRESH = (
    _own("download: rename", LAUNCHER, RENAME, r"downloads/.*\.part -> ", "refresh"),
    _own("state: rename", LAUNCHER, RENAME, r"state/.*\.part -> ", "refresh"),
    _own("changes: open", WORKER, OPEN, r"changes-[^/]*\.tsv$", "refresh"),
    _own("CURRENT: open", LAUNCHER, OPEN, r"\.CURRENT\.part$", "refresh"),
    _own("CURRENT: rename", LAUNCHER, RENAME, r"/CURRENT$", "refresh"),
    _own("old edition: midway", LAUNCHER, REMOVE, r"^manifest\.json$", "refresh"),
    _own("downloads: removal", LAUNCHER, REMOVE, r"/\.corpusmill-refresh$", "refresh"),
    _own("metrics: rename", LAUNCHER, RENAME, r"metrics\.prom", "refresh"),
)

POINTS = _FOLDERS_AND_LOCKS + _STAGES + _OUTPUTS + _HAND_OVERS + _PROJECTS + _REFRESH
