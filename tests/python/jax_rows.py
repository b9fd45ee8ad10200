# tests/python/jax_rows.py - a formula for each row of the language's tables,
# and the same in jax.numpy.
"""`ROWS`: by the name of a row of ops.def or reductions.def.

Derivatives are held against those that JAX finds of `dense`; rows for which
jax.numpy has no function have none, and are held against differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jax_cases import squares, uniform
from meanings import OPERATIONS
from random_formulas import spelled
from tilefold import _core
from tilefold.jax.tiled_operations import FUNCTIONS, REFUSED

N, M = 3, 4
X, Y = uniform(N, 3), uniform(M, 3)
B, C, V = uniform(M) + 0.2, uniform(N) + 0.2, uniform(M, 2)

VALUES: dict[str, Callable[..., Any]] = {
    "any": lambda *n: 2 * uniform(*n) - 1,
    "small": lambda *n: 2 * uniform(*n) - 1,
    "positive": lambda *n: uniform(*n) + 0.2,
    "nonzero": lambda *n: uniform(*n) + 0.5,
    "unit": lambda *n: 1.6 * uniform(*n) - 0.8,
    "beyond": lambda *n: uniform(*n) + 1.1,
    "few": lambda *n: uniform(*n) + 0.2,
    "tangible": lambda *n: 2 * uniform(*n) - 1,
}
WRITTEN = {"order": "2", "degree": "1.5"}


class Row(NamedTuple):
    """A formula; `dense` computes it of the values, in their order."""

    text: str
    arguments: dict[str, Any]
    dense: Callable[..., Any] | None


def operand(kind: str, k: int) -> tuple[str, dict[str, Any], Any]:
    """Its spelling, its argument, and what takes it to (N, M, …)."""
    name, on = f"a{k}", "ij"[k % 2]
    kind = kind.removeprefix("scalar ")
    if kind in WRITTEN:
        return WRITTEN[kind], {}, jnp.full((1, 1), float(WRITTEN[kind]))
    if kind == "matrix":
        return name, {name: uniform(3, 3)}, lambda v: v[None, None]
    count = N if on == "i" else M
    shape = (count, 3) if kind.startswith("vector") else (count,)
    kind = "any" if kind.startswith("vector") or kind == "scalar" else kind
    truth = kind == "truth"
    values = VALUES["any" if truth else kind](*shape)

    def place(v: Any) -> Any:
        found = v[:, None] if on == "i" else v[None]
        return found > 0 if truth else found

    text = f"{name}_{on}"
    return f"({text} > 0)" if truth else text, {name: values}, place


def row_of(name: str, spelling: str) -> Row:
    """Of a row of ops.def."""
    found = [
        operand(kind, k) for k, kind in enumerate(OPERATIONS[name].operands)
    ]
    arguments = {n: v for _, given, _ in found for n, v in given.items()}
    text = spelled(spelling, [text for text, _, _ in found])
    function: Any = FUNCTIONS.get(name.lower())

    def dense(*values: Any) -> Any:
        *values, weights = values
        left = iter(values)
        given = [
            place(next(left)) if callable(place) else place
            for _, _, place in found
        ]
        value = function(*given)
        rows = N if "_i" in text else 1
        value = jnp.broadcast_to(value, (rows, M, *value.shape[2:])) * 1.0
        found_sum = jnp.einsum("ij...,j->i...", value, weights)
        return found_sum if rows > 1 else found_sum[0]

    return Row(
        f"sum_j c_j*({text})",
        {**arguments, "c": B},
        None if name.lower() in REFUSED | {"polygamma"} else dense,
    )


NUMBERS = {"n": np.array([0, 3, 1]), "k": np.array([1, 0, 2, 2])}
TABLE = uniform(4, 3)
OTHERS = {
    "Gather": Row(
        "sum_j T[n_i]*c_j",
        {"T": TABLE[:, 0], "c": B},
        lambda t, c: t[NUMBERS["n"]] * c.sum(),
    ),
    "GatherRow": Row(
        "sum_j T[n_i]*c_j",
        {"T": TABLE, "c": B},
        lambda t, c: t[NUMBERS["n"]] * c.sum(),
    ),
    "GatherElement": Row(
        "sum_j T[n_i, k_j]*c_j",
        {"T": TABLE, "c": B},
        lambda t, c: t[NUMBERS["n"]][:, NUMBERS["k"]] @ c,
    ),
}

OPS = {row["name"]: row["spelling"] for row in _core._tables()["operations"]}

REDUCTIONS = {
    "Sum": ("sum_j |x_i - y_j|", lambda x, y: norm(x, y).sum(1)),
    "Mean": ("mean_j |x_i - y_j|", lambda x, y: norm(x, y).mean(1)),
    "Prod": ("prod_j |x_i - y_j|", lambda x, y: norm(x, y).prod(1)),
    "Max": ("max_j |x_i - y_j|", lambda x, y: norm(x, y).max(1)),
    "Min": ("min_j |x_i - y_j|", lambda x, y: norm(x, y).min(1)),
    "ArgMax": (
        "sum_i (argmax_j(|x_i - y_j|))*x_i",
        lambda x, y: jnp.argmax(norm(x, y), 1) @ x,
    ),
    "ArgMin": (
        "sum_i (argmin_j(|x_i - y_j|))*x_i",
        lambda x, y: jnp.argmin(norm(x, y), 1) @ x,
    ),
    "LogSumExp": (
        "logsumexp_j(|x_i - y_j|, |y_j|)",
        lambda x, y: jnp.log(jnp.exp(norm(x, y)) @ jnp.sqrt((y * y).sum(1))),
    ),
    "SoftMax": (
        "softmax_j(|x_i - y_j|, y_j)",
        lambda x, y: jax.nn.softmax(norm(x, y), 1) @ y,
    ),
    "KMin": (
        "kmin_j(|x_i - y_j|, 2)",
        lambda x, y: jnp.sort(norm(x, y), 1)[:, :2],
    ),
    "ArgKMin": (
        "sum_i (argkmin_j(|x_i - y_j|, 2))*x_i[0]",
        lambda x, y: x[:, 0] @ jnp.argsort(norm(x, y), 1)[:, :2],
    ),
    "Any": (
        "sum_i (any_j (x_i[0] < y_j[0]))*x_i",
        lambda x, y: (x[:, :1] < y[:, 0]).any(1) @ x,
    ),
    "All": (
        "sum_i (all_j (x_i[0] < y_j[0]))*x_i",
        lambda x, y: (x[:, :1] < y[:, 0]).all(1) @ x,
    ),
    "Count": (
        "sum_i (count_j (x_i[0] < y_j[0]))*x_i",
        lambda x, y: (x[:, :1] < y[:, 0]).sum(1) @ x,
    ),
}


def norm(x: Any, y: Any) -> Any:
    return jnp.sqrt(squares(x, y))


ROWS = {
    **{
        name: row_of(name, spelling)
        for name, spelling in OPS.items()
        if name in OPERATIONS
    },
    **OTHERS,
    **{
        name: Row(text, {"x": X, "y": Y}, dense)
        for name, (text, dense) in REDUCTIONS.items()
    },
}
