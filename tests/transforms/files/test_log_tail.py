"""The end of a log."""

from pathlib import Path

from corpusmill.transforms.files.errors import LOG_TAIL_BYTES, log_tail


def test_a_long_log_is_cut_and_a_short_one_is_whole(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert log_tail(log) == ""
    log.write_bytes(b"a line\n")
    assert log_tail(log) == "a line\n"
    log.write_bytes(b"\xc3\xa9" + b"x" * (LOG_TAIL_BYTES - 1))  # cut inside a character
    assert log_tail(log) == "\N{REPLACEMENT CHARACTER}" + "x" * (LOG_TAIL_BYTES - 1)
