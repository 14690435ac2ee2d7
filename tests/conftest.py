"""What several test modules share: a build takes a second, so it is made once."""

from pathlib import Path

import hypothesis
import pytest

# A busy machine must not fail a test; each law bounds its examples instead.
hypothesis.settings.register_profile("corpusmill", deadline=None)
hypothesis.settings.load_profile("corpusmill")


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which `corpusmill demo` has built."""
    from pipelines.cli import main

    output = tmp_path_factory.mktemp("demo")
    assert main(["demo", "--output", str(output)]) == 0
    return output
