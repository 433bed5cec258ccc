import pytest

from leaderboard.errors import InvalidFields
from leaderboard.names import checked_email, checked_name, checked_slug, email_key, name_key, slug_of

CYRILLIC_A, ZERO_WIDTH, RIGHT_TO_LEFT, FULL_WIDTH_A = "\u0430", "\u200b", "\u202e", "\uff21"


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Northern lights", "NORTHERN LIGHTS"),
        ("Northern lights", "  Northern\tlights "),
        ("Northern lights", f"Northern{ZERO_WIDTH} lights"),
        ("Northern lights", f"{RIGHT_TO_LEFT}Northern lights"),
        ("Northern lights", "N\uff4frthern lights"),  # a full-width o
        ("Northern lights", "N0rthern 1ights"),
        ("Northern lights", "Northern Iights"),  # a capital i
        ("Northern lights", "N o r t h e r n Lights"),
        ("Zu\u0308rich", "Z\u00fcrich"),
        ("rnal", "mal"),
        ("RNAL", "mal"),
        ("Modern", "rnodem"),
    ],
)
def test_names_that_differ_in_case_blanks_or_look_alikes_are_one(name: str, other: str) -> None:
    assert name_key(name) == name_key(other)


# From the first and last characters of ranges of Default_Ignorable_Code_Point in Unicode's DerivedCoreProperties.txt,
# and blanks that are no spaces.
UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u180f\u200b\u200f\u202a\u202e\u2060\u2065\u206f\u3164"
    "\ufe00\ufe0f\ufeff\uffa0\ufff0\ufff8\U0001bca0\U0001bca3\U0001d173\U0001d17a\U000e0000\U000e01ef\U000e0fff"
    "\u2800\U00016fe4\U0001d159"
)


@pytest.mark.parametrize("unseen", UNSEEN, ids=ascii)
def test_a_name_with_a_character_that_nobody_sees_is_the_name_without_it(unseen: str) -> None:
    for name in (f"eve{unseen}", f"{unseen}eve", f"e{unseen}ve"):
        assert checked_name(name) == ("eve", name_key("eve"))
        assert checked_email(f"{name}@example.org") == checked_email("eve@example.org")
        assert checked_slug(name) == "eve"
    with pytest.raises(InvalidFields):
        checked_name(unseen * 3)


# By full case folding, compatibility or look the two are one; a mail server may deliver them to two people.
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada@stra\u00dfe.example", "ada@strasse.example"),
        ("\u03c2@example.org", "\u03c3@example.org"),  # the two small sigmas
        ("ada@\ufb01ne.example", "ada@fine.example"),
        ("\u0131da@example.org", "ida@example.org"),  # a dotless i
        ("a\u017fa@example.org", "asa@example.org"),  # a long s
        ("\u00c4da@example.org", "\u00e4da@example.org"),
        ("\u00aada@example.org", "ada@example.org"),  # a raised a
        ("ad\u0430@example.org", "ada@example.org"),  # of Cyrillic
    ],
)
def test_addresses_are_one_only_where_no_mail_server_tells_them_apart(one: str, other: str) -> None:
    assert checked_email(one)[0] == one
    assert checked_email(one)[1] != checked_email(other)[1]


def test_an_address_is_one_in_either_case_of_ascii_and_however_its_letters_are_composed() -> None:
    assert email_key(" ADA@Example.ORG ") == "ada@example.org"
    assert email_key("ADA@Zu\u0308rich.example") == email_key("ada@z\u00fcrich.example")
    # The sign of Kelvin is by Unicode's own word the letter K: what is kept, and written to, is the letter.
    assert checked_email("\u212aay@example.org") == ("Kay@example.org", "kay@example.org")


@pytest.mark.parametrize("other", ["Northern light", "Northern-lights", "Southern lights", "Northern lights 2"])
def test_other_names_are_others(other: str) -> None:
    assert name_key(other) != name_key("Northern lights")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (f"N{CYRILLIC_A}vy", "another alphabet"),
        ("BM25 \u03b2", "another alphabet"),
        ("\u0410\u0412\u0421", "another alphabet"),  # three Cyrillic capitals that look like ABC
        ("", "at least one letter"),
        (" \t ", "at least one letter"),
        ("---", "at least one letter"),
        ("a" * 61, "at most 60 characters; this one has 61"),
        ("a\x00b", "can't be seen"),
    ],
)
def test_a_name_that_deceives_or_is_none_is_refused(name: str, says: str) -> None:
    with pytest.raises(InvalidFields) as caught:
        checked_name(name)
    assert says in caught.value.fields["name"][0]


@pytest.mark.parametrize("name", ["closed account 14", "account 7", "Anonymous 61166d", "A worker", "the command line"])
def test_a_name_that_the_site_itself_gives_is_refused(name: str) -> None:
    with pytest.raises(InvalidFields, match="the site itself calls others so"):
        checked_name(name)


@pytest.mark.parametrize(
    "name", ["Gr\u00fc\u00dfe 2", "\u6771\u4eac IR Lab \u30fc", "\u041d\u043e\u0440\u043c\u0430", "a" * 60]
)
def test_names_of_one_script_are_taken(name: str) -> None:
    assert checked_name(f" {name}{ZERO_WIDTH} ")[0] == name


@pytest.mark.parametrize(
    ("text", "slug"),
    [("Northern Lights", "northern-lights"), ("Zürich & Größe", "zurich-grosse"), ("日本", ""), ("--a--", "a")],
)
def test_a_slug_is_made_of_ascii_letters_and_digits(text: str, slug: str) -> None:
    assert slug_of(text) == slug


@pytest.mark.parametrize("slug", ["", "A", "a b", "-a", "a--b", "a/b", "ä", "a" * 61, "a\n"])
def test_what_is_no_slug_is_refused(slug: str) -> None:
    with pytest.raises(InvalidFields):
        checked_slug(slug)
