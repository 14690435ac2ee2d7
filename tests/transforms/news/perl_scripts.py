"""Runs the Perl scripts of the One Billion Word benchmark, where they are.

Set CORPUSMILL_LM1B_SCRIPTS to the folder that holds normalize-punctuation.perl, tokenizer.perl and
nonbreaking_prefixes; without it, or without Perl, the tests that compare with them are skipped.
CORPUSMILL_PERL names another Perl than that on the PATH, with what options it needs: "…/perl -I…/lib".
"""

import functools
import os
import pathlib
import shlex
import shutil
import subprocess

import pytest

from corpusmill.transforms.files.line_blocks import lines_of

NORMALIZE = "normalize-punctuation.perl"
TOKENIZE = "tokenizer.perl"

SCRIPTS = pathlib.Path(os.environ.get("CORPUSMILL_LM1B_SCRIPTS", ""))
PERL = shlex.split(os.environ.get("CORPUSMILL_PERL", "perl"))

needs_perl = pytest.mark.skipif(
    shutil.which(PERL[0]) is None, reason="no perl: neither on the PATH nor in CORPUSMILL_PERL"
)
needs_scripts = pytest.mark.skipif(
    not os.environ.get("CORPUSMILL_LM1B_SCRIPTS"),
    reason="CORPUSMILL_LM1B_SCRIPTS does not name the folder of the scripts",
)

# Of each Unicode only one version of Perl was tried, but the classes are those of Unicode.
_VERSIONS = {"14.0.0": "5.36", "6.0.0": "5.14"}

_MAX_SECONDS = 120  # malformed UTF-8 can make the scripts run for ever


def rules_of_perl() -> str:
    """The version of Perl by whose rules the Perl at hand goes; the test is skipped if we have none."""
    version = _unicode_version()
    if version not in _VERSIONS:
        pytest.skip(f"this Perl has Unicode {version}")
    return _VERSIONS[version]


def run_script(script: str, block: bytes, language: str) -> bytes:
    """Runs a script on a block of lines, and returns its output: as many lines."""
    result = run_perl(str(SCRIPTS / script), "-q", "-l", language, given=block)
    assert len(lines_of(result)) == len(lines_of(block))
    return result


def run_perl(*arguments: str, given: bytes = b"") -> bytes:
    """Runs Perl, and returns its output."""
    done = subprocess.run(
        [*PERL, *arguments], input=given, capture_output=True, timeout=_MAX_SECONDS, check=True
    )
    return done.stdout


@functools.cache
def _unicode_version() -> str:
    program = "print Unicode::UCD::UnicodeVersion()"
    return run_perl("-MUnicode::UCD", "-e", program).decode()
