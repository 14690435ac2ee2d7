"""Memory that a process frees is given back to the system."""

import pathlib
import platform
import subprocess
import sys

import pytest

GROW = """
from pathlib import Path
from corpusmill.pipelines.run.engines.fork_server import give_back_large_blocks

{before}
bytes(20 << 20)  # from now on glibc takes blocks of that size for common
kept = []
for step in range(60):
    block = bytearray((5 << 20) + (step << 16))
    kept.append(bytearray(100_000))
    del block
status = Path("/proc/self/status").read_text("ascii").split()
print(status[status.index("RssAnon:") + 1])
"""


COUNT_HEAPS = """
import ctypes, pathlib, sys, threading
from corpusmill.pipelines.run.engines.fork_server import give_back_large_blocks

{before}
barrier = threading.Barrier(9)

def hold():
    kept = bytearray(100_000)
    barrier.wait()

for _ in range(8):
    threading.Thread(target=hold).start()
barrier.wait()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, stream)
libc.fclose(stream)
print(pathlib.Path(sys.argv[1]).read_text().count("<heap nr="))
"""


def heaps(before: str, folder: pathlib.Path) -> int:
    """Heaps of a process with eight threads."""
    run = [sys.executable, "-c", COUNT_HEAPS.format(before=before), str(folder / "info.xml")]
    return int(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def resident(before: str) -> int:
    """Bytes that a process holds which has freed all but 6 MB of 430 MB."""
    run = [sys.executable, "-c", GROW.format(before=before)]
    return int(subprocess.run(run, check=True, capture_output=True, text=True).stdout) * 1024


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_large_blocks_do_not_stay() -> None:
    grown, level = resident(""), resident("give_back_large_blocks()")
    assert level < grown - 8_000_000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told")
def test_threads_share_a_heap(tmp_path: pathlib.Path) -> None:
    assert heaps("", tmp_path) > 1
    assert heaps("give_back_large_blocks()", tmp_path) == 1
