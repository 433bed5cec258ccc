"""Every measure, in the order of the reference page, and how one is found by its name.

A new measure is written in a module of `families` and listed in that module's FAMILIES. Its name is
`Name(parameter=value, …)@cutoff`. trec_eval's names stand beside: what its -m takes, what it prints, in which order;
each family carries its own `TrecEval` records.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from leaderboard.errors import UnknownMeasure
from leaderboard.metrics.families import (  # noqa: F401  # each puts its measures among FAMILIES
    agreement,
    binary,
    detection,
    diversity,
    graded,
    incomplete,
    sets,
    user_models,
)
from leaderboard.metrics.measure import AGREEMENT, FAMILIES, Family, Measure, TrecEval, Value, read_value

HEADINGS = (
    *("Detection", "Ranks, binary", "Ranks, graded", "Ranks, diversity", "Ranks, incomplete judgments"),
    *("Sets", "Counts"),
)
# Every measure of a run under the heading that the reference page has it under, in its order.
GROUPS: Mapping[str, tuple[Family, ...]] = {
    heading: tuple(family for family in FAMILIES.values() if family.group == heading) for heading in HEADINGS
}
RUN_MEASURES = tuple(family for group in GROUPS.values() for family in group)
AGREEMENTS = tuple(family for family in FAMILIES.values() if family.group == AGREEMENT)  # between two rankings
_BY_NAME = {family.name: family for family in RUN_MEASURES}
_AGREEMENTS = {family.name.casefold(): family for family in AGREEMENTS}
FORMS = {form.name: (family, form) for family in RUN_MEASURES for form in family.forms}


def nearest(word: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """At most four names that resemble a word, for the message that says the word names nothing; the closest first.

    names: what the word is compared with -> the name to show.

    >>> nearest("recal", {"Recall": "R", "rbp": "RBP"})
    ('R',)
    """
    from difflib import get_close_matches  # slow to import, and only a wrong name needs it

    folded = {name.casefold(): shown for name, shown in names.items()}
    close = get_close_matches(word.casefold(), folded, n=4, cutoff=0.5)
    return tuple(dict.fromkeys(folded[each] for each in close))


T = TypeVar("T")

OURS = r"(?P<name>[A-Za-zα]\w*)\s*(\((?P<inside>.*)\))?\s*(@\s*(?P<cutoff>[^\s@()]+))?\Z"
NUMBERS = r"(p=)?[+-]?[0-9.]+([eE][+-]?[0-9]+)?(=[+-]?[0-9.]+([eE][+-]?[0-9]+)?)?\Z"

# Other names that are in use for the same measure.
ALIASES = {
    "MAP": "AP",
    "MRR": "RR",
    "NDCG": "nDCG",
    "Precision": "P",
    "Recall": "R",
    "BPref": "Bpref",
    "RPrec": "Rprec",
    "MAP_IA": "AP_IA",
    "α_DCG": "alpha_DCG",
    "α_nDCG": "alpha_nDCG",
}

# Names that several measures bear, so that none is taken for them: what is most likely meant is told.
MEANT = {"F": "SetF", "F1": "SetF", "F-measure": "SetF", "F-score": "SetF", "FScore": "SetF", "FMeasure": "SetF"}

# ir_measures' way to say the same: its name and value of a parameter -> ours.
PARAMETER_ALIASES: dict[tuple[str, Value], tuple[str, Value]] = {
    ("dcg", "exp-log2"): ("gain", "exp"),
    ("dcg", "log2"): ("gain", "linear"),
}


def parse(name: str) -> Measure:
    """The measure of this name, ours or trec_eval's. Raises UnknownMeasure, which lists the nearest names.

    >>> str(parse("nDCG(gain=linear)@10")), str(parse("ndcg_cut_10"))
    ('nDCG@10', 'nDCG@10')
    """
    measures = _resolve(name.strip())
    if len(measures) > 1:
        listed = ", ".join(map(str, measures))
        raise UnknownMeasure(f"{name.strip()!r} stands for {len(measures)} measures; choose one: {listed}")
    return measures[0]


def search(text: str) -> dict[str, Family]:
    """The measures that these words name or describe, by the name to write, with a cutoff where one is asked or needed.

    Each word stands in a name (ours, trec_eval's or another one in use), the title, the heading or the summary; first
    come the measures that are called so, last those of which only the summary says it.

    >>> list(search("MRR"))[0], list(search("ndcg@5"))[0], list(search("F1"))[0], len(search(" "))
    ('RR', 'nDCG@5', 'SetF', 0)
    >>> list(search("ndcg_cut_10")), list(search("P@10"))
    (['nDCG@10'], ['P@10'])
    """
    if "_" in text and (of_trec_eval := _trec_eval(text.strip())):
        return {str(measure): measure.family for measure in of_trec_eval}
    cutoff = "".join(re.findall(r"@(\d+)", text)[:1])
    words = re.sub(r"@\d*", " ", text).casefold().split()
    found: dict[str, tuple[int, Family]] = {}
    for family in RUN_MEASURES if words else ():
        others = (other for other, name in (ALIASES | MEANT).items() if name == family.name)
        names = {name.casefold() for name in (family.name, *others, *(form.name for form in family.forms))}
        called = " ".join((*names, family.title, family.group)).casefold()
        place = 0 if set(words) <= names else 1 if all(_has(called, word) for word in words) else 2
        if place < 2 or all(_has(f"{called} {family.summary}".casefold(), word) for word in words):
            takes = family.cutoff
            asked = cutoff if takes and takes.kind == "int" else ""
            after = f"@{asked or takes.example}" if takes and (asked or takes.required) else ""
            found[f"{family.name}{after}"] = place, family
    return {name: family for name, (_, family) in sorted(found.items(), key=lambda each: each[1][0])}


def _has(text: str, word: str) -> bool:
    """Whether a text has the word: one of two letters as a whole word only."""
    return word in (text if len(word) > 2 else text.split())


def parse_all(text: str | Iterable[str]) -> tuple[Measure, ...]:
    """Measures separated by blanks or commas, each measure once.

    A bundle (all_trec, official, set) stands for its measures.

    Raises UnknownMeasure, which says of every name what is wrong with it, a line each.

    >>> [str(measure) for measure in parse_all("AP, P.5,10 nDCG(gains={1:3.5,2:9})@10")]
    ['AP', 'P@5', 'P@10', 'nDCG(gains={1:3.5,2:9})@10']
    """
    parts = _split(text) if isinstance(text, str) else [part for each in text for part in _split(each)]
    return _each_once((name for part in parts for name in BUNDLES.get(part, (part,))), _resolve)


def _each_once(names: Iterable[str], resolve: Callable[[str], tuple[T, ...]]) -> tuple[T, ...]:
    """What the names stand for. Raises UnknownMeasure that says of every name what is wrong with it."""
    resolved: dict[T, None] = {}
    problems: dict[str, None] = {}
    for name in names:
        try:
            resolved.update(dict.fromkeys(resolve(name)))
        except UnknownMeasure as unknown:
            problems[unknown.message] = None
    if problems:
        raise UnknownMeasure("\n".join(problems))
    return tuple(resolved)


def parse_agreements(text: str) -> tuple[Measure, ...]:
    """Agreements separated by blanks or commas, each once. Raises UnknownMeasure as parse_all does.

    >>> [str(each) for each in parse_agreements("KendallTau, RBO(p=0.95) KendallDistance@10")]
    ['KendallTau', 'RBO(p=0.95)', 'KendallDistance@10']
    """

    def resolve(part: str) -> tuple[Measure, ...]:
        match = re.match(OURS, part, re.DOTALL)
        family = _AGREEMENTS.get(match["name"].casefold()) if match else None
        if not match or not family:
            listed = ", ".join(each.name for each in AGREEMENTS)
            raise UnknownMeasure(f"no agreement is called {part!r}; there are {listed}")
        return (_filled(family, _parameters(match["inside"], part), match["cutoff"], part),)

    return _each_once(_split(text), resolve)


def _filled(family: Family, inside: Mapping[str, Value], cutoff: str | None, text: str) -> Measure:
    """The family with its parameters and cutoff, as they stand in `text`."""
    value = None if cutoff is None else read_value(cutoff)
    if isinstance(value, (str, tuple)):
        raise UnknownMeasure(f"{text}: the cutoff after @ must be a number, not {cutoff!r}")
    family.read_arguments(inside)  # a parameter called `cutoff` or `self` must not reach the call below
    return family(cutoff=value, **inside)


def explain(name: str) -> str:
    """The whole reference of a measure or an agreement as plain text. Raises UnknownMeasure as parse does.

    >>> explain("RBO(p=0.95)").splitlines()[0]
    'RBO: Rank-biased overlap'
    """
    is_agreement = re.split(r"[(@]", name.strip(), maxsplit=1)[0].strip().casefold() in _AGREEMENTS
    return (parse_agreements(name)[0] if is_agreement else parse(name)).family.text


def _split(text: str) -> Iterator[str]:
    """The names in a list. In "P.5,10" the number after the comma is a further parameter of P, not a name."""
    for chunk in _outside_brackets(text, " \t\r\n"):
        names: list[str] = []
        for part in _outside_brackets(chunk, ","):
            if names and "." in names[-1] and "(" not in names[-1] and re.match(NUMBERS, part):
                names[-1] += f",{part}"
            else:
                names.append(part)
        yield from names


def _outside_brackets(text: str, separators: str) -> Iterator[str]:
    depth = 0
    part = ""
    for sign in (*text, separators[0]):
        depth += (sign in "({") - (sign in ")}")
        if sign in separators and depth <= 0:
            yield from filter(None, (part,))
            part = ""
        else:
            part += sign


def _resolve(text: str) -> tuple[Measure, ...]:
    match = re.match(OURS, text, re.DOTALL)
    name = ALIASES.get(match["name"], match["name"]) if match else ""
    if match and name in _BY_NAME and text not in FORMS:  # of names that both have, P alone stands for more there
        inside = _parameters(match["inside"], text)
        return (_filled(_BY_NAME[_as_ours(name, inside)], inside, match["cutoff"], text),)
    if measures := _trec_eval(text):
        return measures
    if name.casefold() in _AGREEMENTS:
        raise UnknownMeasure(f"{text} compares two runs without judgments; use leaderboard agreement")
    close = ", ".join(_nearest(text))
    instead = f"nearest: {close}" if close else f"the page of measures has all {len(_BY_NAME)}, such as AP and nDCG@10"
    raise UnknownMeasure(f"no measure is called {text!r}; {instead}")


def _as_ours(name: str, inside: dict[str, Value]) -> str:
    """The family that ir_measures means by these parameters; those that are not ours are taken out."""
    if name == "NumRet" and "rel" in inside:
        return "NumRelRet"
    if name in {"SetP", "SetRelP"} and inside.get("relative") in ("True", "False"):
        return "SetRelP" if inside.pop("relative") == "True" else "SetP"
    return name


def _parameters(inside: str | None, name: str) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for part in _outside_brackets(inside or "", ","):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or not key.isidentifier():
            raise UnknownMeasure(f"{name}: {part.strip()!r} is no parameter; expected parameter=value")
        pair = (key, read_value(value))
        key, read = PARAMETER_ALIASES.get(pair, pair)
        if key in values:
            raise UnknownMeasure(f"{name} gives {key} twice")
        values[key] = read
    return values


def _trec_eval(text: str) -> tuple[Measure, ...]:
    """What one of trec_eval's names stands for, as its -m takes it (P.5,10) or as it prints it (P_5)."""
    for name in sorted(FORMS, key=len, reverse=True):
        rest = text[len(name) + 1 :]
        has_more = text.startswith((f"{name}.", f"{name}_")) and re.match(NUMBERS, rest.partition(",")[0])
        if text == name or has_more:
            return tuple(printed.measure for printed in expand(name, rest if has_more else None))
    return ()


def _nearest(text: str) -> tuple[str, ...]:
    """The names most like it, with a cutoff where they need one."""
    cutoff = "".join(re.findall(r"@(\d+)\Z", text))
    names = {name: name for name in (*FORMS, *(family.name for family in AGREEMENTS))}
    for alias, name in (ALIASES | MEANT | {name: name for name in _BY_NAME}).items():
        takes = _BY_NAME[name].cutoff
        names[alias] = f"{name}@{cutoff or takes.example}" if takes and (cutoff or takes.required) else name
    return nearest(re.split(r"[(@.]", text, maxsplit=1)[0], names)


# The order in which trec_eval prints, whatever the order of its -m.
ALL_TREC = (
    "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall",
    "P", "recall", "infAP", "gm_bpref", "Rprec_mult", "utility", "11pt_avg", "binG", "G", "ndcg", "ndcg_rel", "Rndcg",
    "ndcg_cut", "map_cut", "relative_P", "success", "set_P", "set_relative_P", "set_recall", "set_map", "set_F",
    "num_nonrel_judged_ret", "rbp", "rbp_resid", "unj",
)  # fmt: skip
NEW_IN_10 = frozenset({"rbp", "rbp_resid", "unj"})
COUNTS, OF_SETS = ALL_TREC[: ALL_TREC.index("map")], tuple(name for name in ALL_TREC if name.startswith("set_"))
BUNDLES = {
    "all_trec": ALL_TREC,
    "official": ALL_TREC[: ALL_TREC.index("P") + 1],
    "set": (*COUNTS, "utility", *OF_SETS),
}


class Printed(NamedTuple):
    """One line of trec_eval's output: the name there, and the measure whose figure it is."""

    name: str
    measure: Measure

    def at(self, rel: int) -> Measure:
        """The measure under -l rel: what stands in a query's line."""
        return self.measure.at_relevance(rel)


def requested(requests: Iterable[str]) -> tuple[Printed, ...]:
    """What trec_eval prints for these -m arguments, in its order. Raises UnknownMeasure.

    Of two requests for one name the parameters of the first count, as in trec_eval. Take out runid and relstring
    first: they are no measures.

    >>> [name for name, measure in requested(["P.10,5", "map"])]
    ['map', 'P_5', 'P_10']
    """
    asked: dict[str, str | None] = {}
    for request in requests:
        name, _, parameters = request.partition(".")
        for single in BUNDLES.get(request, (name,)):
            if single not in FORMS:
                names = {each: each for each in (*FORMS, *BUNDLES)}
                listed = ", ".join(nearest(name, names) or names)
                raise UnknownMeasure(
                    f"trec_eval has no measure {request!r} (it takes P.10, and prints P_10); it has {listed}"
                )
            asked[single] = asked.get(single) or parameters or None
    in_order = sorted(asked, key=lambda name: ALL_TREC.index(name) if name in ALL_TREC else len(ALL_TREC))
    return tuple(printed for name in in_order for printed in expand(name, asked[name]))


def expand(name: str, parameters: str | None = None) -> tuple[Printed, ...]:
    """The lines that one of trec_eval's names stands for; parameters: what follows its dot, None: the defaults.

    Raises UnknownMeasure for parameters that it does not take, KeyError for a name that trec_eval has not.

    >>> expand("success", "5")
    (Printed(name='success_5', measure=<Measure Success@5>),)
    """
    family, form = FORMS[name]
    if parameters is not None and not (form.read or form.takes):
        raise UnknownMeasure(f"trec_eval's {name} takes no parameters ({name}.{parameters})")
    if not form.takes:
        printed = name if parameters is None else f"{name}_{parameters}"
        return (Printed(printed, family(**form.arguments(parameters))),)
    values = form.values if parameters is None else _each(name, form, parameters)
    return tuple(Printed(f"{name}_{form.form.format(value)}", family(**{form.takes: value})) for value in values)


def _each(name: str, form: TrecEval, parameters: str) -> list[Any]:
    """The values of a comma-separated list in rising order; whole numbers are cut off as C's atol does."""
    kind: Any = type(form.values[0])
    try:
        values = sorted(kind(read_value(text)) for text in parameters.split(","))
    except (TypeError, ValueError, OverflowError):
        raise UnknownMeasure(f"trec_eval's {name} takes numbers, not {parameters[:99]!r}") from None
    if len(set(values)) < len(values):
        raise UnknownMeasure(f"{name}.{parameters} names a value twice")
    return values
