from pathlib import Path

from corpusmill.transforms.files.records import Article, Rejected
from corpusmill.transforms.wikipedia.article_rows import DropDuplicateArticles, pack_article
from tests.tools.run_pipeline import run_transform

LEAD = "У містечку було {} хат, млин, школа і дві церкви; «стара» стояла на горі, а нова — біля ставу. "
TEXT = "\n_START_ARTICLE_\n{}\n_START_PARAGRAPH_\n" + "".join(
    LEAD.format(number) for number in range(9)
)


def test_of_alike_articles_the_longest_stays(tmp_path: Path) -> None:
    texts = {4: TEXT.format("Млин"), 5: TEXT.format("МЛИНИ"), 6: TEXT.format("Млини"), 7: "Інше"}
    articles = {
        page_id: pack_article(Article(page_id, f"Title {page_id}", "1", text))
        for page_id, text in texts.items()
    }
    outcome = run_transform(DropDuplicateArticles(str(tmp_path), 0.8), articles.values())
    assert sorted(outcome.elements["kept"]) == [articles[5], articles[7]]
    stage, reason = "drop-duplicates", "near-duplicate"
    assert sorted(outcome.elements["rejected"]) == [
        Rejected("4", "Title 4", stage, reason, "8-gram similarity 0.930 to 5, which stays"),
        Rejected("6", "Title 6", stage, reason, "8-gram similarity 1.000 to 5, which stays"),
    ]
    assert outcome.counters == {"drop-duplicates/near-duplicate": 2}
