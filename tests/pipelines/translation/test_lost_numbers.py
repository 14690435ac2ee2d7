import pytest

from corpusmill.pipelines.translation.check_numbers import find_lost_numbers
from corpusmill.pipelines.translation.target_languages import find_language
from tests.pipelines.translation.pair_cases import found, pair


@pytest.mark.parametrize(
    ("code", "english", "translation"),
    [
        ("deu", "It has 1,234 rooms.", "Es hat 1.234 Zimmer."),
        ("fra", "It has 1,234 rooms.", "Il a 1\u202f234 chambres."),
        ("hin", "It has 1,234,567 rooms.", "इसमें १२,३४,५६७ कमरे हैं।"),
        ("pus", "It has 1945 rooms.", "۱۹۴۵ خونې لري."),
        ("jpn", "Some 330,000 people came.", "約33万人が来た。"),
        ("jpn", "Some 17,000 islands.", "約1万7千の島々。"),
        ("deu", "Some 2.3 million came.", "Es kamen 2.300.000."),
        ("deu", "Some 2.3 million came.", "Es kamen 2,3 Millionen."),
        ("deu", "It is 3.50 m wide.", "Es ist 3,5 m breit."),
        ("fra", "It began at 10:30 p.m.", "Cela a commencé à 22 h 30."),
        ("fra", "It began at 12.00 GMT.", "Cela a commencé à 12 h GMT."),
        ("ukr", "It began at 1200 GMT.", "О 12 годині за Гринвічем."),
        ("jpn", "It took 4:41.30.", "4分41秒30かかった。"),
        ("swh", "It began at 10:08 p.m.", "Ilianza saa 4 na dakika 8 usiku."),
        ("fra", "In the 1920s.", "Dans les années 20."),
        ("fra", "In the 15th century.", "Au XVe siècle."),
        ("rus", "In the 19th century.", "В XIX веке."),
        ("fra", "Over 100 feet high.", "De plus de 30 mètres."),
        ("fra", "It fell 328 to 820 feet.", "Il est tombé de 100 à 250 mètres."),
        ("fra", "At 90°F.", "À 32 °C."),
        ("fra", "It weighs 1,000 pounds.", "Il pèse 450 kg."),
        ("fra", "No number.", "Le 14 juillet 1789."),
        ("deu", "Some 330,000 people came.", "Es kamen 330 Tausend."),
        ("zho_simpl", "Some 2.3 million came.", "来了230万人。"),
    ],
)
def test_kept(code: str, english: str, translation: str) -> None:
    assert not list(find_lost_numbers([pair(english, translation)], find_language(code)))


@pytest.mark.parametrize(
    ("code", "english", "translation", "severity", "message"),
    [
        (
            "ell",
            "In late 2017 he came.",
            "Στα τέλη του 2018 ήρθε.",
            "error",
            '"2017" of the source is missing; "2018" is not in the source',
        ),
        ("deu", "In 2017 he came.", "Er kam.", "error", '"2017" of the source is missing'),
        ("deu", "Some 64 came.", "Es kamen 60.", "error", None),
        ("deu", "Some 64 came.", "Es kamen viele.", "warning", None),
        ("deu", "Some 6 came.", "Es kamen sechs.", "warning", None),
        ("deu", "In the 1920s.", "Damals.", "warning", None),
        ("deu", "Over 250 feet.", "Über 200 Kilo.", "warning", None),
        ("deu", "At 10:30 p.m. it began.", "Um 21:30 begann es.", "error", None),
        ("deu", "It has 6,000 rooms.", "Es hat 60 Zimmer.", "error", None),
        ("swh", "It has 6,000 rooms.", "Ina vyumba 6,001.", "error", None),
        ("deu", "It has 6,000 rooms.", "Es hat 60000 Zimmer.", "error", None),
        ("deu", "In 1895 and 1945.", "Von 1895 bis 1894.", "error", None),
        ("deu", "At 10:08 p.m. it began.", "Um 4 Uhr 8 begann es.", "error", None),
    ],
)
def test_lost(
    code: str, english: str, translation: str, severity: str, message: str | None
) -> None:
    findings = list(find_lost_numbers([pair(english, translation)], find_language(code)))
    assert found(findings) == [("numbers-differ", severity)]
    assert message in (None, findings[0].message)
