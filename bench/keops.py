# bench/keops.py - the Gaussian sum as pykeops writes it.
"""One spelling of the formula for every task that times pykeops."""

from __future__ import annotations

from typing import Any

FORMULA = "Exp(-SqDist(x,y)*g)*b"


def gaussian(dimension: int) -> Any:
    """Genred of x (N, D), y (M, D), b (M, 1) and g = 1/2l² (1,)."""
    import pykeops
    from pykeops.numpy import Genred

    pykeops.set_verbose(False)
    aliases = [f"x = Vi({dimension})", f"y = Vj({dimension})"]
    aliases += ["b = Vj(1)", "g = Pm(1)"]
    return Genred(FORMULA, aliases, reduction_op="Sum", axis=1)
