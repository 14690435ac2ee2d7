"""The released corpora that can become builds."""

from collections import Counter
from collections.abc import Iterator, Mapping

from corpusmill.transforms.files.builds.paper_figures import PAPER
from corpusmill.transforms.wikipedia import article_accounts, article_rows
from corpusmill.transforms.wikitext.article_markers import add_stats, measure_article

from . import wiki40b_settings
from .adopt import Adopted, Counting, Members, ReleasedShard, Row
from .adopt_books import AdoptedBooks, AdoptedParagraphs
from .adopt_sentences import AdoptedSentences
from .adopt_settings import AdoptConfig
from .adopt_translations import AdoptedTranslations


def read_articles(shard: ReleasedShard, _: Members, notes: Counter[str]) -> Iterator[Row]:
    """Yields the articles in the files of a shard."""
    for file in shard.files:
        yield from article_rows.read_released(file.path, notes)


def key_of_article(row: Row) -> tuple[str, str]:
    """Returns the id of an article, and its other values."""
    identity, text, version = row
    return identity, f"{version} {text}"


class AdoptedArticles(Adopted):
    """A build that is made of the released Wiki-40B of one language."""

    base = wiki40b_settings.DESCRIPTION._replace(license_id="cc-by-sa-3.0")
    kind_of_rows = article_rows.ARTICLES._replace(values=tuple)
    counting = Counting(
        lambda row: measure_article(row[1]), add_stats, "characters", key=key_of_article
    )
    account_for = staticmethod(article_accounts.account_for_articles)
    read = staticmethod(read_articles)
    read_as = "pages"

    def check(self) -> None:
        """Raises ValueError if the language of the release is not known."""
        named = [one for one in self.found.languages if one in PAPER]
        if not self.config.language and not named:
            raise ValueError(
                f"{self.config.source}: no folder is named by the code of a language: give --language"
            )
        if named and self.config.language not in ("", *named):
            raise ValueError(
                f"{self.config.source}: the language is {named[0]}, not {self.config.language}"
            )
        self.lang = self.config.language or named[0]


_KINDS: Mapping[str, type[Adopted]] = {
    "wiki40b": AdoptedArticles,
    "lm1b": AdoptedSentences,
    "pg19": AdoptedBooks,
    "simplebooks": AdoptedParagraphs,
    "flores101": AdoptedTranslations,
}


def adopted(config: AdoptConfig) -> Adopted:
    """Returns the build that is made of a released corpus. Raises InputError as `Adopted` does."""
    return _KINDS[config.corpus](config)
