"""Queries as JSON lines and as TREC's topics: SGML of several decades and XML, and what hostile files are told."""

import gzip
import io

import pytest

from leaderboard.errors import FileRejected
from leaderboard.formats import Limits, QueryRow, read_queries
from leaderboard.formats.queries import HINT
from tests.formats.files import problems_of, text

# As TREC-6 to TREC-8 wrote them: fields are not closed, and their content may begin on the next line.
ADHOC = """
<top>

<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that participate in international criminal
activity &amp; say where.

<narr> Narrative:
A relevant document must name the organization.

</top>

<top>
<num> Number: 302
<title>
Poliomyelitis and Post-Polio
<desc> Description:
Is the disease under control?
</top>
"""
# As TREC-1 to TREC-3 did: a head, a domain, and a number with a zero that no judgment file has.
FIRST = """<top>
<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  International Economics
<title> Topic:  Airbus Subsidies
<desc> Description:
Document will discuss government assistance to Airbus Industrie.
</top>
"""
COVID = """<?xml version="1.0" encoding="UTF-8"?>
<topics task="COVIDSearch" batch="1">
  <topic number="1">
    <query>coronavirus origin</query>
    <question>what is the origin of COVID-19</question>
    <narrative>seeking range of information about the origin</narrative>
  </topic>
  <topic number="2">
    <query>coronavirus response to weather &amp; season</query>
  </topic>
</topics>
"""


def test_descriptions_and_narratives_are_kept_beside_the_text() -> None:
    rows = [
        *read_queries(io.BytesIO(ADHOC.encode())),
        *read_queries(io.BytesIO(COVID.encode())),
        *read_queries(io.BytesIO(b'{"id": "7", "title": "t", "desc": "one\\ntwo", "narrative": "a\\n\\nb"}\n')),
    ]
    assert {row.id: row.description for row in rows} == {
        "301": "Identify organizations that participate in international criminal activity & say where.\n\n"
        "A relevant document must name the organization.",
        "302": "Is the disease under control?",
        "1": "what is the origin of COVID-19\n\nseeking range of information about the origin",
        "2": "",
        "7": "one two\n\na\n\nb",
    }
    with pytest.raises(FileRejected, match="the description of query 1 is longer than 10,000 characters"):
        read_queries(io.BytesIO(COVID.replace("seeking", "x" * 10_000).encode()))


def test_no_blank_comes_into_a_word_where_a_long_file_is_read_in_pieces() -> None:
    topics = "".join(f'<topic number="{n}"><query>coronavirus-{n}</query></topic>' for n in range(3_000))
    rows = read_queries(io.BytesIO(f"<topics>{topics}</topics>".encode()))
    assert [row.text for row in rows] == [f"coronavirus-{n}" for n in range(3_000)]


def read(content: str, **options: object) -> list[tuple[str, str, tuple[str, ...]]]:
    rows = read_queries(io.BytesIO(content.encode()), **options)  # type: ignore[arg-type]  # keywords of its own
    return [(row.id, row.text, row.tags) for row in rows]


def test_json_lines_are_read_by_the_names_that_others_use() -> None:
    assert read_queries(
        text(
            '{"id": "q1", "text": "harbour fees", "tags": ["law", "port"]}',
            '{"_id": "q2", "text": "tide"}',
            "",
            '{"query_id": 301, "title": "Organized  Crime", "tags": "short,hard"}',
        )
    ) == (
        QueryRow("q1", "harbour fees", ("law", "port")),
        QueryRow("q2", "tide", ()),
        QueryRow("301", "Organized Crime", ("short", "hard")),
    )


def test_every_problem_of_json_lines_is_told_with_its_line() -> None:
    lines = (
        '{"id": "q1"}', "q2\tfees", '{"text": "no id"}', '{"id": true}', '{"id": "q3", "text": 7}',
        '{"id": "q4", "tags": [1]}', '{"id": "q5", "text": "half of \\u0001"}', '{"a":' * 100_000, '{"id": "q1"}',
    )  # fmt: skip
    assert problems_of(read_queries, text(*lines)) == [
        (2, "is no JSON object: JSON is malformed: invalid character (byte 0)"),
        (3, 'the object has no id; write "id": "…"'),
        (4, 'the object has no id; write "id": "…"'),
        (5, "the text of query q3 is no text; put it in quotes"),
        (6, "the tags of query q4 are no list of texts"),
        (7, "text 'half of �' holds a control character"),
        (8, "is no JSON object: maximum recursion depth exceeded while deserializing an object"),
        (9, "query q1 is there twice (first on line 1)"),
    ]


def test_classic_topics_are_read_though_no_field_is_closed() -> None:
    assert read(ADHOC) == [("301", "International Organized Crime", ()), ("302", "Poliomyelitis and Post-Polio", ())]


def test_the_oldest_topics_lose_the_words_before_their_content() -> None:
    assert read(FIRST) == [("51", "Airbus Subsidies", ())]


def test_topics_whose_tags_are_closed_or_whose_end_is_not_are_read_too() -> None:
    closed = (
        "<top>\n<num>C041</num>\n<EN-title>Pesticides &lt;in&gt; baby food</EN-title>\n<EN-desc>x</EN-desc>\n</top>\n"
    )
    assert read(closed) == [("C041", "Pesticides <in> baby food", ())]
    unclosed = "<TOP>\n<NUM> Number: 401\n<TITLE> foreign minorities\n<top>\n<num> Number: 402\n<title> genetics\n"
    assert read(unclosed) == [("401", "foreign minorities", ()), ("402", "genetics", ())]


def test_xml_topics_have_their_number_and_query() -> None:
    expected = [("1", "coronavirus origin", ()), ("2", "coronavirus response to weather & season", ())]
    assert read(COVID) == expected
    assert [row.id for row in read_queries(io.BytesIO(gzip.compress(COVID.encode())))] == ["1", "2"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (  # the Web track
            '<web><topic number="5" type="faceted"><query>mitchell college</query><subtopic>s</subtopic></topic></web>',
            ("5", "mitchell college", ("faceted",)),
        ),
        (  # CLEF eHealth
            "<queries><query><id>qtest.1</id><title>rash</title><desc>red</desc></query></queries>",
            ("qtest.1", "rash", ()),
        ),
        ('<queries><query id="7">what is it</query></queries>', ("7", "what is it", ())),
        (  # precision medicine has neither a query nor a title
            '<topics><topic number="1"><disease>Melanoma</disease><gene>BRAF (V600E)</gene></topic></topics>',
            ("1", "Melanoma; BRAF (V600E)", ()),
        ),
        (  # another encoding that XML can name itself
            '<?xml version="1.0" encoding="ISO-8859-1"?><topics><top num="1"><title>Größe</title></top></topics>',
            ("1", "Größe", ()),
        ),
    ],
)
def test_other_tracks_xml_is_read(content: str, expected: tuple[str, str, tuple[str, ...]]) -> None:
    encoding = "latin-1" if "ISO-8859-1" in content else "utf-8"
    (row,) = read_queries(io.BytesIO(content.encode(encoding)))
    assert (row.id, row.text, row.tags) == expected


ENTITY = '<!DOCTYPE topics [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE topics [<!ENTITY x SYSTEM "file:///etc/hostname">]>'


@pytest.mark.parametrize("declaration", [ENTITY, OUTSIDE, '<!DOCTYPE topics SYSTEM "topics.dtd">'])
def test_a_file_that_declares_a_dtd_or_entities_is_refused(declaration: str) -> None:
    told = "declares a DTD or entities, which are not read; take the declaration out"
    xml = text('<?xml version="1.0"?>', declaration, "<topics><topic number='1'><query>&x;</query></topic></topics>")
    assert problems_of(read_queries, xml) == [(2, told)]
    sgml = text("<top>", "<num> Number: 1", declaration, "<title> &b;", "</top>")
    assert problems_of(read_queries, sgml) == [(3, told)]


def test_xml_that_is_none_is_told_with_its_line_and_what_to_write() -> None:
    assert problems_of(read_queries, text("<topics>", "<topic number='1'><query>R&D</query></topic>", "</topics>")) == [
        (2, f"is no well-formed XML (not well-formed (invalid token): line 2, column 28); {HINT}")
    ]
    assert problems_of(read_queries, text("<topics>", "<topic number='1'>")) == [
        (3, f"is no well-formed XML (no element found: line 3, column 0); {HINT}")
    ]
    assert problems_of(read_queries, text("<feed><entry>x</entry></feed>")) == [
        (None, "holds no topics: expected elements <topic> with a number and a query or title")
    ]


def test_xml_can_be_neither_too_deep_nor_one_endless_tag() -> None:
    deep = io.BytesIO(b"<topics>" + b"<topic>" * 200_000)
    assert problems_of(read_queries, deep) == [(1, "elements more than 50 deep in one another")]
    endless = io.BytesIO(b'<topics><topic number="' + b"1" * 20_000_000)
    assert problems_of(read_queries, endless) == [(1, "a tag longer than 1,048,576 bytes")]


def test_topics_are_checked_as_other_queries_are() -> None:
    topics = ("<topic><query>x</query></topic>", "<topic number='a b'/>", "<topic number='1'/>" * 2)
    assert problems_of(read_queries, text("<topics>", *topics, "</topics>")) == [
        (2, "the topic has no number or id"),
        (3, "query id 'a b' holds a blank"),
        (4, "query 1 is there twice (first on line 4)"),
    ]
    long = "x" * 10_001
    assert problems_of(read_queries, text(f"q1\t{long}")) == [
        (1, "the text of query q1 is longer than 10,000 characters")
    ]
    assert problems_of(read_queries, text("<top>", "<num> Number: 1", "</top>", "see above")) == [
        (4, "'see above' stands outside of a topic (<top> … </top>)")
    ]
    assert problems_of(read_queries, text("q1", "q2", "q3"), limits=Limits(queries=2)) == [
        (None, "more than 2 queries, the most allowed")
    ]
