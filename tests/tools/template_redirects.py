"""Lists entries of the template tables that disagree with the redirects of their wiki.

    python -m tests.tools.template_redirects CODE FILE

FILE is a dump of the wiki (XML, perhaps compressed by bzip2), or its file `mappingstats_CODE.txt` of DBpedia
(https://github.com/dbpedia/extraction-framework, server/src/main/statistics), which has the redirects of
about 50 wikis. If a wiki redirects a template to another, both show the same text, so the tables should have
the same pattern for both. Each line has the names of both and their patterns; "-" is a name in no table.
"""

import argparse
import bz2
import pathlib
import re
from collections.abc import Iterator

from corpusmill.transforms.wikipedia.mediawiki_xml import parse_page
from corpusmill.transforms.wikitext.language import Language, load_language, normalise_name
from corpusmill.transforms.wikitext.templates.definitions import read_template

_PAGE = re.compile(rb"<page>.*?</page>", re.DOTALL)
_TEMPLATES = 10  # the namespace
_MAX_ALIASES = 4


def redirects(path: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Yields the normalised names of a redirect and of its target."""
    data = path.read_bytes()
    if path.suffix == ".txt":
        for line in data.decode().splitlines():
            if line.startswith("r|"):
                _, source, target = line.split("|", 2)
                names = (normalise_name(one.partition(":")[2]) for one in (source, target))
                yield next(names), next(names)
        return
    for xml in _PAGE.findall(bz2.decompress(data) if path.suffix == ".bz2" else data):
        page = parse_page(xml)
        fact = read_template(page) if page.namespace == _TEMPLATES else None
        if fact and fact.kind == "alias":
            yield fact.name, fact.value


def pattern_of(language: Language, name: str) -> str | None:
    """Returns the pattern of a template in the tables, with aliases resolved; None if there is none."""
    pattern = language.templates.get(name)
    for _ in range(_MAX_ALIASES):
        if pattern and pattern.startswith("@"):
            pattern = language.templates.get(normalise_name(pattern[1:]))
    is_silent = pattern is None and name.startswith(language.silent_prefixes)
    return "" if is_silent else pattern


def main() -> None:
    """Prints the entries."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("code")
    parser.add_argument("file", type=pathlib.Path)
    args = parser.parse_args()
    language = load_language(args.code)
    for source, target in sorted(set(redirects(args.file))):
        shown, wanted = (pattern_of(language, name) for name in (source, target))
        is_open = wanted is None and shown in (None, "", "=unknown")
        if source in language.templates and shown != wanted and not is_open:
            print(source, target, repr(shown), "-" if wanted is None else repr(wanted), sep="\t")


if __name__ == "__main__":
    main()
