# python_bindings/tilefold/jax/function_tables.py - what JAX's primitives are in
# a formula.
"""The tables of `function_reader.py`: primitives of JAX by their names.

A row says which function of `tilefold.functions` a primitive is. Whatever has
no row is refused by its name.
"""

from __future__ import annotations

__all__ = [
    "ARITHMETIC",
    "CALLS",
    "CURES",
    "FOLDS",
    "IDENTITIES",
    "MOVES",
    "OF_JAX",
    "OF_TRUTHS",
    "POINTWISE",
]

#: Those of single components.
POINTWISE = {
    **{
        name: name
        for name in (
            "exp", "exp2", "log", "log1p", "expm1", "sqrt", "rsqrt", "cbrt",
            "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh",
            "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "lgamma",
            "digamma", "abs", "sign", "floor", "ceil", "square", "neg", "add",
            "sub", "mul", "div", "pow", "eq", "ne", "lt", "le", "gt", "ge",
            "real", "imag", "conj",
        )
    },
    "logistic": "sigmoid",
    "erf_inv": "erfinv",
    "is_finite": "isfinite",
    "max": "maximum",
    "min": "minimum",
    "rem": "fmod",
    "add_any": "add",
}  # fmt: skip
#: Those of truth values, which are operations on bits of whole numbers.
OF_TRUTHS = {
    "and": "logical_and",
    "or": "logical_or",
    "xor": "logical_xor",
    "not": "logical_not",
}
#: Those that combine components along axes.
FOLDS = {
    "reduce_sum": "sum",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_prod": "prod",
    "reduce_and": "all",
    "reduce_or": "any",
    "argmax": "argmax",
    "argmin": "argmin",
}
#: Those that put components into other places, and the operands whose
#: components they are; all of them, unless given. The others are places.
MOVES: dict[str, tuple[int, ...] | None] = {
    "broadcast_in_dim": (0,),
    "concatenate": None,
    "dynamic_slice": (0,),
    "dynamic_update_slice": (0, 1),
    "expand_dims": (0,),
    "gather": (0,),
    "pad": None,
    "reshape": (0,),
    "rev": (0,),
    "scatter": (0, 2),
    "slice": (0,),
    "split": (0,),
    "squeeze": (0,),
    "stack": None,
    "tile": (0,),
    "transpose": (0,),
    "unstack": (0,),
}
#: Those that hand their operands through.
IDENTITIES = frozenset(
    ("copy", "copy_p", "device_put", "name", "optimization_barrier", "pvary")
)
#: Those that call another program, and the parameter that holds it.
CALLS = {
    "checkpoint": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "remat": "jaxpr",
    "remat2": "jaxpr",
}
#: Functions of JAX's own that are programs, where the language has better: of
#: these it knows all derivatives.
OF_JAX = {
    "_i0": "i0",
    "floor_divide": "floor_divide",
    "hypot": "hypot",
    "i0": "i0",
    "logaddexp": "logaddexp",
    "ndtr": "ndtr",
    "relu": "relu",
    "remainder": "mod",
    "sinc": "sinc",
    "xlogy": "xlogy",
}
#: Those that leave the range of narrow and of unsigned whole numbers, where JAX
#: begins again at its other end.
ARITHMETIC = frozenset(
    (
        *("abs", "add", "dot_general", "integer_pow", "mul", "neg", "pow"),
        *("reduce_prod", "reduce_sum", "square", "sub"),
    )
)
_NOT_SCALED = "jax.numpy.i0 is read, and a formula has i0 and i1"
_NO_LOOP = "write a loop of Python's over components, which is unrolled"
#: What to write in the place of what is refused.
CURES = {
    "bessel_i0e": _NOT_SCALED,
    "bessel_i1e": _NOT_SCALED,
    "bitcast_convert_type": "write it without the bits of numbers",
    "cond": "write jax.numpy.where, which chooses at each pair",
    "scan": _NO_LOOP,
    "while": _NO_LOOP,
    "random_bits": "write rand(seed, i, j) in the text of a formula",
    "reduce_precision": "pass arrays of that type",
    "sort": "take the max, the min or single components",
}
