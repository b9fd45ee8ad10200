# python_bindings/tilefold/compat/keopscore/formulas/maths.py - operations.
"""KeOps's operations of formulas, and how its tests call each of them.

A class says how many arguments of which dimension (`nargs`, `test_argdims`),
which further numbers (`test_params`) and which values (`test_ranges`) a test
gives; it computes nothing. `tilefold.compat.pykeops.operations` does.
"""

from __future__ import annotations

from typing import Any, ClassVar


class Operation:
    """What the tests of an operation read."""

    enable_test: ClassVar[bool] = True
    disable_testgrad: ClassVar[bool] = False
    no_torch_grad: ClassVar[bool] = False
    test_params: ClassVar[tuple[int, ...]] = ()

    @staticmethod
    def torch_op() -> None:
        """KeOps's comparison with PyTorch: none, tilefold's tests compare."""


_UNIT = (-1, 1)
_POSITIVE = (0, 2)
# Of each operation, the attributes that are not the default.
_TESTED: dict[str, dict[str, Any]] = {
    "Abs": {"nargs": 1},
    "Acos": {"test_ranges": [_UNIT]},
    "Add": {"nargs": 2},
    "ArgMax": {"test_argdims": [5], "no_torch_grad": True},
    "ArgMin": {"test_argdims": [5], "no_torch_grad": True},
    "Asin": {"test_ranges": [_UNIT]},
    "Atan": {"nargs": 1},
    "Atan2": {"nargs": 2},
    "BSpline": {
        "test_argdims": [5, 1],
        "test_params": (3,),
        "disable_testgrad": True,
    },
    "Clamp": {"nargs": 3},
    "ClampInt": {"nargs": 1, "test_params": (0, 1)},
    "Concat": {"test_argdims": [5, 3]},
    "Cos": {"nargs": 1},
    "Divide": {"nargs": 2},
    "Elem": {"test_argdims": [5], "test_params": (3,)},
    "ElemT": {"test_argdims": [1], "test_params": (5, 3)},
    "Equal": {"nargs": 2},
    "Exp": {"nargs": 1},
    "Extract": {"test_argdims": [10], "test_params": (3, 5)},
    "ExtractT": {"test_argdims": [5], "test_params": (3, 10)},
    "Floor": {"nargs": 1},
    "IfElse": {"nargs": 3},
    "Inv": {"nargs": 1},
    "LessOrEqual": {"nargs": 2},
    "LessThan": {"nargs": 2},
    "Log": {"test_ranges": [_POSITIVE]},
    "MatVecMult": {"test_argdims": [6, 2]},
    "Max": {"test_argdims": [5]},
    "Min": {"test_argdims": [5]},
    "Minus": {"nargs": 1},
    "Mod": {"nargs": 3},
    "Mult": {"nargs": 2},
    "NotEqual": {"nargs": 2, "no_torch_grad": True},
    "Pow": {"test_ranges": [_POSITIVE], "test_params": (2,)},
    "Powf": {"test_ranges": [_POSITIVE, _UNIT]},
    "ReLU": {"nargs": 1},
    "Round": {"nargs": 1, "test_params": (3,)},
    "Rsqrt": {"test_ranges": [(0.5, 2)]},
    "Sign": {"nargs": 1},
    "Sin": {"nargs": 1},
    "SinXDivX": {"nargs": 1},
    "Sqrt": {"test_ranges": [_POSITIVE]},
    "Square": {"nargs": 1},
    "Step": {"nargs": 1},
    "Subtract": {"nargs": 2},
    "XLogX": {"test_ranges": [_POSITIVE]},
}
# Those that KeOps's tests only name.
_NAMED = """
    DiffClampInt GradMatrix IntInv Kron Norm2 Normalize OneHot Scalprod
    SoftDTW_SqDist SqDist SqNorm2 SqNormDiag SqNormIso Sum SumT SymSqNorm
    TensorDot TensorProd VecMatMult WeightedSqDist WeightedSqNorm
"""


def _operation(name: str, attributes: dict[str, Any]) -> type[Operation]:
    return type(name, (Operation,), {"__module__": __name__, **attributes})


_CLASSES = {name: _operation(name, row) for name, row in _TESTED.items()}
_CLASSES |= {
    name: _operation(name, {"enable_test": False}) for name in _NAMED.split()
}
globals().update(_CLASSES)

__all__ = sorted(_CLASSES)
