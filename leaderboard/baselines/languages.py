"""Text to terms, by language: words in lower case, without stop words, each as its stem.

Stop words are those of the package stopwords, stems those of Snowball (PyStemmer).
"""

import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from leaderboard.errors import BadInput

NO_LANGUAGE = "none"
OF_STOP_WORDS = {"ukrainian": "ukranian"}  # what that package calls a language, where it is spelt otherwise
NO_LANGUAGES = frozenset({"brazilian", "dutch_porter", "porter", "ukranian"})  # variants of others, not languages

# Scripts that part words by nothing: Thai and Lao, Myanmar, Khmer, kana and Han.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
UNSPACED += "\uf900-\ufaff\U00020000-\U0003ffff"
MARKS = "".join(chr(point) for point in range(0x0E00, 0x3100) if unicodedata.category(chr(point)).startswith("M"))
IS_UNSPACED = re.compile(f"[{UNSPACED}]")
STRETCHES = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")
CHARACTERS = re.compile(f".[{MARKS}]*", re.DOTALL)  # a sign with the vowels and tones that are set on it
ZERO_WIDTH_SPACE = "\u200b"
CAPITAL_I_OF_TURKISH = {ord("I"): "ı", ord("İ"): "i"}


@cache
def languages() -> Mapping[str, tuple[str | None, str | None]]:
    """By its English name, what Snowball and the package of stop words call a language that one of them has; None where
    the other lacks it.

    >>> languages()["tamil"], languages()["thai"]
    (('tamil', None), (None, 'thai'))
    """
    import Stemmer
    import stopwords

    stems, stops = set(Stemmer.algorithms()), set(stopwords.AVAILABLE_LANGUAGES)
    names = (stems | stops | OF_STOP_WORDS.keys()) - NO_LANGUAGES
    return {
        name: (name if name in stems else None, stop if (stop := OF_STOP_WORDS.get(name, name)) in stops else None)
        for name in sorted(names)
    }


def language_of(name: str) -> str:
    """A language by its English name or, where the stop words have one, its code (`en`); `none` is none.

    Raises BadInput, which lists the known ones.

    >>> language_of("EN")
    'english'
    """
    import stopwords

    wanted = name.lower()
    named: str = stopwords.LANGUAGE_MAPPING.get(wanted, wanted)
    named = {theirs: ours for ours, theirs in OF_STOP_WORDS.items()}.get(named, named)
    if named == NO_LANGUAGE or named in languages():
        return named
    known = f"`none` takes words as they are, and there are {', '.join(languages())}"
    raise BadInput(f"no language is called {name!r}; {known}")


class _Separators(dict[int, int | str | None]):
    """For str.translate: letters, marks and digits stay, what only shapes a word goes, all else parts words."""

    def __missing__(self, point: int) -> int | str | None:
        kind = unicodedata.category(chr(point))
        shapes = kind == "Cf" and chr(point) != ZERO_WIDTH_SPACE  # soft hyphens, joiners, marks of direction
        self[point] = replacement = point if kind[0] in "LMN" else None if shapes else " "
        return replacement


class Analyser:
    """Makes terms of text, the same way for documents and queries.

    A word is a run of letters, digits and the marks on them, in lower case and in Unicode's form NFKC; everything else,
    apostrophes and hyphens too, parts words. Thai, Lao, Myanmar and Khmer script, kana and Han part words by nothing:
    there every two characters that follow each other are a word, and one that stands alone is one. Korean is written
    with blanks and needs nothing else.

    >>> Analyser("english").terms("The harbours' fees: 3.5% in O'Brien's port")
    ['harbour', 'fee', '3', '5', 'o', 'brien', 'port']
    >>> Analyser("chinese").terms("港口费用 2026")
    ['港口', '口费', '费用', '2026']
    """

    def __init__(self, language: str, *, stop_words: bool = True, stemming: bool = True) -> None:
        """language: as `language_of` gives it."""
        stems, stops = languages()[language] if language != NO_LANGUAGE else (None, None)
        self.language = language
        self._separators = _Separators()
        self.stop_words = self._stop_words(stops) if stop_words and stops is not None else frozenset()
        self.is_stemming = stemming and stems is not None
        if self.is_stemming:
            import Stemmer

            stemmer = Stemmer.Stemmer(stems)
            stemmer.maxCacheSize = 0  # whoever asks for many keeps them
            self._stem = stemmer.stemWord
        else:
            self._stem = str

    def _stop_words(self, name: str) -> frozenset[str]:
        """As `words` gives them: of one with an apostrophe (don't, we'll) what follows it, which stands alone there."""
        import stopwords

        parts = [(word, self.words(word)) for word in stopwords.get_stopwords(name)]
        return frozenset(forms[-1] for word, forms in parts if len(forms) == 1 or (forms and "'" in word))

    def words(self, text: str) -> list[str]:
        """The words of a text, stop words too, in order."""
        plain = text.isascii()
        if not plain:
            text = unicodedata.normalize("NFKC", text)
        if self.language == "turkish":
            text = text.translate(CAPITAL_I_OF_TURKISH)
        words = text.lower().translate(self._separators).split()
        if plain or not IS_UNSPACED.search(text):
            return words
        return [part for word in words for part in _parts(word)]

    def term(self, word: str) -> str | None:
        """A word's term; None for a stop word."""
        return None if word in self.stop_words else self._stem(word)

    def terms(self, text: str) -> list[str]:
        """The terms of a text, in order."""
        return [term for word in self.words(text) if (term := self.term(word)) is not None]

    @property
    def short(self) -> str:
        """Its language, and what it leaves undone."""
        language = "" if self.language == NO_LANGUAGE else self.language
        lacks = ("" if self.stop_words else "no stop words", "" if self.is_stemming else "no stems")
        return ", ".join(filter(None, (language, *lacks)))

    @property
    def described(self) -> str:
        """What it does, in a few words."""
        stops = f"{len(self.stop_words):,} stop words" if self.stop_words else "no stop words"
        return f"{self.language}: {stops}, {'Snowball stems' if self.is_stemming else 'no stems'}"


def _parts(word: str) -> list[str]:
    """A run of letters, its stretches in unspaced scripts as overlapping pairs of characters."""
    parts: list[str] = []
    for stretch in STRETCHES.findall(word):
        if not IS_UNSPACED.match(stretch):
            parts.append(stretch)
            continue
        characters = CHARACTERS.findall(stretch)
        parts += [first + second for first, second in pairwise(characters)] or characters
    return parts
