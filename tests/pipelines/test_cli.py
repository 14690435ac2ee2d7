import builtins
import io
import itertools
import json
import logging
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.cli import _LogHandler, make_parser
from corpusmill.pipelines.run.corpora import VERSION as PACKAGE_VERSION
from corpusmill.pipelines.run.corpora import rows
from corpusmill.pipelines.sample_builds import (
    SAMPLES,
    sample_config,
    sample_dump,
    sample_entities,
    sample_flores101,
)
from corpusmill.pipelines.wiki40b_settings import VERSION
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES
from tests.makers.wiki_builds import Build, Command, files_below, run_cli
from tests.tools.case_tables import read_cases, read_rows

ROOT = Path(__file__).parents[2]
BOOKS = SAMPLES / "gutenberg"


def sample_flags(output: Path) -> list[str]:
    config = sample_config("uk")
    tables = ["--page-props", *config.page_props, "--entities", sample_entities()]
    files = ["--dump", *config.dump, *tables]
    return ["wiki40b", "--language", "uk", "--output", str(output), "--workers", "1", *files]


def run_limited(limit: int, most: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command as a process with a limit of the system."""
    return subprocess.run(
        [sys.executable, "-m", "corpusmill", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        preexec_fn=lambda: resource.setrlimit(limit, (most, most)),
    )


@pytest.mark.slow
def test_a_disk_that_takes_no_more_ends_a_build_with_one_line(tmp_path: Path) -> None:
    """Logs of workers and the display find no place, either."""
    done = run_limited(resource.RLIMIT_FSIZE, 500, *sample_flags(tmp_path), "--workers", "2")
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if " INFO " not in line]
    assert line.startswith(f"corpusmill: error: {tmp_path}/")
    assert line.endswith(": cannot be written: File too large")


def test_a_limit_of_memory_below_that_of_the_libraries_is_refused_at_once(tmp_path: Path) -> None:
    most = 2_500_000_000  # Beam would wait for ever for a thread
    done = run_limited(resource.RLIMIT_AS, most, *sample_flags(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "corpusmill: error: ulimit -v limits the memory of a process to 2.5 GB, but 4 GB are"
        " needed: raise the limit\n"
    )


def test_the_demo_may_be_repeated() -> None:
    assert make_parser().parse_args(["demo"]).replace
    assert not make_parser().parse_args(["wiki40b", *sample_flags(Path("x"))[1:]]).replace


def test_a_finished_build_is_untouched_without_replace(demo: Path, run: Command) -> None:
    folder = demo / f"wiki40b/uk/20260101-{VERSION}"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    message = run(*sample_flags(demo), status=1).err
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert message == (
        f"corpusmill: error: {folder} contains a finished build; use another --output,"
        " or --replace to build it again\n"
    )


@pytest.mark.parametrize(("status", "line", "message"), read_rows("pipelines/wrong_flags"))
def test_wrong_flags_are_refused(
    status: str, line: str, message: str, tmp_path: Path, run: Command
) -> None:
    output = tmp_path / "output"
    wiki = shlex.join(sample_flags(output))
    books = f"--books {BOOKS}/library --output {output}"
    uk = sample_dump("wikipedia", "ukwiki").partition("-pages")[0]
    words = shlex.split(line.format(wiki=wiki, books=books, gutenberg=BOOKS, uk=uk))
    # the exit status says whose fault it is: 1 the input's, 2 that of the settings
    assert message.replace("\\n", "\n") in run(*words, status=int(status)).err
    assert not output.exists()


def test_a_missing_dump(tmp_path: Path, run: Command) -> None:
    flags = ["--language", "uk", "--output", tmp_path / "output", "--dump", tmp_path / "x.xml"]
    err = run("wiki40b", *flags, status=1).err
    assert err == f"corpusmill: error: {tmp_path}/x.xml: no such file\n"
    assert not (tmp_path / "output").exists()


def test_help_is_a_command(run: Command) -> None:
    for words in ([], ["wiki40b"], ["flores101", "packets"]):
        assert run("help", *words).out == run(*words, "--help").out


def test_versions_are_those_of_the_package_and_of_each_corpus(run: Command) -> None:
    lines = [line.split() for line in run("--version").out.splitlines()]
    assert lines[0] == ["corpusmill", PACKAGE_VERSION]
    assert ["wiki40b", VERSION] in lines
    assert [name for name, _ in lines[1:]] == [*rows()]


@pytest.mark.parametrize(
    ("flags", "value"),
    [(["--quiet"], True), (["--verbose"], True), (["--log-level", "error"], "error")],
)
def test_flags_of_messages_count_before_a_command_and_after_it(
    flags: list[str], value: object
) -> None:
    name = flags[0].lstrip("-").replace("-", "_")
    for words in (["report", "x"], ["flores101", "status", "--project", "x"]):
        assert not vars(make_parser().parse_args(words))[name]
        assert vars(make_parser().parse_args([*flags, *words]))[name] == value
        assert vars(make_parser().parse_args([*words, *flags]))[name] == value


@pytest.mark.parametrize(("flags", "level"), read_cases("pipelines/cli", "levels_of_messages"))
def test_levels_of_messages(flags: list[str], level: int, run: Command) -> None:
    try:
        run("report", "/no/folder", *flags, status=1)
        assert logging.getLogger("corpusmill").level == level
    finally:
        logging.getLogger("corpusmill").setLevel(logging.INFO)


def test_help_lists_every_language(run: Command) -> None:
    words = run("wiki40b", "--help").out.split()
    start = words.index("templates:", words.index("CODE")) + 1
    assert tuple(words[start : start + len(LANGUAGE_CODES)]) == LANGUAGE_CODES


@pytest.mark.parametrize(
    ("words", "libraries"),
    [
        ("--help", "apache_beam pyarrow numpy"),
        ("help verify", "apache_beam pyarrow numpy"),
        ("help wiki40b", "apache_beam"),  # its settings name columns and n-grams
        ("--version", "apache_beam"),
    ],
)
def test_what_is_only_printed_does_not_wait_for_libraries(words: str, libraries: str) -> None:
    script = (
        "import sys; from corpusmill.pipelines.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        f"sys.exit(bool({set(libraries.split())} & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", script, *words.split()]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0


def test_versions_into_a_closed_pipe_are_no_traceback() -> None:
    command = [sys.executable, "-m", "corpusmill", "--version"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE


def test_an_interrupt_ends_the_imports_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_module, handlers = builtins.__import__, []

    def noted(name: str, *rest: Any, **more: Any) -> Any:
        if name == "corpusmill.pipelines.run.engines.engine":
            handlers.extend(map(signal.getsignal, (signal.SIGINT, signal.SIGTERM)))
        return import_module(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", noted)
    assert run_cli(*sample_flags(tmp_path), "--no-such-flag") == 2
    assert handlers[:2] == [signal.SIG_DFL] * 2
    assert signal.getsignal(signal.SIGINT) != signal.SIG_DFL


@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)]
)
def test_an_interrupt_that_python_ignores_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: signal.Signals, status: int
) -> None:
    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(sent)  # the error that its handler raises is ignored

    def interrupted(*_: object, **__: object) -> None:
        Finalized()
        time.sleep(60)

    monkeypatch.setattr(
        "corpusmill.pipelines.run.engines.run_pipeline._run_to_the_end", interrupted
    )
    assert run_cli(*sample_flags(tmp_path)) == status
    assert files_below(tmp_path) == []


def demo_flags(output: Path) -> dict[str, list[object]]:
    """Corpus → the command that builds what the demo builds."""
    to = ["--output", output, "--workers", 1]
    catalog = ["--catalog", BOOKS / "pg_catalog.csv", BOOKS / "rdf-files.tar.bz2"]
    books = ["--books", BOOKS / "library", *catalog, "--dump-date", "20260101", *to]
    masked = ["--mask-words", BOOKS / "offensive-words.txt"]
    dumps = [(f"--{domain}", *paths) for domain, paths in sample_flores101().dumps().items()]
    return {
        "wiki40b": [*sample_flags(output)],
        "pg19": [
            "pg19",
            *books,
            "--metadata",
            BOOKS / "metadata.csv",
            "--members",
            "hash",
            *masked,
        ],
        "simplebooks": [
            *("simplebooks", *books, "--min-ratio", "0.3"),
            *("--heldout-books", 2, "--small-tokens", 5000),
        ],
        "flores101": ["flores101", "source", *itertools.chain(*dumps), "--sentences", 150, *to],
    }


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["wiki40b", "pg19", "simplebooks", "flores101"])
def test_the_commands_build_what_the_demo_builds(corpus: str, tmp_path: Path, demo: Path) -> None:
    assert run_cli(*demo_flags(tmp_path)[corpus]) == 0
    (built,) = (path.parent for path in (tmp_path / corpus).rglob("COMPLETED"))
    assert Build(built).tree() == Build(demo / built.relative_to(tmp_path)).tree()


@pytest.mark.parametrize(
    "words", [["wiki4b"], ["lm1b", "--input", "no such file", "--output", "o"]]
)
def test_errors_on_a_terminal_break_between_words(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    assert run_cli(*words)
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= 30
    assert " ".join(lines).startswith("corpusmill: error: no such ")


def test_log_lines_stand_above_a_progress_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = _LogHandler()
    record = logging.makeLogRecord({"msg": "stage 1 of 2"})
    for _ in range(2):
        bar = io.StringIO()
        monkeypatch.setattr(sys, "stderr", bar)
        handler.emit(record)
        assert bar.getvalue() == "stage 1 of 2\n"


@pytest.fixture(scope="module")
def first_pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("first-pages")


def test_a_first_look_says_so_and_is_told_to_programs(first_pages: Path, run: Command) -> None:
    flags = ["--language", "Ukrainian", "--limit", "3", "--json", "--quiet"]
    ran = run(*sample_flags(first_pages), *flags, "--vocabulary-size", "0")
    told = json.loads(ran.out.splitlines()[-1])  # the table of entities has a line of its own
    assert told["counts"]["pages_read"] == told["settings"]["limit"] == 3
    assert (
        "Only the first 3 pages of the input were read: a first look, no corpus." in told["caveats"]
    )
    target = Path(told["target"])
    assert target.parent.name == "uk-limit-3"
    assert "Only the first 3 pages" in (target / "README.md").read_text("utf-8")
    assert "limit:3" in told["signature"]
    assert "INFO" not in ran.err


def test_a_check_is_told_to_programs(demo: Path, run: Command) -> None:
    told = json.loads(run("verify", demo, "--json", "--workers", "1").out)
    assert told["is_sound"]
    assert told["builds"] > 1
    assert (told["faults"], told["conflicts"]) == ([], [])
