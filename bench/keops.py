# bench/keops.py - the Gaussian sum and other reductions in pykeops.
"""One spelling of the formula for every task that times pykeops."""

from __future__ import annotations

from typing import Any

FORMULA = "Exp(-SqDist(x,y)*g)*b"


def quietly() -> None:
    """Imports pykeops and tells it to print nothing."""
    import pykeops

    pykeops.set_verbose(False)


def gaussian(dimension: int, columns: int = 1) -> Any:
    """Genred of x (N, D), y (M, D), b (M, columns) and g = 1/2l² (1,)."""
    quietly()
    from pykeops.numpy import Genred

    aliases = [f"x = Vi({dimension})", f"y = Vj({dimension})"]
    aliases += [f"b = Vj({columns})", "g = Pm(1)"]
    return Genred(FORMULA, aliases, reduction_op="Sum", axis=1)


def over_j(operation: str, formula: str, dimension: int, **options: Any) -> Any:
    """Genred of x (N, D) and y (M, D), another reduction over j."""
    quietly()
    from pykeops.numpy import Genred

    aliases = [f"x = Vi({dimension})", f"y = Vj({dimension})"]
    return Genred(formula, aliases, reduction_op=operation, axis=1, **options)
