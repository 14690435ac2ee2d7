"""The line for cron, and the units of systemd."""

import configparser
import re
import subprocess
from pathlib import Path

import pytest

from tests.deploy.schedulers import (
    ANOTHER_IS_AT_WORK,
    CALL,
    COMMAND,
    DEPLOY,
    FAILED,
    OK,
    STOPPED,
    WRONG,
    run_tool,
    stand_in,
)

FOLDER = DEPLOY / "cron"
CRONTAB = (FOLDER / "corpusmill.cron").read_text("utf-8")
UNITS = ["corpusmill-refresh.service", "corpusmill-refresh.timer", "corpusmill-failed@.service"]
LARGEST_EXPOSURE = 20  # tenths, of what `systemd-analyze security` counts to 10


def job() -> tuple[list[str], str, str]:
    """The one job: five fields of time, the user, and what the shell is given."""
    (line,) = (line for line in CRONTAB.splitlines() if re.match(r"[\d*]", line))
    *when, user, command = line.split(maxsplit=6)
    return when, user, command


def environment() -> dict[str, str]:
    return dict(re.findall(r"^([A-Z]+)=(.*)$", CRONTAB, re.MULTILINE))


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    parser.read(FOLDER / name)
    return parser


def systemd_analyze(*arguments: object) -> subprocess.CompletedProcess[str]:
    return run_tool("systemd-analyze", "Debian: systemd", *arguments)


def test_the_job_is_one_line_that_cron_can_read() -> None:
    when, user, command = job()
    assert all(re.fullmatch(r"\*|\d+", field) for field in when)
    assert user == "corpusmill"
    assert command.startswith(CALL)
    assert "%" not in command, "cron would make a new line of it"
    assert CRONTAB.endswith("\n"), "cron reads no last line without an end"


def test_crontab_finds_nothing_wrong(tmp_path: Path) -> None:
    when, _, command = job()
    own = tmp_path / "crontab"  # of a user, who is not named in it
    own.write_text(f"{' '.join(when)} {command}\n", "utf-8")
    run = run_tool("crontab", "Debian: cron", "-n", own)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize(
    ("status", "mailed"),
    [(OK, False), (ANOTHER_IS_AT_WORK, False), (FAILED, True), (WRONG, True), (STOPPED, True)],
)
def test_what_cron_would_mail(tmp_path: Path, status: int, mailed: bool) -> None:
    """Cron mails whatever a job prints."""
    log = tmp_path / "refresh.log"
    command = job()[2].replace(COMMAND, str(stand_in(tmp_path, status)))
    run = subprocess.run(
        [environment()["SHELL"], "-c", command],
        env={**environment(), "LOG": str(log)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = "called: refresh --config /etc/corpusmill/refresh.toml\n"
    assert log.read_text("utf-8") == said
    assert (run.stdout, run.stderr) == (said if mailed else "", "")


def test_the_log_is_the_one_that_is_rotated() -> None:
    rotation = (FOLDER / "corpusmill.logrotate").read_text("utf-8")
    assert f"\n{environment()['LOG']} {{\n" in rotation


def test_the_service_knows_the_exit_statuses() -> None:
    service = unit(UNITS[0])["Service"]
    assert service["Type"] == "oneshot"
    assert service["ExecStart"] == CALL
    assert service["SuccessExitStatus"].split() == [str(ANOTHER_IS_AT_WORK), str(STOPPED)]


def test_what_starts_on_failure_is_there() -> None:
    name = unit(UNITS[0])["Unit"]["OnFailure"]
    assert re.sub("@.*[.]", "@.", name) in UNITS


def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
    for name in UNITS:
        text = (FOLDER / name).read_text("utf-8")
        # It asks whether the program is there.
        (tmp_path / name).write_text(text.replace(COMMAND, "/bin/true"), "utf-8")
    names = [name.replace("@.", "@corpusmill-refresh.") for name in UNITS]
    run = systemd_analyze("verify", "--man=no", *(tmp_path / name for name in names))
    assert (run.returncode, run.stderr) == (0, "")


def test_the_timer_has_a_time() -> None:
    run = systemd_analyze("calendar", unit(UNITS[1])["Timer"]["OnCalendar"])
    assert run.returncode == 0, run.stderr


def test_the_service_is_shut_in() -> None:
    run = systemd_analyze(
        "security", "--offline=true", f"--threshold={LARGEST_EXPOSURE}", FOLDER / UNITS[0]
    )
    assert run.returncode == 0, run.stdout
