"""trec_eval's names: what its -m takes, what it prints, and in which order.

Each family carries its own `TrecEval` records; this module only reads requests against them.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from leaderboard.errors import UnknownMeasure
from leaderboard.metrics.measure import Family, Measure, TrecEval
from leaderboard.metrics.parameters import Value, read_value
from leaderboard.metrics.registry import families, nearest

# The order in which trec_eval prints, whatever the order of its -m.
ALL_TREC = (
    "num_q",
    "num_ret",
    "num_rel",
    "num_rel_ret",
    "map",
    "gm_map",
    "Rprec",
    "bpref",
    "recip_rank",
    "iprec_at_recall",
    "P",
    "recall",
    "infAP",
    "gm_bpref",
    "Rprec_mult",
    "utility",
    "11pt_avg",
    "binG",
    "G",
    "ndcg",
    "ndcg_rel",
    "Rndcg",
    "ndcg_cut",
    "map_cut",
    "relative_P",
    "success",
    "set_P",
    "set_relative_P",
    "set_recall",
    "set_map",
    "set_F",
    "num_nonrel_judged_ret",
    "rbp",
    "rbp_resid",
    "unj",
)
NEW_IN_10 = frozenset({"rbp", "rbp_resid", "unj"})
BUNDLES = {
    "all_trec": ALL_TREC,
    "official": ALL_TREC[: ALL_TREC.index("P") + 1],
    "set": (
        "num_q",
        "num_ret",
        "num_rel",
        "num_rel_ret",
        "utility",
        "set_P",
        "set_relative_P",
        "set_recall",
        "set_map",
        "set_F",
    ),
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


def _forms() -> dict[str, tuple[Family, TrecEval]]:
    return {form.name: (family, form) for family in families() for form in family.trec_eval}


FORMS = _forms()


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
    order = {name: number for number, name in enumerate(ALL_TREC)}
    return tuple(
        printed
        for name in sorted(asked, key=lambda name: order.get(name, len(order)))
        for printed in expand(name, asked[name])
    )


def _unknown(request: str) -> str:
    """What is wrong with an argument of -m, and what may be meant."""
    name, sign, parameters = request.rpartition("_")
    if sign and name in FORMS and parameters[:1].isdigit():
        return f"trec_eval's -m takes {name}.{parameters}, not {request!r}, which is how it prints it"
    names = {each.casefold(): each for each in (*FORMS, *BUNDLES)}
    close = nearest(request.partition(".")[0], names)
    there = f"nearest: {', '.join(close)}" if close else f"it has {', '.join(names.values())}"
    return f"trec_eval has no measure {request!r}; {there}"


def expand(name: str, parameters: str | None = None) -> tuple[Printed, ...]:
    """The lines that one of trec_eval's names stands for; parameters: what follows its dot, None: the defaults.

    Raises UnknownMeasure for parameters that it does not take, KeyError for a name that trec_eval has not.

    >>> expand("success", "5")
    (Printed(name='success_5', measure=<Measure Success@5>),)
    """
    family, form = FORMS[name]
    fixed = dict(form.given)
    if form.read is not None:
        if parameters is None:
            return (Printed(name, family(**fixed)),)
        return (Printed(f"{name}_{parameters}", family(**(fixed | form.read(parameters)))),)
    if not form.takes:
        if parameters is not None:
            raise UnknownMeasure(f"trec_eval's {name} takes no parameters ({name}.{parameters})")
        return (Printed(name, family(**fixed)),)
    values = form.values if parameters is None else tuple(_each(name, form, parameters))
    return tuple(
        Printed(f"{name}_{form.form.format(value)}", family(**fixed, **{form.takes: value})) for value in values
    )


def _each(name: str, form: TrecEval, parameters: str) -> Iterator[Value]:
    """The values of a comma-separated list in rising order; whole numbers are cut off as C's atol does."""
    whole = isinstance(form.values[0], int)
    values = sorted(_number(name, text) for text in parameters.split(","))
    values = [int(value) for value in values] if whole else values
    if len(set(values)) < len(values):
        raise UnknownMeasure(f"{name}.{parameters} names a value twice")
    yield from values


def _number(name: str, text: str) -> float:
    value = read_value(text)
    if not isinstance(value, (int, float)):
        raise UnknownMeasure(f"trec_eval's {name} takes numbers, not {text!r}")
    return value
