# tests/python/keops_rows.py - KeOps's operations, and what NumPy makes of them.
"""`ROWS`: formulas of KeOps with the dimensions of a, b, c, and references.

A reference takes arrays (M, N, D), as NumPy broadcasts them, and gives the
values at each pair, (M, N, V).
"""

from __future__ import annotations

import numpy as np
import scipy.interpolate


def _sum(value):
    return value.sum(-1, keepdims=True)


def _norm(value):
    return np.sqrt(_sum(value**2))


def _unit(value):
    return value / _norm(value)


def _where(condition):
    return np.where(condition, 1.0, 0.0)


def _round(value, digits):
    scaled = np.abs(value) * 10.0**digits
    return np.sign(value) * np.floor(scaled + 0.5) / 10.0**digits


def _matvec(matrix, vector):
    shape = (-1, vector.shape[-1])
    rows = matrix.reshape(*matrix.shape[:-1], *shape)
    return np.einsum("...rc,...c->...r", rows, vector)


def _vecmat(vector, matrix):
    shape = (vector.shape[-1], -1)
    rows = matrix.reshape(*matrix.shape[:-1], *shape)
    return np.einsum("...rc,...r->...c", rows, vector)


def _outer(left, right):
    made = left[..., :, None] * right[..., None, :]
    return made.reshape(*made.shape[:-2], -1)


def _each(function):
    """A function of two vectors, at each pair."""

    def at_pairs(left, right):
        shape = np.broadcast_shapes(left.shape[:-1], right.shape[:-1])
        left = np.broadcast_to(left, (*shape, left.shape[-1]))
        right = np.broadcast_to(right, (*shape, right.shape[-1]))
        made = [
            [np.ravel(function(u, v)) for u, v in zip(us, vs, strict=True)]
            for us, vs in zip(left, right, strict=True)
        ]
        return np.asarray(made)

    return at_pairs


def _kron(u, v):
    return np.kron(u.reshape(2, 2), v.reshape(3, 1))


def _tensordot(u, v):
    return np.tensordot(u.reshape(2, 3), v.reshape(3, 2), ([1], [0]))


def _tensordot_moved(u, v):
    # Axis k of the plain result goes to place perm[k].
    plain = np.tensordot(u.reshape(2, 3), v.reshape(3, 2, 2), ([1], [0]))
    return np.moveaxis(plain, [0, 1, 2], [2, 0, 1])


def _splines(knots, at):
    found = [
        scipy.interpolate.BSpline.basis_element(
            knots[k : k + 4], extrapolate=False
        )(at[0])
        for k in range(len(knots) - 3)
    ]
    return np.nan_to_num(found)


def _softdtw(gamma):
    def value(x, y):
        table = np.full((len(x) + 1, len(y) + 1), np.inf)
        table[0, 0] = 0
        for i, u in enumerate(x):
            for j, v in enumerate(y):
                near = [table[i, j], table[i, j + 1], table[i + 1, j]]
                soft = -gamma * np.logaddexp.reduce(-np.asarray(near) / gamma)
                table[i + 1, j + 1] = (u - v) ** 2 + soft
        return table[-1, -1]

    return value


def _weighted(s, f):
    dim = f.shape[-1]
    if s.shape[-1] == dim**2 and dim > 1:
        return _sum(f * _matvec(s, f))
    return _sum(s * f**2)


def _xlogx(a):
    return a * np.log(a)


# Formula, dimensions of a, b and c, reference of arrays in (0.2, 0.9).
POINTWISE = [
    ("-a", [3], lambda a: -a),
    ("Minus(a)", [1], lambda a: -a),
    ("Inv(a)", [3], lambda a: 1 / a),
    ("Exp(a)", [3], np.exp),
    ("Exp(a,)", [1], np.exp),
    ("Log(a)", [3], np.log),
    ("XLogX(a)", [3], _xlogx),
    ("Sin(a)", [3], np.sin),
    ("SinXDivX(a)", [3], lambda a: np.sin(a) / a),
    ("Cos(a)", [3], np.cos),
    ("Asin(a)", [3], np.arcsin),
    ("Acos(a)", [3], np.arccos),
    ("Atan(a)", [3], np.arctan),
    ("Square(a)", [3], np.square),
    ("Abs(a - b)", [3, 3], lambda a, b: np.abs(a - b)),
    ("Sign(a - b)", [3, 1], lambda a, b: np.sign(a - b)),
    ("Sqrt(a)", [3], np.sqrt),
    ("Rsqrt(a)", [3], lambda a: a**-0.5),
    ("Step(a - b)", [3, 3], lambda a, b: _where(a >= b)),
    ("ReLU(a - b)", [3, 3], lambda a, b: np.maximum(a - b, 0)),
    ("Floor(5*a)", [3], lambda a: np.floor(5 * a)),
    ("Round(a,1)", [3], lambda a: _round(a, 1)),
    ("Round(-3*a,0)", [3], lambda a: _round(-3 * a, 0)),
    ("Normalize(a)", [3], _unit),
    ("Normalize(-a)", [1], lambda a: -a / a),
    ("AutoFactorize(a*b)", [3, 1], lambda a, b: a * b),
    ("Factorize(a*b,b)", [3, 1], lambda a, b: a * b),
    ("Pow(a,3)", [3], lambda a: a**3),
    ("a**2 + b**-1", [3, 1], lambda a, b: a**2 + 1 / b),
    ("Pow(a,-2)", [1], lambda a: a**-2),
    ("Powf(a,b)", [3, 1], lambda a, b: a**b),
    ("Powf(a,b)", [1, 3], lambda a, b: a**b),
    ("a**b", [3, 3], lambda a, b: a**b),
    ("a + b", [3, 1], lambda a, b: a + b),
    ("Add(a,b)", [1, 3], lambda a, b: a + b),
    ("a - b", [1, 3], lambda a, b: a - b),
    ("Subtract(a,b)", [3, 3], lambda a, b: a - b),
    ("a*b", [1, 1], lambda a, b: a * b),
    ("Mult(a,b)", [3, 1], lambda a, b: a * b),
    ("a/b", [3, 1], lambda a, b: a / b),
    ("Divide(a,b)", [1, 3], lambda a, b: a / b),
    ("a/b/c", [1, 3, 3], lambda a, b, c: a / b / c),
    ("Atan2(a - b,b)", [3, 1], lambda a, b: np.arctan2(a - b, b)),
    ("Mod(3*a,b,c)", [3, 1, 1],
     lambda a, b, c: 3 * a - b * np.floor((3 * a - c) / b)),
    ("Mod(3*a,b)", [1, 3], lambda a, b: np.mod(3 * a, b)),
    ("Clamp(a,b,c)", [3, 1, 1],
     lambda a, b, c: np.minimum(np.maximum(a, b), c)),
    ("ClampInt(3*a,1,2)", [3], lambda a: np.clip(3 * a, 1, 2)),
    ("DiffClampInt(3*a,1,2)", [3],
     lambda a: _where((3 * a >= 1) & (3 * a <= 2))),
    ("IfElse(a - b,c,b)", [1, 3, 3], lambda a, b, c: np.where(a >= b, c, b)),
    ("Equal(Floor(3*a),Floor(3*b))", [3, 3],
     lambda a, b: _where(np.floor(3 * a) == np.floor(3 * b))),
    ("NotEqual(Floor(3*a),Floor(3*b))", [3, 1],
     lambda a, b: _where(np.floor(3 * a) != np.floor(3 * b))),
    ("Floor(3*a) == Floor(3*b)", [1, 1],
     lambda a, b: _where(np.floor(3 * a) == np.floor(3 * b))),
    ("LessThan(a,b)", [3, 1], lambda a, b: _where(a < b)),
    ("LessOrEqual(a,b)", [3, 3], lambda a, b: _where(a <= b)),
    ("a > b", [1, 3], lambda a, b: _where(a > b)),
    ("a < b", [3, 3], lambda a, b: _where(a < b)),
    ("a + b | b", [3, 3], lambda a, b: _sum((a + b) * b)),
    ("a*IntCst(3) - IntInv(-4) + RatCst(2,3)", [3],
     lambda a: a * 3 + 0.25 + 2 / 3),
    ("a + Zero(3)", [3], lambda a: a),
    ("0.5*a + 2", [3], lambda a: 0.5 * a + 2),
]  # fmt: skip

VECTORS = [
    ("Sum(a*b)", [3, 1], lambda a, b: _sum(a * b)),
    ("Sum(a)", [1], lambda a: a),
    ("SumT(a,4)*b", [1, 4], lambda a, b: a * b),
    ("Scalprod(a,b)", [3, 3], lambda a, b: _sum(a * b)),
    ("(a|b)", [1, 1], lambda a, b: a * b),
    ("SqNorm2(a - b)", [3, 3], lambda a, b: _sum((a - b) ** 2)),
    ("Norm2(a - b)", [3, 1], lambda a, b: _norm(a - b)),
    ("Norm2(-a)", [1], lambda a: a),
    ("SqDist(a,b)", [3, 3], lambda a, b: _sum((a - b) ** 2)),
    ("SqDist(a,b)", [3, 1], lambda a, b: _sum((a - b) ** 2)),
    ("SqDist(a,b)", [1, 1], lambda a, b: (a - b) ** 2),
    ("SqNormIso(a,b)", [1, 3], _weighted),
    ("SqNormDiag(a,b)", [3, 3], _weighted),
    ("SymSqNorm(a,b)", [9, 3], _weighted),
    ("WeightedSqNorm(a,b)", [1, 3], _weighted),
    ("WeightedSqNorm(a,b)", [3, 3], _weighted),
    ("WeightedSqNorm(a,b)", [9, 3], _weighted),
    ("WeightedSqNorm(a,b)", [1, 1], _weighted),
    ("WeightedSqDist(a,b,c)", [9, 3, 3], lambda a, b, c: _weighted(a, b - c)),
    ("WeightedSqDist(a,b,c)", [3, 3, 1], lambda a, b, c: _weighted(a, b - c)),
    ("Max(a*b)", [3, 3], lambda a, b: (a * b).max(-1, keepdims=True)),
    ("Min(a*b)", [3, 1], lambda a, b: (a * b).min(-1, keepdims=True)),
    ("Max(a)", [1], lambda a: a),
    ("ArgMax(a*b)", [3, 3],
     lambda a, b: (a * b).argmax(-1)[..., None].astype(float)),
    ("ArgMin(a*b)", [3, 3],
     lambda a, b: (a * b).argmin(-1)[..., None].astype(float)),
    ("ArgMin(a)", [1], lambda a: 0 * a),
    ("Elem(a*b,2)", [3, 1], lambda a, b: (a * b)[..., 2:3]),
    ("Elem(a,0)", [1], lambda a: a),
    ("ElemT(a,4,2)*b", [1, 1], lambda a, b: a * b * np.eye(4)[2]),
    ("Extract(a*b,1,2)", [4, 1], lambda a, b: (a * b)[..., 1:3]),
    ("Extract(a,1,1)", [3], lambda a: a[..., 1:2]),
    ("ExtractT(a*b,1,5)", [3, 1],
     lambda a, b: np.pad(a * b, [(0, 0), (0, 0), (1, 1)])),
    ("Concat(a,b)*c", [3, 1, 1],
     lambda a, b, c: np.concatenate(_spread(a * c, b * c), -1)),
    ("OneHot(3*a,4)", [1],
     lambda a: _where(np.floor(3 * a + 0.5) == np.arange(4))),
    ("MatVecMult(a,b)", [6, 3], _matvec),
    ("MatVecMult(a,b)", [3, 3], _matvec),
    ("MatVecMult(a,b)", [3, 1], _matvec),
    ("VecMatMult(a,b)", [2, 6], _vecmat),
    ("VecMatMult(a,b)", [1, 3], _vecmat),
    ("TensorProd(a,b)", [3, 2], _outer),
    ("TensorProd(a,b)", [1, 2], _outer),
    ("Kron(a,b,[2,2],[3,1])", [4, 3], _each(_kron)),
    ("TensorDot(a,b,[2,3],[3,2],[1],[0])", [6, 6], _each(_tensordot)),
    ("TensorDot(a,b,[2,3],[3,2,2],[1],[0],[2,0,1])", [6, 12],
     _each(_tensordot_moved)),
    ("TensorDot(a,b,[3],[3],[0],[0])", [3, 3], lambda a, b: _sum(a * b)),
    ("SoftDTW_SqDist(a,b,IntCst(2))", [3, 4], _each(_softdtw(2))),
]  # fmt: skip


def _spread(left, right):
    """Two arrays, repeated to the same pairs."""
    shape = np.broadcast_shapes(left.shape[:-1], right.shape[:-1])
    return [
        np.broadcast_to(one, (*shape, one.shape[-1])) for one in (left, right)
    ]


DERIVATIVES = [
    ("Grad(Exp(a*b),a,c)", [3, 3, 3], lambda a, b, c: np.exp(a * b) * b * c),
    ("Grad(Exp(a*b),a,c)", [1, 3, 3],
     lambda a, b, c: _sum(np.exp(a * b) * b * c)),
    ("Grad(Exp(a*b),a,c)", [1, 1, 1], lambda a, b, c: np.exp(a * b) * b * c),
    ("Grad_WithSavedForward(Exp(a*b),a,c,b)", [3, 3, 3],
     lambda a, b, c: np.exp(a * b) * b * c),
    ("Grad(Grad(Exp(a*b),a,c),b,c)", [3, 3, 3],
     lambda a, b, c: np.exp(a * b) * (1 + a * b) * c * c),
    ("Grad(b*2,a,b)", [3, 1], lambda a, b: 0 * a * b),
    ("Diff(Exp(a*b),a,c)", [3, 3, 3], lambda a, b, c: np.exp(a * b) * b * c),
    ("Diff(Exp(a*b),a,c)", [1, 3, 1], lambda a, b, c: np.exp(a * b) * b * c),
    ("GradMatrix(a*b,a)", [3, 3],
     lambda a, b: _diagonal(a * 0 + b)),
    ("GradMatrix(Exp(a)*b,a)", [1, 3], lambda a, b: np.exp(a) * b),
    ("GradMatrix(SqNorm2(a)*b,a)", [3, 1], lambda a, b: 2 * a * b),
    ("Divergence(a*a*b,a)", [3, 3], lambda a, b: _sum(2 * a * b)),
    ("Divergence(a*a*b,a)", [1, 1], lambda a, b: 2 * a * b),
    ("Laplacian(SqNorm2(a)*b,a)", [3, 1], lambda a, b: 6 * b + 0 * _sum(a)),
    ("Laplacian(Exp(a*b),a)", [1, 1], lambda a, b: np.exp(a * b) * b * b),
    ("TraceOperator(a*b,a)", [3, 3], lambda a, b: _sum(b) + 0 * _sum(a)),
    ("TraceOperator(a*b,a,c)", [3, 3, 1],
     lambda a, b, c: _sum(b) * c + 0 * _sum(a)),
    ("SumLinOperator(a*b,a)", [3, 3], lambda a, b: _sum(b) + 0 * _sum(a)),
    ("AdjointOperator(a*b,a,c)", [3, 3, 3], lambda a, b, c: b * c + 0 * a),
]  # fmt: skip


def _diagonal(value):
    made = value[..., :, None] * np.eye(value.shape[-1])
    return made.reshape(*made.shape[:-2], -1)


def _c(value):
    return value[..., 0::2] + 1j * value[..., 1::2]


def _r(value):
    return np.stack([value.real, value.imag], -1).reshape(*value.shape[:-1], -1)


COMPLEX = [
    ("ComplexReal(a)", [6], lambda a: _c(a).real),
    ("ComplexImag(a)", [6], lambda a: _c(a).imag),
    ("ComplexAbs(a)", [6], lambda a: np.abs(_c(a))),
    ("ComplexAbs(a)", [2], lambda a: np.abs(_c(a))),
    ("ComplexSquareAbs(a)", [6], lambda a: np.abs(_c(a)) ** 2),
    ("ComplexAngle(a)", [6], lambda a: np.angle(_c(a))),
    ("Conj(a)", [6], lambda a: _r(_c(a).conj())),
    ("ComplexExp(a)", [6], lambda a: _r(np.exp(_c(a)))),
    ("ComplexExp1j(a)", [3], lambda a: _r(np.exp(1j * a))),
    ("ComplexSum(a)", [6], lambda a: _r(_sum(_c(a)))),
    ("ComplexSumT(a,3)", [2], lambda a: _r(_c(a) * np.ones(3))),
    ("Real2Complex(a)", [3], lambda a: _r(a + 0j)),
    ("Imag2Complex(a)", [3], lambda a: _r(1j * a)),
    ("ComplexAdd(a,b)", [6, 2], lambda a, b: _r(_c(a) + _c(b))),
    ("ComplexSubtract(a,b)", [6, 6], lambda a, b: _r(_c(a) - _c(b))),
    ("ComplexMult(a,b)", [6, 2], lambda a, b: _r(_c(a) * _c(b))),
    ("ComplexDivide(a,b)", [6, 6], lambda a, b: _r(_c(a) / _c(b))),
    ("ComplexDivide(a,b)", [2, 6], lambda a, b: _r(_c(a) / _c(b))),
    ("ComplexRealScal(a,b)", [1, 6], lambda a, b: _r(a * _c(b))),
    ("ComplexRealScal(a,b)", [6, 3], lambda a, b: _r(_c(a) * b)),
    ("ComplexMult(a,ComplexExp(ComplexMult(b,a)))", [2, 6],
     lambda a, b: _r(_c(a) * np.exp(_c(b) * _c(a)))),
    ("ComplexDivide(a*ComplexReal(b) - Real2Complex(Sum(b*c)), "
     "ComplexMult(a - c, a - Conj(c)))",
     [2, 2, 2],
     lambda a, b, c: _r((_c(a) * b[..., :1] - _sum(b * c))
                        / ((_c(a) - _c(c)) * (_c(a) - _c(c).conj())))),
    ("ComplexMult(ComplexExp1j(-a|b),c)", [3, 3, 6],
     lambda a, b, c: _r(np.exp(-1j * _sum(a * b)) * _c(c))),
    ("Exp(ComplexMult(a,b))", [2, 2], lambda a, b: np.exp(_r(_c(a) * _c(b)))),
    ("ComplexExp(Exp(a)*b)", [4, 1],
     lambda a, b: _r(np.exp(_c(np.exp(a) * b)))),
]  # fmt: skip

ROWS = POINTWISE + VECTORS + DERIVATIVES + COMPLEX
SPLINES = ("BSpline(a,b,2)", [6, 1], _each(_splines))
