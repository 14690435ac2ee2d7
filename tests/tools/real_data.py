"""Paths of the real inputs, for the tests that read them.

Set CORPUSMILL_DATA to a folder of real dumps; without it those tests are skipped.
"""

import os
import pathlib

import pytest

DATA = pathlib.Path(os.environ.get("CORPUSMILL_DATA", ""))

needs_real_data = pytest.mark.real_data  # tests/conftest.py skips what has it
