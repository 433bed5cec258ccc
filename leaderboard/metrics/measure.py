"""What a measure is: a family (the record that the registry lists) with its parameters and cutoff filled in. Parameters
come first: what each takes, and how a value is read and written.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np

from leaderboard.errors import BadInput, UnknownMeasure
from leaderboard.metrics.aggregation import MEAN, SUM, Aggregation, Columns
from leaderboard.metrics.ranking import Ranking, Setting
from leaderboard.metrics.reference import Reference, reference_of
from leaderboard.metrics.segments import Bools, Floats
from leaderboard.numbers import GRADE_LIMIT

Gains = tuple[tuple[int, float], ...]
Points = tuple[float, ...]
Value = int | float | str | Gains | Points | None
Given = tuple[tuple[str, Value], ...]
Kind = Literal["int", "float", "choice", "gains", "points"]

# Every number that a measure takes is 0 or of a size between these two. None that means anything lies beyond them, and
# within them no measure overflows or divides by what rounding has made of a number.
SMALLEST, LARGEST = 1e-9, 1e9

# Patterns are compiled when first used: compiling them took a third of this package's import.
INT = r"[+-]?[0-9]{1,100}\Z"  # Python refuses to read whole numbers of thousands of digits
FLOAT = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z"
WORD = r"(['\"]?)([A-Za-z][\w-]*)\1\Z"  # in quotes or not


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a family, or its cutoff.

    default  None: not given (the measure then does without)
    low, high  bounds of a number, both included (low is left out when `above` is true), beside those of all numbers
    choices  of a choice
    required of a cutoff: the measure has no meaning without
    example  for messages
    """

    name: str
    kind: Kind
    meaning: str
    default: Value = None
    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    choices: tuple[str, ...] = ()
    required: bool = False
    example: str = "10"

    def read(self, value: Value, of: str) -> Value:
        """The value in this parameter's type. Raises UnknownMeasure that says what is allowed."""
        allowed = SIZES if _is_extreme(value) else f"expected {self.expected}"
        read = None if allowed is SIZES else self._read(value)
        if read is None:
            label = f"@{write(value)}" if self.name == "cutoff" else f"{self.name}={write(value)}"
            raise UnknownMeasure(f"{of}: {label} is not allowed; {allowed}")
        return read

    def _read(self, value: Any) -> Value:
        """None: not allowed."""
        if self.kind == "choice":
            return value if value in self.choices else None
        if isinstance(value, tuple) != (self.kind in {"gains", "points"}):
            return None
        if self.kind == "gains":
            of_grades = all(isinstance(each, tuple) and 0 <= each[0] <= GRADE_LIMIT for each in value)
            return tuple(sorted(value)) if of_grades else None
        for number in value if self.kind == "points" else (value,):
            if not isinstance(number, (int, float)) or not self.low <= number <= self.high:
                return None
            if self.above and number == self.low:
                return None
        if self.kind == "points":
            return tuple(sorted(map(float, value)))
        return float(value) if self.kind == "float" else int(value) if value == int(value) else None

    @property
    def written(self) -> str:
        """Its default, as it stands in a name; "" where it has none."""
        return "" if self.default is None else write(self.default)

    @property
    def expected(self) -> str:
        """What it takes, in words."""
        if self.kind == "choice":
            return " or ".join(self.choices)
        if self.kind == "gains":
            return f"a gain for each grade from 0 on, up to {GRADE_LIMIT}, like {{1:3.5,2:9}}"
        if self.kind == "points":
            return f"numbers from {write(self.low)} to {write(self.high)}, like {{0.25,0.5,0.75}}"
        noun = "a whole number" if self.kind == "int" else "a number"
        if math.isinf(self.low):
            return noun
        lowest = f"above {write(self.low)}" if self.above else f"of at least {write(self.low)}"
        return f"{noun} {lowest}" + ("" if math.isinf(self.high) else f" and at most {write(self.high)}")


def choice(name: str, choices: tuple[str, ...], meaning: str) -> Parameter:
    """A parameter that takes one of some words: the first, unless another is given."""
    return Parameter(name, "choice", meaning, choices[0], choices=choices)


def fraction(name: str, default: float, meaning: str) -> Parameter:
    """A parameter from 0 to 1."""
    return Parameter(name, "float", meaning, default, low=0.0, high=1.0)


SIZES = f"a number is 0, or of a size from {SMALLEST:.9f} to {LARGEST:,.0f}"


def _is_extreme(value: Value | Gains) -> bool:
    """Whether a number, or one between braces, is of another size than SIZES."""
    if isinstance(value, tuple):
        return any(map(_is_extreme, value))
    return isinstance(value, (int, float)) and value != 0 and not SMALLEST <= abs(value) <= LARGEST


def write(value: Value) -> str:
    """As it stands in a name; read_value gives it back.

    >>> write(0.5), write(2.0), write(((1, 3.5), (2, 9.0)))
    ('0.5', '2', '{1:3.5,2:9}')
    """
    if isinstance(value, float):
        return str(int(value)) if abs(value) < 1e15 and value == int(value) else repr(value)
    if isinstance(value, tuple):
        parts = (f"{each[0]}:{write(each[1])}" if isinstance(each, tuple) else write(each) for each in value)
        return "{" + ",".join(parts) + "}"
    return str(value)


def read_value(text: str) -> Value:
    """A number, a word (bare or in quotes), {grade:gain,…} or {number,…}. Raises UnknownMeasure for anything else.

    >>> read_value("0.5"), read_value("exp"), read_value("{1:3.5,2:9}")
    (0.5, 'exp', ((1, 3.5), (2, 9.0)))
    """
    text = text.strip()
    if re.match(INT, text):
        return int(text)
    if re.match(FLOAT, text):
        return float(text)
    if word := re.match(WORD, text):
        return word[2]
    if text.startswith("{") and text.endswith("}") and "{" not in text[1:]:
        parts: list[Any] = [[read_value(each) for each in part.split(":")] for part in text[1:-1].split(",")]
        if all(isinstance(each, (int, float)) for part in parts for each in part):
            if all(len(part) == 1 for part in parts):
                return tuple(sorted({float(part[0]) for part in parts}))
            if all(len(part) == 2 and isinstance(part[0], int) for part in parts):
                if len(dict(parts)) < len(parts):
                    raise UnknownMeasure(f"{text}: a grade has two gains")
                return tuple(sorted((grade, float(gain)) for grade, gain in parts))
    raise UnknownMeasure(f"{text[:99]!r} is no value; expected a number, a word or gains like {{1:3.5,2:9}}")


Direction = Literal["higher", "lower", "none"]
Need = Literal["documents", "beta", "known", "subtopics"]
Range = tuple[float, float]

RATIO: Range = (0.0, 1.0)
COUNT: Range = (0.0, math.inf)

UNITS = {
    "share": "A share, without unit.",
    "false alarms": "A share of the collection's other documents, without unit.",
    "documents": "Documents.",
    "queries": "Queries.",
    "gain": "Gain.",
    "value": "Value of a correct detection: β is the cost of returning every wrong document in this unit.",
    "utility": "As the four worths are given; documents by default.",
    "correlation": "A correlation, without unit.",
}
REL = Parameter("rel", "int", "the lowest grade that counts as relevant", 1, low=1, high=GRADE_LIMIT)

# As ir_measures writes it; `Measure.evaluate` sees to it, so that no family has to.
JUDGED_ONLY = choice(
    "judged_only", ("False", "True"), "True: documents without a grade of 0 or more are taken out of the lists first"
)

NEEDED: Mapping[Need, str] = {
    "documents": "the number of documents in the collection",
    "beta": "β (or the cost, the value and the prior that give it)",
    "known": "the evaluation's list of documents known to the user",
    "subtopics": "judgments of subtopics",
}


def with_relevant(ranking: Ranking, *, rel: int = 1, **_others: object) -> Bools:
    """bool[Q]: whether a document of the query is judged relevant at this measure's own level."""
    return ranking.relevant(rel).judged > 0


@dataclass(frozen=True, slots=True)
class TrecEval:
    """A name of trec_eval's for a family with some parameters.

    name     trec_eval's name, as given to its -m
    given    our parameters that its name stands for
    values   what it takes after a dot when nothing is given there: cutoffs, or values of the parameter `takes`
    takes    "cutoff" or one of our parameters, which gets one value each; "" when it takes no list
    form     how one value is printed in the output name: "{}" or "{:.2f}"
    read     for a name whose list makes one measure: what follows its dot -> our parameters
    example  of that list, for messages
    """

    name: str
    given: tuple[tuple[str, Value], ...] = ()
    takes: str = ""
    values: tuple[Value, ...] = ()
    form: str = "{}"
    read: Callable[[str], dict[str, Value]] | None = None
    example: str = ""

    def arguments(self, suffix: str | None) -> dict[str, Value]:
        """The parameters of ours that the name stands for with what follows it, or without. Raises UnknownMeasure."""
        if suffix is None:
            return dict(self.given)
        try:
            return dict(self.given) | (self.read(suffix) if self.read else {self.takes: read_value(suffix)})
        except (KeyError, TypeError, ValueError):
            problem = f"trec_eval's {self.name} does not take {suffix[:99]!r}; expected {self.name}.{self.example}"
            raise UnknownMeasure(problem) from None


@dataclass(frozen=True, eq=False, slots=True)
class Evaluated:
    """One measure of one run.

    values   float64[Q], NaN where a query has no value
    columns  what the measure's aggregate takes: float64[Q] each; none for a measure of the whole run
    mean     the figure for the run, NaN when undefined
    count    queries that count towards it
    theta    the threshold at which it is reached (MQWV); +inf: nothing returned; None for other measures
    """

    values: Floats
    columns: Columns
    mean: float
    count: int
    theta: float | None = None


AGREEMENT = "Agreement between two rankings"  # a group of families that the measures of a run don't belong to


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Family:
    """A measure as the registry lists it, before parameters and cutoff are filled in: of a run, or AGREEMENT.

    compute  the function, whose docstring is the reference: (ranking, **parameters, cutoff when it takes one) ->
             float64[Q], or the columns that the aggregation takes, or an Evaluated for a measure of the whole run; of
             an agreement (first, second, **parameters) -> Agreed
    cutoff   what may follow the @ in a name; None: nothing
    unit     one of UNITS
    group    its heading on the reference page
    forms    its names in trec_eval
    span     (lowest, highest) value, or a function of (setting, measure) that gives them
    defined_where  (ranking, **the measure's arguments) -> bool[Q], the queries that have a value under complete
             judgments; None: all of them, or as the family itself decides (detection). Under pooled judgments all have.
    check    (the parameters given, by name) -> what is wrong with them taken together, or None
    refuse   (setting, arguments) -> why it can't be computed for this evaluation, beside what `needs` says, or None
    uncut    what more is said where a cutoff is refused that someone may well expect
    valueless  what is true of the queries without a value, as the end of a sentence about them
    of_judgments   whether it depends on the judgments alone, whatever the run
    of_returned    whether it counts what the run returned, so that its decisions or θ change it
    """

    name: str
    title: str
    compute: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    group: str
    forms: tuple[TrecEval, ...]
    _: KW_ONLY
    cutoff: Parameter | None = None
    unit: str = "share"
    direction: Direction = "higher"
    span: Range | Callable[[Setting, "Measure"], Range] = RATIO
    aggregation: Aggregation = MEAN
    defined_where: Callable[..., Bools] | None = with_relevant
    needs: tuple[Need, ...] = ()
    check: Callable[[Mapping[str, Value]], str | None] | None = None
    refuse: Callable[[Setting, Mapping[str, Any]], str | None] | None = None
    uncut: str = ""
    valueless: str = "have no relevant document"
    of_judgments: bool = False
    of_returned: bool = False

    def __repr__(self) -> str:
        return f"<Family {self.name}>"

    @property
    def summary(self) -> str:
        """What it measures, in a sentence or two."""
        return self.reference.summary

    @property
    def reference(self) -> Reference:
        """The summary, and a text under every heading of the reference page."""
        better = "closer" if self.group == AGREEMENT else "better"
        direction = f"{self.direction.title()} is {better}."
        if self.direction == "none":
            direction = "Neither: it describes the run."
        return reference_of(self.compute, UNITS[self.unit], direction)

    @property
    def text(self) -> str:
        """The whole reference as plain text: name, summary, parameters and every heading."""
        lines = [f"{self.name}: {self.title}", self.summary]
        for parameter in self.parameters:
            default = parameter.written and f" (default {parameter.written})"
            lines.append(f"  {parameter.name}: {parameter.meaning}; {parameter.expected}{default}")
        if self.cutoff is not None:
            lines.append(f"  @{self.cutoff.example}: {self.cutoff.meaning}; {self.cutoff.expected}")
        lines += [f"{heading}: {text}" for heading, text in self.reference.sections.items()]
        names = ", ".join(form.name for form in self.forms) or "none"
        return "\n".join([*lines, f"Aggregation: {self.aggregation.name}", f"trec_eval's name: {names}"])

    def read_arguments(self, arguments: Mapping[str, Value]) -> Given:
        """The parameters that are not at their defaults, in order. Raises UnknownMeasure for what it does not take."""
        known = {parameter.name: parameter for parameter in self.parameters}
        for name in arguments:
            if name not in known:
                raise UnknownMeasure(f"{self.name} takes no parameter {name!r}; it takes {', '.join(known) or 'none'}")
        values = ((each, each.read(arguments[name], self.name)) for name, each in known.items() if name in arguments)
        return tuple((each.name, value) for each, value in values if value != each.default)

    def read_cutoff(self, cutoff: Value) -> Value:
        """The cutoff in its type. Raises UnknownMeasure when it is missing, or not taken, or out of bounds."""
        if cutoff is None:
            if self.cutoff is not None and self.cutoff.required:
                raise UnknownMeasure(f"{self.name} needs a cutoff, for example {self.name}@{self.cutoff.example}")
            return None
        if self.cutoff is None:
            raise UnknownMeasure(f"{self.name} takes no cutoff (@{write(cutoff)}){self.uncut}")
        return self.cutoff.read(cutoff, self.name)

    def __call__(self, *, cutoff: Value = None, **arguments: Value) -> "Measure":
        """This family with parameters and cutoff. Raises UnknownMeasure for what it does not take."""
        measure = Measure(self, self.read_arguments(arguments), self.read_cutoff(cutoff))
        if self.check and (problem := self.check(arguments)):
            raise UnknownMeasure(f"{self.name}: {problem}")
        return measure


FAMILIES: dict[str, Family] = {}  # every one, by its name
Function = TypeVar("Function", bound=Callable[..., Any])


def measured(
    group: str,
    name: str,
    title: str,
    *parameters: Parameter,
    trec_eval: str | TrecEval | tuple[str | TrecEval, ...] = (),
    **fields: Any,
) -> Callable[[Function], Function]:
    """Puts the function below among the measures of its group, under this name; fields: what else a Family has.

    trec_eval  its names there, one or several; a name alone takes nothing
    """
    names = trec_eval if isinstance(trec_eval, tuple) else (trec_eval,)
    forms = tuple(TrecEval(each) if isinstance(each, str) else each for each in names)

    def register(compute: Function) -> Function:
        FAMILIES[name] = Family(name, title, compute, parameters, group, forms, **fields)
        return compute

    return register


def only_one_of(*names: str) -> Callable[[Mapping[str, Value]], str | None]:
    """A check of parameters that say the same thing in two ways."""
    problem = f"{' and '.join(names)} say the same thing twice; give one"
    return lambda arguments: problem if set(names) <= set(arguments) else None


@dataclass(frozen=True, repr=False, slots=True)
class Measure:
    """A family with its parameters and cutoff filled in. `str()` gives its one name, which `parse` reads back.

    given   (name, value) of each parameter that is not at its default, in the family's order
    cutoff  the rank (IPrec: the recall) after the @, or None
    """

    family: Family
    given: Given = ()
    cutoff: Value = None

    def __str__(self) -> str:
        inside = ", ".join(f"{name}={write(value)}" for name, value in self.given)
        name = f"{self.family.name}({inside})" if inside else self.family.name
        return name if self.cutoff is None else f"{name}@{write(self.cutoff)}"

    def __repr__(self) -> str:
        return f"<Measure {self}>"

    @property
    def arguments(self) -> dict[str, Any]:
        """Every parameter with its value, the cutoff too when the family takes one."""
        values = {parameter.name: parameter.default for parameter in self.family.parameters} | dict(self.given)
        return values if self.family.cutoff is None else values | {"cutoff": self.cutoff}

    def compute(self, *of: Any) -> Any:
        """What the family's function gives: of an agreement, how much two lists of ids in rank order agree."""
        return self.family.compute(*of, **self.arguments)

    @property
    def direction(self) -> Direction:
        return self.family.direction

    @property
    def has_interval(self) -> bool:
        """Whether its values on queries give a confidence interval; MQWV takes the run itself."""
        return self.family.aggregation.has_interval

    @property
    def is_count(self) -> bool:
        """Whether trec_eval prints it as a whole number."""
        return self.family.aggregation is SUM

    @property
    def trec_eval(self) -> str | None:
        """The name that trec_eval prints it under: ndcg, ndcg_cut_10, Rprec_mult_0.40. None when it has none, and where
        the name would hold a list that is one measure's, as rbp_p=0.5, ndcg_1=3 and 11pt_avg_.2,.8 do: such a measure
        goes by our name, unless it is asked for by trec_eval's (`requested`). The relevance level (its -l) is no part.
        """
        given = tuple((name, value) for name, value in self.given if name != "rel")
        for form in self.family.forms:
            value = self.arguments[form.takes] if form.takes else None
            suffix = None if value is None else form.form.format(value)
            # Two decimals may not say which number it is.
            is_exact = not form.takes if suffix is None else read_value(suffix) == value
            if is_exact and self.family(**form.arguments(suffix)) == replace(self, given=given):
                return form.name if suffix is None else f"{form.name}_{suffix}"
        return None

    def range(self, setting: Setting | None = None) -> Range:
        """The lowest and the highest value possible; ±inf where there is no bound."""
        span = self.family.span
        return span(setting or Setting(), self) if callable(span) else span

    def at_relevance(self, rel: int) -> "Measure":
        """With this relevance level written in, when the measure takes rel and does not name it."""
        takes = any(parameter.name == "rel" for parameter in self.family.parameters)
        if not takes or "rel" in dict(self.given):
            return self
        return self.family(cutoff=self.cutoff, **dict(self.given), rel=rel)

    def problem(self, setting: Setting) -> str | None:
        """Why it can't be computed for an evaluation with this setting, beside what `needs` says; None: it can be.

        >>> from leaderboard.metrics import parse
        >>> parse("ERR(gmax=2)@20").problem(Setting(highest_grade=3))
        'ERR(gmax=2)@20 takes grades up to 2, and grade 3 was judged: write gmax=3, or max=data'
        """
        problem = self.family.refuse(setting, self.arguments) if self.family.refuse else None
        return None if problem is None else f"{self} {problem}"

    def evaluate(self, ranking: Ranking) -> Evaluated:
        """The measure on one run, all queries at once. Raises BadInput when the evaluation lacks what it needs."""
        self._require(ranking)
        # Weights far down a list may be too small for a float: they are 0 then, as they should be.
        arguments = self.arguments
        if arguments.pop(JUDGED_ONLY.name, None) == "True":
            ranking = ranking.judged_only()
        with np.errstate(under="ignore"):
            result = self.family.compute(ranking, **arguments)
            if isinstance(result, Evaluated):
                return result
            columns = result if isinstance(result, tuple) else (result,)
            if ranking.undefined_without_relevant and self.family.defined_where is not None:
                defined = self.family.defined_where(ranking, **arguments)
                columns = tuple(np.where(defined, column, np.nan) for column in columns)
            return Evaluated(
                values=self.family.aggregation.values(columns),
                columns=columns,
                mean=self.aggregate(columns),
                count=int(np.count_nonzero(~np.isnan(columns[-1]))),
            )

    def aggregate(self, columns: Columns) -> float:
        """The run's figure from the columns of an Evaluated."""
        return float(self.family.aggregation.combine(columns, None))

    def _require(self, ranking: Ranking) -> None:
        setting = ranking.setting
        has = {
            "documents": setting.documents,
            "beta": setting.beta,
            "known": ranking.judged_known,
            "subtopics": ranking.subtopics,
        }
        missing = [NEEDED[need] for need in NEEDED if need in self.family.needs and has[need] is None]
        if missing:
            raise BadInput(f"{self} needs {' and '.join(missing)}")
        problem = self.family.refuse and self.problem(replace(setting, highest_grade=ranking.highest_grade))
        if problem:
            raise BadInput(problem)
