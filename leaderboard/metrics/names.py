"""Every measure, in the order of the reference page, and how one is found by its name.

A new measure is written in a module of `families` and listed in that module's FAMILIES. Its name is
`Name(parameter=value, …)@cutoff`. trec_eval's names stand beside: what its -m takes, what it prints, in which order;
each family carries its own `TrecEval` records.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from leaderboard.errors import UnknownMeasure
from leaderboard.metrics.families import (
    binary,
    counts,
    detection,
    diversity,
    graded,
    incomplete,
    recall_levels,
    sets,
    sweep,
    user_models,
)
from leaderboard.metrics.families.counts import NUM_REL_RET, NUM_RET
from leaderboard.metrics.families.sets import SET_P, SET_REL_P
from leaderboard.metrics.measure import Family, Measure, TrecEval, Value, read_value

if TYPE_CHECKING:
    from leaderboard.metrics.families.agreement import Agreement

_GROUPS: Mapping[str, tuple[Family, ...]] = {
    "Detection": (*detection.FAMILIES, *sweep.FAMILIES),
    "Ranks, binary": (*binary.FAMILIES, *recall_levels.FAMILIES, *user_models.RANK_BIASED),
    "Ranks, graded": (
        *graded.FAMILIES,
        *user_models.CASCADE,
        *user_models.FAMILIES,
        *graded.COMPATIBILITY,
        *graded.GAIN_VARIANTS,
    ),
    "Ranks, diversity": diversity.FAMILIES,
    "Ranks, incomplete judgments": incomplete.FAMILIES,
    "Sets": sets.FAMILIES,
    "Counts": counts.FAMILIES,
}
_FAMILIES = tuple(family for group in _GROUPS.values() for family in group)
_BY_NAME = {each.name: each for each in _FAMILIES}


def groups() -> Mapping[str, tuple[Family, ...]]:
    """Every measure under the heading that the reference page has it under, in its order.

    >>> list(groups())[:2]
    ['Detection', 'Ranks, binary']
    """
    return _GROUPS


def families() -> tuple[Family, ...]:
    """Every measure, in the order of the reference page.

    >>> [family.name for family in families()][:3]
    ['AQWV', 'Value', 'Pmiss']
    """
    return _FAMILIES


def nearest(word: str, names: Mapping[str, str]) -> tuple[str, ...]:
    """At most four names that resemble a word, for the message that says the word names nothing; the closest first.

    names: what the word is compared with, in lower case -> the name to show.

    >>> nearest("recal", {"recall": "R", "rbp": "RBP"})
    ('R',)
    """
    from difflib import get_close_matches  # slow to import, and only a wrong name needs it

    close = get_close_matches(word.casefold(), names, n=4, cutoff=0.5)
    return tuple(dict.fromkeys(names[each] for each in close))


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


def parse_agreements(text: str) -> tuple["Agreement", ...]:
    """Agreements separated by blanks or commas, each once. Raises UnknownMeasure as parse_all does.

    >>> [str(each) for each in parse_agreements("KendallTau, RBO(p=0.95) KendallDistance@10")]
    ['KendallTau', 'RBO(p=0.95)', 'KendallDistance@10']
    """
    from leaderboard.metrics.families.agreement import AGREEMENTS, find_agreement  # not for those who only score

    def resolve(part: str) -> tuple["Agreement", ...]:
        match = re.match(OURS, part, re.DOTALL)
        agreement = find_agreement(match["name"]) if match else None
        if not match or not agreement:
            listed = ", ".join(each.name for each in AGREEMENTS)
            raise UnknownMeasure(f"no agreement is called {part!r}; there are {listed}")
        inside = dict(_parameters(match["inside"] or "", part))
        return (_filled(agreement, inside, match["cutoff"], part),)

    return _each_once(_split(text), resolve)


def _filled(definition: Any, inside: Mapping[str, Value], cutoff: str | None, text: str) -> Any:
    """A definition with its parameters and cutoff, as they stand in `text`."""
    value = None if cutoff is None else read_value(cutoff)
    if isinstance(value, (str, tuple)):
        raise UnknownMeasure(f"{text}: the cutoff after @ must be a number, not {cutoff!r}")
    definition.read_arguments(inside)  # a parameter called `cutoff` or `self` must not reach the call below
    return definition(cutoff=value, **inside)


def explain(name: str) -> str:
    """The whole reference of a measure or an agreement as plain text. Raises UnknownMeasure as parse does.

    >>> explain("RBO(p=0.95)").splitlines()[0]
    'RBO: Rank-biased overlap'
    """
    from leaderboard.metrics.families.agreement import AGREEMENTS, find_agreement  # not for those who only score

    word = re.split(r"[(@]", name.strip(), maxsplit=1)[0].strip()
    if find_agreement(word):
        return parse_agreements(name)[0].family.text
    try:
        return parse(name).family.text
    except UnknownMeasure as unknown:
        close = nearest(word, {each.name.casefold(): each.name for each in AGREEMENTS})
        if not close:
            raise
        raise UnknownMeasure(f"{unknown.message}; between two rankings: {', '.join(close)}") from None


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
    family = _BY_NAME.get(ALIASES.get(match["name"], match["name"])) if match else None
    needs_more = family is not None and family.cutoff is not None and family.cutoff.required
    if match and family and not (needs_more and match["cutoff"] is None and text in FORMS):
        return (_filled(*_as_ours(family, dict(_parameters(match["inside"] or "", text))), match["cutoff"], text),)
    measures = _trec_eval(text)
    if not measures:
        from leaderboard.metrics.families.agreement import find_agreement  # not for those who only score

        if match and find_agreement(match["name"]):
            raise UnknownMeasure(f"{text} compares two runs without judgments; use leaderboard agreement")
        raise UnknownMeasure(f"no measure is called {text!r}; {_nearest(text)}")
    return measures


def _as_ours(family: Family, inside: dict[str, Value]) -> tuple[Family, dict[str, Value]]:
    """The family that ir_measures means by these parameters, and those of them that are left for it."""
    if family is NUM_RET and "rel" in inside:
        return NUM_REL_RET, inside
    relative = inside.get("relative")
    if family in (SET_P, SET_REL_P) and relative in ("True", "False"):
        del inside["relative"]
        return (SET_REL_P if relative == "True" else SET_P), inside
    return family, inside


def _parameters(inside: str, name: str) -> Iterator[tuple[str, Value]]:
    keys: set[str] = set()
    for part in _outside_brackets(inside, ","):
        key, sign, value = (piece.strip() for piece in part.partition("="))
        if not sign or not key.isidentifier():
            raise UnknownMeasure(f"{name}: {part.strip()!r} is no parameter; expected parameter=value")
        pair = (key, read_value(value))
        key, read = PARAMETER_ALIASES.get(pair, pair)
        if key in keys:
            raise UnknownMeasure(f"{name} gives {key} twice")
        keys.add(key)
        yield key, read


def _trec_eval(text: str) -> tuple[Measure, ...]:
    """What one of trec_eval's names stands for, as its -m takes it (P.5,10) or as it prints it (P_5)."""
    for name in sorted(FORMS, key=len, reverse=True):
        rest = text[len(name) + 1 :]
        has_more = text.startswith((f"{name}.", f"{name}_")) and re.match(NUMBERS, rest.partition(",")[0])
        if text == name or has_more:
            return tuple(printed.measure for printed in expand(name, rest if has_more else None))
    return ()


def _nearest(text: str) -> str:
    """The names most like it, as a clause of a message."""
    cutoff = text.partition("@")[2]
    word = re.split(r"[(@.]", text, maxsplit=1)[0]
    ours = {name: name for name in _BY_NAME} | ALIASES | MEANT
    names = {alias.casefold(): _example(_BY_NAME[name], cutoff) for alias, name in ours.items()}
    for name in FORMS:
        names.setdefault(name.casefold(), name)
    close = nearest(word, names)
    if not close:
        return f"no name is like it; the page of measures has all {len(families())}, such as AP, nDCG@10 and AQWV"
    return "nearest: " + ", ".join(close)


def _example(family: Family, cutoff: str) -> str:
    if family.cutoff is None or not (cutoff or family.cutoff.required):
        return family.name
    return f"{family.name}@{cutoff if cutoff.isdigit() else family.cutoff.example}"


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

    def over_all(self, rel: int, complete: bool) -> Measure:
        """The measure whose figure stands in the line `all`: under -c num_rel counts grades from 1 on, whatever -l."""
        return self.measure if complete and self.name == "num_rel" else self.at(rel)


FORMS = {form.name: (family, form) for family in _FAMILIES for form in family.forms}


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
                raise UnknownMeasure(_unknown(request))
            asked[single] = asked.get(single) or parameters or None
    in_order = sorted(asked, key=lambda name: ALL_TREC.index(name) if name in ALL_TREC else len(ALL_TREC))
    return tuple(printed for name in in_order for printed in expand(name, asked[name]))


def _unknown(request: str) -> str:
    """What is wrong with an argument of -m, and what may be meant."""
    name, sign, parameters = request.rpartition("_")
    if sign and name in FORMS and parameters[:1].isdigit():
        return f"trec_eval's -m takes {name}.{parameters}, not {request!r}, which is how it prints it"
    names = {each.casefold(): each for each in (*FORMS, *BUNDLES)}
    close = nearest(request.partition(".")[0], names)
    listed = f"nearest: {', '.join(close)}" if close else f"it has {', '.join(names.values())}"
    return f"trec_eval has no measure {request!r}; {listed}"


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
    values: Iterable[Value] = form.values if parameters is None else _each(name, form, parameters)
    return tuple(
        Printed(f"{name}_{form.form.format(value)}", family(**dict(form.given), **{form.takes: value}))
        for value in values
    )


def _each(name: str, form: TrecEval, parameters: str) -> list[float]:
    """The values of a comma-separated list in rising order; whole numbers are cut off as C's atol does."""
    kind = type(form.values[0])
    values: list[float] = []
    for text in parameters.split(","):
        value = read_value(text)
        if not isinstance(value, (int, float)):
            raise UnknownMeasure(f"trec_eval's {name} takes numbers, not {text!r}")
        values.append(int(value) if kind is int else value)
    if len(set(values)) < len(values):
        raise UnknownMeasure(f"{name}.{parameters} names a value twice")
    return sorted(values)
