"""trec_eval itself, 9.0.8: `python -m bench.trec_eval JUDGMENTS RUN` prints what `trec_eval -c -m all_trec` prints.

pytrec_eval-terrier is built (by gcc with -O3) of all of trec_eval's C files but the one with its `main`, which reads
options and calls the others. Here is such a `main`: trec_eval's own code reads both files, joins, measures, adds up
and prints. Only the calls for each query and measure come from Python, some 0.5 microseconds each.
"""

import ctypes
import importlib.util
import sys
from collections.abc import Sequence
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_long, c_void_p

__all__ = ["trec_eval"]

UNDEFINED = -1
NOT_ASKED, ASKED = -1, -2  # of eval_index, before a measure is prepared


class _Options(Structure):
    _fields_ = (
        ("query_flag", c_long),
        ("summary_flag", c_long),
        ("debug_level", c_long),
        ("debug_query", c_char_p),
        ("relation_flag", c_long),
        ("average_complete_flag", c_long),
        ("judged_docs_only_flag", c_long),
        ("num_docs_in_coll", c_long),
        ("relevance_level", c_long),
        ("max_num_docs_per_topic", c_long),
        ("rel_info_format", c_char_p),
        ("results_format", c_char_p),
        ("zscore_flag", c_long),
        ("meas_arg", c_void_p),
    )


class _Value(Structure):
    _fields_ = (("name", c_char_p), ("value", c_double))


class _Evaluation(Structure):
    _fields_ = (
        ("qid", c_char_p),
        ("num_queries", c_long),
        ("values", POINTER(_Value)),
        ("num_values", c_long),
        ("max_num_values", c_long),
    )


class _Results(Structure):
    _fields_ = (("qid", c_char_p), ("run_id", c_char_p), ("ret_format", c_char_p), ("q_results", c_void_p))


class _AllResults(Structure):
    _fields_ = (("count", c_long), ("room", c_long), ("each", POINTER(_Results)))


class _Judgments(Structure):
    _fields_ = (("qid", c_char_p), ("rel_format", c_char_p), ("q_rel_info", c_void_p))


class _AllJudgments(Structure):
    _fields_ = (("count", c_long), ("room", c_long), ("each", POINTER(_Judgments)))


_Function = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p)
_OfOneQuery = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p)
_OfTwo = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_void_p)


class _Measure(Structure):
    _fields_ = (
        ("name", c_char_p),
        ("explanation", c_char_p),
        ("init_meas", _Function),
        ("calc_meas", _OfOneQuery),
        ("acc_meas", _OfTwo),
        ("calc_avg_meas", _OfTwo),
        ("print_single_meas", _Function),
        ("print_final_and_cleanup_meas", _Function),
        ("meas_params", c_void_p),
        ("eval_index", c_long),
    )


class _Nickname(Structure):
    _fields_ = (("name", c_char_p), ("names", POINTER(c_char_p)))


def trec_eval(judgments: str, run: str) -> None:
    """Prints the means of all measures over all judged queries on the standard output of the process. Raises
    RuntimeError where a function of trec_eval gives up; its own words are on standard error then.
    """
    library = _library()
    options = _Options(
        summary_flag=1,
        relation_flag=1,
        average_complete_flag=1,
        relevance_level=1,
        max_num_docs_per_topic=sys.maxsize,
        rel_info_format=b"qrels",
        results_format=b"trec_results",
    )
    judged, retrieved = _AllJudgments(), _AllResults()
    _call(library.te_get_qrels, byref(options), judgments.encode(), byref(judged))
    _call(library.te_get_trec_results, byref(options), run.encode(), byref(retrieved))

    total = _Evaluation(qid=b"all")
    measures = _measures(library)
    for measure in measures:
        _call(measure.init_meas, byref(options), byref(measure), byref(total))
    values = (_Value * total.max_num_values)()
    ctypes.memmove(values, total.values, ctypes.sizeof(_Value) * total.num_values)
    one = _Evaluation(values=values, num_values=total.num_values, max_num_values=total.max_num_values)

    by_query = {judged.each[at].qid: at for at in range(judged.count)}
    options_at, one_at, total_at = (ctypes.addressof(each) for each in (options, one, total))
    calls = [(measure.calc_meas, measure.acc_meas, ctypes.addressof(measure)) for measure in measures]
    for at in range(retrieved.count):
        results = retrieved.each[at]
        if results.qid not in by_query:
            continue
        judgments_at = ctypes.addressof(judged.each[by_query[results.qid]])
        results_at = ctypes.addressof(results)
        one.qid = results.qid
        for value in range(one.num_values):
            values[value].value = 0.0
        for calculate, accumulate, measure_at in calls:
            calculate(options_at, judgments_at, results_at, measure_at, one_at)
            accumulate(options_at, measure_at, one_at, total_at)
        total.num_queries += 1
    for measure in measures:
        _call(measure.calc_avg_meas, byref(options), byref(measure), byref(judged), byref(total))
        _call(measure.print_final_and_cleanup_meas, byref(options), byref(measure), byref(total))
    ctypes.CDLL(None).fflush(None)


def _library() -> ctypes.CDLL:
    found = importlib.util.find_spec("pytrec_eval_ext")
    if found is None or found.origin is None:
        raise RuntimeError("pytrec_eval-terrier is not installed: run `make install`")
    return ctypes.CDLL(found.origin)


def _measures(library: ctypes.CDLL) -> Sequence[_Measure]:
    """Those of all_trec, in trec_eval's order, marked as asked for."""
    nicknames = (_Nickname * c_int.in_dll(library, "te_num_trec_measure_nicknames").value).in_dll(
        library, "te_trec_measure_nicknames"
    )
    (listed,) = (each.names for each in nicknames if each.name == b"all_trec")
    asked = set()
    for name in listed:  # a null pointer ends them
        if name is None:
            break
        asked.add(name)
    pointers = (POINTER(_Measure) * c_int.in_dll(library, "te_num_trec_measures").value).in_dll(
        library, "te_trec_measures"
    )
    every = [pointer.contents for pointer in pointers]
    for measure in every:
        measure.eval_index = ASKED if measure.name in asked else NOT_ASKED
    return [measure for measure in every if measure.name in asked]


def _call(function: "ctypes._FuncPointer", *arguments: object) -> None:
    if function(*arguments) == UNDEFINED:
        raise RuntimeError(f"trec_eval gave up in {getattr(function, '__name__', 'a measure')}")


if __name__ == "__main__":
    trec_eval(*sys.argv[1:])
