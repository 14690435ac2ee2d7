"""Packets for the tests, with texts that formats and tools trip over."""

from collections.abc import Iterator

from corpusmill.pipelines.translation.packet_files import Packet, PacketLine, Returned
from corpusmill.pipelines.translation.target_languages import TargetLanguage
from corpusmill.transforms.files.records import SourceSentence
from tests.tools.real_data import DATA

ARABIC = TargetLanguage("ara", "Arabic", "ar", ("Arab",), True)
CHINESE = TargetLanguage("zho_simpl", "Chinese (Simpl)", "zh-Hans", ("Hani",), False)

TRICKY_TEXTS = (
    "Plain words.",
    '"We have them," he said. "All."',
    '"An open quotation that goes on.',
    '"A whole one, with a comma"',
    "Tom & Jerry's <b>bold</b> &amp; ]]> <!-- 'so' -->",
    " \u00a0blanks  at both ends \u3000 ",
    "bidi \u202bمثال\u202c \u200f(שלום)\u200e",
    "marks e\u0301 q\u0323\u0307 हिन्दी ภาษาไทย \u1100\u1161",
    "emoji 😀 👩\u200d🔬 🇺🇦",
    "lines that are none \x85 \u2028 \u2029",
    "=SUM(A1)",
    "+1 - 2",
    "1998",
    "3/4",
    "C:\\new\\table {0} %s ${x}",
    "三千万，《红楼梦》。",
    "\ufeffa mark in front",
)
CONTROLS = ("a\rb\r\nc\nd\te", "controls \x01 \x0b \x1f \ufffe \uffff")


def line(
    id_: str, text: str, target: str = "", reasons: tuple[str, ...] = (), article: int = 1
) -> PacketLine:
    """A sentence to translate, of the split that its id tells."""
    place = id_.partition("-")[0], f"wikinews:{article}"
    url = f"https://en.wikinews.org/wiki/?curid={article}&x='1'"
    source = SourceSentence(id_, *place, text, url, "wikinews", "politics", True, False)
    return PacketLine(source, target, reasons)


def packet_of(*lines: PacketLine, project: str = "flores") -> Packet:
    """The packet of these lines, a third of its second round."""
    return Packet(project, CHINESE, 2, 3, lines)


def tricky_packet(texts: tuple[str, ...]) -> Packet:
    """Each text as a source without target, and as a target, in two splits and articles of three."""
    lines = []
    for split in ("dev", "devtest"):
        for number, text in enumerate(texts, 1):
            article = number // 3
            lines.append(line(f"{split}-{number:04d}", text, article=article))
            done = line(f"{split}-{number + 5000}", texts[-number], text, article=article)
            lines.append(done._replace(reasons=("numbers-differ: 3 < 4",) if number % 2 else ()))
    return packet_of(*lines, project="flores 101/ü")


def released_packets() -> Iterator[Packet]:
    """Packets with the released translations into some languages."""
    folder = DATA / "flores/flores101_dataset/devtest"
    sources = (folder / "eng.devtest").read_text("utf-8").splitlines()
    for code in ("fra", "ara", "zho_simpl", "ell"):
        targets = (folder / f"{code}.devtest").read_bytes().decode().split("\n")
        pairs = enumerate(zip(sources, targets, strict=False), 1)
        packet = packet_of(*(line(f"devtest-{n:04d}", *pair) for n, pair in pairs))
        assert len(packet.lines) == 1012
        yield packet


def check_returned(returned: Returned, packet: Packet) -> None:
    """The file holds all that the packet does."""
    assert returned.name == (packet.project, packet.language.code, packet.round, packet.number)
    assert returned.sources == {each.source.id: each.source.text for each in packet.lines}
    expected = {each.source.id: each.target for each in packet.lines if each.target}
    assert {each.id: each.text for each in returned.translations} == expected
