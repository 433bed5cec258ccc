"""A small reader of LaTeX, as far as our tables have it: it fails where a table is not whole."""

import re

ENVIRONMENTS = re.compile(r"\\(begin|end)\{(\w+)\}")
SIGNS = {
    r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^", r"\textless{}": "<",
    r"\textbraceleft{}": "{", r"\textbraceright{}": "}",
    r"\textgreater{}": ">", r"\textbar{}": "|", "$-$": "−", "--": "–", r"$\uparrow$": "↑", r"$\downarrow$": "↓",
    r"$^{\dagger}$": "†", "{[}": "[", "{*}": "*", **{f"\\{sign}": sign for sign in "&%$#_"},
}  # fmt: skip
SIGN = re.compile("|".join(map(re.escape, SIGNS)))
BEST = re.compile(r"\\textbf\{(.*)\}")


def table_in(text: str) -> list[list[str]]:
    """The rows of the only table, the head first, with the characters that are printed; bold cells keep their command.

    Asserts that environments and braces are closed, and that every row has the cells that the table declares.
    """
    body = re.sub(r"(?<!\\)%.*", "", text)
    opened: list[str] = []
    for what, name in ENVIRONMENTS.findall(body):
        if what == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert not opened
    plain = re.sub(r"\\.", "", body)
    assert plain.count("{") == plain.count("}")
    (declared,) = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", body)
    inside = body.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
    lines = [line for line in inside.strip().split("\n") if line != r"\midrule"]
    assert all(line.endswith(r" \\") for line in lines)
    rows = [re.split(r"(?<!\\)&", line.removesuffix(r"\\")) for line in lines]
    assert {len(row) for row in rows} == {len(declared)}
    return [[_printed(cell.strip()) for cell in row] for row in rows]


def _printed(cell: str) -> str:
    if best := BEST.fullmatch(cell):
        return rf"\textbf{{{_printed(best[1])}}}"
    return SIGN.sub(lambda match: SIGNS[match[0]], cell)
