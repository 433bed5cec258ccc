"""Confidence level, number of resamples and seed: what every procedure takes unless told otherwise, and the checks."""

from leaderboard.errors import BadInput

CONFIDENCE = 0.95
RESAMPLES = 10_000
LEAST_RESAMPLES = 1_000  # where many queries would make more take too long
SEED = 1  # any fixed number will do: it is shown beside every figure that depends on it

LEAST_QUERIES = 5  # fewer say next to nothing of their own spread: simulated, 95 % intervals cover far less

CELLS = 2**22  # numbers in the largest matrix held at once: 32 MB


def significance(confidence: float) -> float:
    """The significance level α = 1 − confidence. Raises BadInput unless 0 < confidence < 1.

    >>> significance(0.95)
    0.05
    """
    if not 0 < confidence < 1:
        raise BadInput(f"a confidence level lies between 0 and 1, like 0.95; this one is {confidence}")
    return round(1.0 - confidence, 12)  # 1 − .95 is .050000000000000044 in float64


def tails(confidence: float) -> tuple[float, float]:
    """The quantiles between which that share lies, with equal tails. Raises BadInput unless 0 < confidence < 1.

    >>> tails(0.95)
    (0.025, 0.975)
    """
    tail = significance(confidence) / 2
    return tail, 1.0 - tail


def affordable_resamples(queries: int, drawn: int) -> int:
    """How many resamples of so many queries draw at most `drawn` of them; never fewer than LEAST_RESAMPLES, nor more
    than RESAMPLES.

    >>> affordable_resamples(50, 2_000_000), affordable_resamples(500, 2_000_000), affordable_resamples(7000, 2_000_000)
    (10000, 4000, 1000)
    """
    return max(LEAST_RESAMPLES, min(RESAMPLES, drawn // max(1, queries)))


def check_resamples(resamples: int) -> None:
    """Raises BadInput unless resamples >= 1.

    >>> check_resamples(10_000)
    """
    if resamples < 1:
        raise BadInput(f"at least one resample is needed; this asks for {resamples}")
