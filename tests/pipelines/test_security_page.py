"""The page on security says what the code does."""

import importlib
import re

import pytest

from tests.test_architecture import ROOT

PATH = ROOT / "pipelines" / "docs" / "security.md"
PAGE = PATH.read_text("utf-8")
BOUNDS = re.findall(r"^\| [^|]+ \| ([\d,]+) \| `([\w.]+)\.(\w+)` \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("figure", "module", "name"), BOUNDS)
def test_its_bounds_are_those_of_the_code(figure: str, module: str, name: str) -> None:
    assert int(figure.replace(",", "")) == getattr(importlib.import_module(module), name)


def test_what_it_links_to_is_there_and_the_readme_links_to_it() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", PAGE)
    assert links
    assert all((PATH.parent / link).is_file() for link in links)
    assert "(pipelines/docs/security.md)" in (ROOT / "README.md").read_text("utf-8")
    assert len(BOUNDS) == 12
