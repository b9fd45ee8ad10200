# python_bindings/tilefold/compat/pykeops/operations.py - what KeOps's are here.
"""The operations of KeOps's formulas: operands, components, tilefold's text.

`TABLE[name]` has the number of operands (values) and of literals (whole
numbers and lists of them), the rule for the number of components, and the text
in tilefold's language: a template of the operands' texts, `{0}`, `{1}` …, and
of the literals', `{a}`, `{b}` …, or a function of both. A value of one
component is a scalar in the text, so that "equal or 1" is tilefold's scalar
with vector.

The complex family counts real components, two for each number; its operands
and results are complex values in the text where `COMPLEX` and
`COMPLEX_OPERANDS` say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from tilefold.compat.pykeops import dimensions as rules

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["COMPLEX", "DERIVATIVES", "TABLE", "Operation", "Text"]
__all__ += ["dimension", "fail", "written"]

MOST_COMPONENTS = 4096  # of repeat and pad in tilefold's language


class Text(NamedTuple):
    """An operand as it is written, and its components."""

    text: str
    dim: int


class Operation(NamedTuple):
    """A row of the table."""

    operands: tuple[int, int]  # at least, at most
    literals: tuple[int, int]
    rule: Callable[[Sequence[int], Sequence[Any]], int]
    text: str | Callable[[Sequence[Text], Sequence[Any]], str]


def fail(message: str) -> NoReturn:
    """KeOps's kind of error."""
    raise ValueError(f"[KeOps] {message}")


def dimension(name: str, dims: Sequence[int], literals: Sequence[Any]) -> int:
    """The components of an operation's result; ValueError where none fits."""
    row = TABLE.get(name)
    if row is None:
        fail(f"unknown operation {name}")
    try:
        return row.rule(dims, literals)
    except rules.UnfitError as error:
        found = ", ".join(map(str, dims))
        fail(f"{name} of operands of dimensions {found}: {error}")
    except (IndexError, TypeError):
        given = ", ".join(map(str, literals))
        fail(f"{name} with {given}: these numbers are not what it takes")


# Texts that depend on components.


def written(number: int) -> str:
    """A whole number, exactly."""
    return str(number) if number >= 0 else f"({number})"


def _list(numbers: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, numbers)) + "]"


def _by(scalar: str, vector: str) -> Callable[..., str]:
    """A template for one component, and one for several."""

    def text(operands: Sequence[Text], literals: Sequence[Any]) -> str:
        template = scalar if max(one.dim for one in operands) == 1 else vector
        return fill(template, operands, literals)

    return text


def fill(template: str, operands: Sequence[Text], given: Sequence[Any]) -> str:
    """A template with the texts of operands and literals."""
    named = {
        name: written(one) if isinstance(one, int) else _list(one)
        for name, one in zip("abcdef", given, strict=False)
    }
    return template.format(*(one.text for one in operands), **named)


def _divided(operands: Sequence[Text], _literals: Sequence[Any]) -> str:
    over, by = operands
    if over.dim == 1 and by.dim > 1:
        # tilefold refuses a number divided by a vector: it is often a mistake.
        if by.dim <= MOST_COMPONENTS:
            return f"(repeat({over.text}, {by.dim})/{by.text})"
        return f"({over.text}*inv({by.text}))"
    return f"({over.text}/{by.text})"


def _modulo(operands: Sequence[Text], literals: Sequence[Any]) -> str:
    value, by, offset = operands
    dim = max(value.dim, offset.dim)
    shifted = Text(f"({value.text} - {offset.text})", dim)
    whole = _divided([shifted, by], literals)
    return f"({value.text} - {by.text}*floor({whole}))"


def _sqdist(operands: Sequence[Text], _literals: Sequence[Any]) -> str:
    left, right = operands
    if left.dim != right.dim:
        return f"sqnorm({left.text} - {right.text})"
    if left.dim == 1:
        return f"square({left.text} - {right.text})"
    return f"sqdist({left.text}, {right.text})"


def _zeros(_operands: Sequence[Text], literals: Sequence[Any]) -> str:
    size = literals[0]
    return "0" if size == 1 else f"repeat(0, {size})"


def _repeat(operands: Sequence[Text], literals: Sequence[Any]) -> str:
    text, size = operands[0].text, literals[0]
    return text if size == 1 else f"repeat({text}, {size})"


def _norm_by(weights: Text, value: str, dim: int) -> str:
    if weights.dim == 1:
        square = f"square({value})" if dim == 1 else f"sqnorm({value})"
        return f"({weights.text}*{square})"
    if weights.dim == dim:
        return f"sum({weights.text}*square({value}))"
    return f"quadratic({weights.text}, {value})"


def _weighted_norm(operands: Sequence[Text], _literals: Sequence[Any]) -> str:
    weights, value = operands
    return _norm_by(weights, value.text, value.dim)


def _weighted_dist(operands: Sequence[Text], _literals: Sequence[Any]) -> str:
    weights, left, right = operands
    difference = f"({left.text} - {right.text})"
    return _norm_by(weights, difference, max(left.dim, right.dim))


def _elem(operands: Sequence[Text], literals: Sequence[Any]) -> str:
    text, dim = operands[0]
    return text if dim == 1 else f"({text})[{literals[0]}]"


def _extract(operands: Sequence[Text], literals: Sequence[Any]) -> str:
    text, dim = operands[0]
    start, size = literals
    if dim == 1:
        return text
    if size == 1:
        return f"({text})[{start}]"
    return f"({text})[{start}:{start + size}]"


def _pad(operands: Sequence[Text], start: int, size: int) -> str:
    text = operands[0].text
    return text if size == 1 else f"pad({text}, {start}, {size})"


def _elem_t(operands: Sequence[Text], literals: Sequence[Any]) -> str:
    return _pad(operands, literals[1], literals[0])


def _extract_t(operands: Sequence[Text], literals: Sequence[Any]) -> str:
    return _pad(operands, literals[0], literals[1])


def _concat(operands: Sequence[Text], _literals: Sequence[Any]) -> str:
    return "[" + ", ".join(one.text for one in operands) + "]"


def _onehot(operands: Sequence[Text], literals: Sequence[Any]) -> str:
    place, size = f"floor({operands[0].text} + 0.5)", literals[0]
    if size == 1:
        return f"where({place} == 0, 1, 0)"
    return f"onehot({place}, {size})"


def _matvec(operands: Sequence[Text], _literals: Sequence[Any]) -> str:
    matrix, vector = operands
    if vector.dim == 1:
        return f"({matrix.text}*{vector.text})"
    if matrix.dim == vector.dim:
        return f"dot({matrix.text}, {vector.text})"
    return f"matvec({matrix.text}, {vector.text})"


def _vecmat(operands: Sequence[Text], _literals: Sequence[Any]) -> str:
    vector, matrix = operands
    if vector.dim == 1:
        return f"({vector.text}*{matrix.text})"
    if matrix.dim == vector.dim:
        return f"dot({vector.text}, {matrix.text})"
    return f"vecmat({vector.text}, {matrix.text})"


def _outer(operands: Sequence[Text], _literals: Sequence[Any]) -> str:
    left, right = operands
    if 1 in (left.dim, right.dim):
        return f"({left.text}*{right.text})"
    return f"outer({left.text}, {right.text})"


def _shaped_text(name: str) -> Callable[..., str]:
    def text(operands: Sequence[Text], literals: Sequence[Any]) -> str:
        left, right = operands
        if left.dim == right.dim == 1:
            return f"({left.text}*{right.text})"
        # Values of one component are scalars, which have no shape.
        parts = [
            f"[{one.text}]" if one.dim == 1 else one.text for one in operands
        ]
        given = list(literals)
        if len(given) > 4:
            # KeOps: axis k of the plain result goes to place perm[k].
            order = given.pop()
            if order:
                axes = range(len(order))
                given.append(sorted(axes, key=order.__getitem__))
        if name == "tensordot" and not given[2]:
            # Lists have members: what is summed is an axis of length 1.
            shapes = [(1, *shape) for shape in given[:2]]
            given[:4] = [*shapes, (0,), (0,)]
        parts += [_list(one) for one in given]
        made = f"{name}({', '.join(parts)})"
        dim = TABLE[_SHAPED[name]].rule([left.dim, right.dim], literals)
        return made if dim > 1 else f"{made}[0]"

    return text


_SHAPED = {"kron": "Kron", "tensordot": "TensorDot"}


def _bspline(operands: Sequence[Text], literals: Sequence[Any]) -> str:
    knots, at = operands
    made = f"bspline({knots.text}, {at.text}, {literals[0]})"
    # KeOps' splines are 0 at the last knot, SciPy's and the language's are not.
    last = f"({knots.text})[{knots.dim - 1}]"
    made = f"where({at.text} < {last}, {made}, 0)"
    return made if knots.dim - literals[0] - 1 > 1 else f"{made}[0]"


def _softdtw(operands: Sequence[Text], _literals: Sequence[Any]) -> str:
    left, right, gamma = operands
    parts = [
        f"[{one.text}]" if one.dim == 1 else one.text for one in (left, right)
    ]
    return f"softdtw({parts[0]}, {parts[1]}, {gamma.text})"


def _index_of(name: str) -> Callable[..., str]:
    return _by("0", name + "({0})")


_ROUND = "(sign({0})*floor(abs({0})*10^{a} + 0.5)/10^{a})"

TABLE: dict[str, Operation] = {}


def _row(
    name: str,
    text: str | Callable[..., str],
    rule: Callable[..., int] = rules.same,
    operands: int | tuple[int, int] = 1,
    literals: int | tuple[int, int] = 0,
) -> None:
    if isinstance(operands, int):
        operands = (operands, operands)
    if isinstance(literals, int):
        literals = (literals, literals)
    TABLE[name] = Operation(operands, literals, rule, text)


_UNARY: dict[str, str | Callable[..., str]] = {
    "Minus": "(-{0})",
    "Inv": "inv({0})",
    "Exp": "exp({0})",
    "Log": "log({0})",
    "XLogX": "xlogx({0})",
    "Sin": "sin({0})",
    "SinXDivX": "sinxdivx({0})",
    "Sinc": "sinc({0})",
    "Cos": "cos({0})",
    "Asin": "asin({0})",
    "Acos": "acos({0})",
    "Atan": "atan({0})",
    "Square": "square({0})",
    "Abs": "abs({0})",
    "Sign": "sign({0})",
    "Sqrt": "sqrt({0})",
    "Rsqrt": "pinv(sqrt({0}))",
    "Step": "step({0})",
    "ReLU": "relu({0})",
    "Floor": "floor({0})",
    "Normalize": _by("sign({0})", "normalize({0})"),
    "AutoFactorize": "{0}",
}
for _name, _text in _UNARY.items():
    _row(_name, _text)
_BINARY: dict[str, str | Callable[..., str]] = {
    "Add": "({0} + {1})",
    "Subtract": "({0} - {1})",
    "Mult": "({0}*{1})",
    "Divide": _divided,
    "Powf": "pow({0}, {1})",
    "Atan2": "atan2({0}, {1})",
    "Equal": "where({0} == {1}, 1, 0)",
    "NotEqual": "where({0} != {1}, 1, 0)",
    "LessThan": "where({0} < {1}, 1, 0)",
    "LessOrEqual": "where({0} <= {1}, 1, 0)",
}
for _name, _text in _BINARY.items():
    _row(_name, _text, operands=2)
_row("Factorize", "{0}", rules.first, 2)
_row("Pow", "pow({0}, {a})", literals=1)
_row("Round", _ROUND, literals=1)
_row("Clamp", "clamp({0}, {1}, {2})", operands=3)
_row("ClampInt", "clamp({0}, {a}, {b})", literals=2)
_row("DiffClampInt", "where({a} <= {0} and {0} <= {b}, 1, 0)", literals=2)
_row("IfElse", "where({0} >= 0, {1}, {2})", operands=3)
_row("Mod", _modulo, operands=3)
_row("IntCst", "{a}", rules.scalar, 0, 1)
_row("IntInv", "(1/{a})", rules.scalar, 0, 1)
_row("RatCst", "({a}/{b})", rules.scalar, 0, 2)
_row("Zero", _zeros, rules.literal, 0, 1)
_row("Transpose", "{0}", rules.first)
_row("Weighted", "", lambda dims, _: dims[1], 2)  # of a reduction, inside

_row("Sum", _by("{0}", "sum({0})"), rules.scalar)
_row("SumT", _repeat, rules.repeated, 1, 1)
_row("Scalprod", _by("({0}*{1})", "dot({0}, {1})"), rules.dot, 2)
_row("SqNorm2", _by("square({0})", "sqnorm({0})"), rules.scalar)
_row("Norm2", _by("abs({0})", "norm({0})"), rules.scalar)
_row("SqDist", _sqdist, rules.distance, 2)
_row("SqNormIso", _weighted_norm, rules.scaled, 2)
_row("SqNormDiag", _weighted_norm, rules.diagonal, 2)
_row("SymSqNorm", _weighted_norm, rules.matrix_norm, 2)
_row("WeightedSqNorm", _weighted_norm, rules.weighted, 2)
_row("WeightedSqDist", _weighted_dist, rules.weighted, 3)
_row("Max", _by("{0}", "max({0})"), rules.scalar)
_row("Min", _by("{0}", "min({0})"), rules.scalar)
_row("ArgMax", _index_of("argmax"), rules.scalar)
_row("ArgMin", _index_of("argmin"), rules.scalar)
_row("Elem", _elem, rules.element, 1, 1)
_row("ElemT", _elem_t, rules.placed, 1, 2)
_row("Extract", _extract, rules.part, 1, 2)
_row("ExtractT", _extract_t, rules.padded, 1, 2)
_row("Concat", _concat, rules.concatenated, (2, 64))
_row("OneHot", _onehot, rules.repeated, 1, 1)
_row("MatVecMult", _matvec, rules.columns, 2)
_row("VecMatMult", _vecmat, rules.rows, 2)
_row("TensorProd", _outer, rules.product, 2)
_row("Kron", _shaped_text("kron"), rules.kron, 2, 2)
_row("TensorDot", _shaped_text("tensordot"), rules.tensordot, 2, (4, 5))
_row("BSpline", _bspline, rules.spline, 2, 1)
_row("SoftDTW_SqDist", _softdtw, rules.series, 3)


# Derivatives: their texts need the variable, and are written in emit.py.


DERIVATIVES = {
    "Grad": (rules.by_variable, 3),
    "Grad_WithSavedForward": (rules.by_variable, 4),
    "AdjointOperator": (rules.by_variable, 3),
    "Diff": (rules.along, 3),
    "GradMatrix": (rules.jacobian, 2),
    "Divergence": (rules.trace, 2),
    "TraceOperator": (rules.trace, 2),
    "Laplacian": (rules.second, 2),
    "SumLinOperator": (rules.scalar, 2),
}
for _name, (_rule, _count) in DERIVATIVES.items():
    _row(_name, "", _rule, _count)


# The complex family.


def _complex_divided(operands: Sequence[Text], _given: Sequence[Any]) -> str:
    over, by = operands
    if over.dim == 2 < by.dim:
        return f"({over.text}*inv({by.text}))"
    return f"({over.text}/{by.text})"


def _complex_sum_text(operands: Sequence[Text], _given: Sequence[Any]) -> str:
    text, dim = operands[0]
    return text if dim == 2 else f"sum({text})"


def _complex_repeat(operands: Sequence[Text], literals: Sequence[Any]) -> str:
    text, size = operands[0].text, literals[0]
    return text if size == 1 else f"({text}*repeat(1, {size}))"


_row("ComplexReal", "real({0})", rules.parts)
_row("ComplexImag", "imag({0})", rules.parts)
_row("ComplexAbs", "abs({0})", rules.parts)
_row("ComplexSquareAbs", "(square(real({0})) + square(imag({0})))", rules.parts)
_row("ComplexAngle", "angle({0})", rules.parts)
_row("Conj", "conj({0})", rules.complex_numbers)
_row("ComplexExp", "exp({0})", rules.complex_numbers)
_row("ComplexMinus", "(-{0})", rules.complex_numbers)
_row("ComplexSum", _complex_sum_text, rules.complex_sum)
_row("ComplexSumT", _complex_repeat, rules.complex_repeated, 1, 1)
_row("Real2Complex", "({0} + 0*im)", rules.doubled)
_row("Imag2Complex", "({0}*im)", rules.doubled)
_row("ComplexExp1j", "exp(im*{0})", rules.doubled)
_row("ComplexAdd", "({0} + {1})", rules.pair, 2)
_row("ComplexSubtract", "({0} - {1})", rules.pair, 2)
_row("ComplexMult", "({0}*{1})", rules.pair, 2)
_row("ComplexDivide", _complex_divided, rules.pair, 2)
_row("ComplexRealScal", "({0}*{1})", rules.real_scaled, 2)

# Which operands are complex values; of ComplexRealScal the second.
COMPLEX_OPERANDS = {
    "ComplexReal": (True,),
    "ComplexImag": (True,),
    "ComplexAbs": (True,),
    "ComplexSquareAbs": (True,),
    "ComplexAngle": (True,),
    "Conj": (True,),
    "ComplexExp": (True,),
    "ComplexMinus": (True,),
    "ComplexSum": (True,),
    "ComplexSumT": (True,),
    "Real2Complex": (False,),
    "Imag2Complex": (False,),
    "ComplexExp1j": (False,),
    "ComplexAdd": (True, True),
    "ComplexSubtract": (True, True),
    "ComplexMult": (True, True),
    "ComplexDivide": (True, True),
    "ComplexRealScal": (False, True),
}

# Operations whose results are complex values.
# Operations on pairs of real numbers that are those of complex ones.
TRANSPARENT = frozenset(
    {"Add", "AutoFactorize", "Factorize", "Minus", "Subtract", "Transpose"}
)
COMPLEX = frozenset(
    name
    for name in COMPLEX_OPERANDS
    if name
    not in {
        "ComplexReal",
        "ComplexImag",
        "ComplexAbs",
        "ComplexSquareAbs",
        "ComplexAngle",
    }
)
