# python_bindings/tilefold/compat/pykeops/genred_functions.py - generic_sum ….
"""`functions_of`: KeOps's short forms of a reduction, for one library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tilefold.compat.pykeops.genred import GenericGenred, split_output
from tilefold.compat.pykeops.operations import fail

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["functions_of"]


def functions_of(
    made: type[GenericGenred],
) -> tuple[Callable[..., Any], ...]:
    """generic_sum, generic_logsumexp, generic_argmin and generic_argkmin."""

    def of(reduction: str) -> Callable[..., Any]:
        def generic(
            formula: str, output: str, *aliases: str, **options: Any
        ) -> GenericGenred:
            names, axis, dim = split_output(output, aliases)
            options.setdefault("axis", axis)
            if reduction == "ArgKMin":
                options["opt_arg"] = dim
            built = made(formula, names, reduction_op=reduction, **options)
            found = built._bound.plan.dim
            if reduction != "ArgKMin" and found != dim:
                fail(f"{formula!r} has dimension {found}, not {dim}: {output}")
            return built

        generic.__name__ = f"generic_{reduction.lower()}"
        generic.__doc__ = (
            f"{reduction} of a formula: "
            f"`generic_{reduction.lower()}(formula, output, *aliases)`.\n\n"
            'The output, such as "a = Vi(1)", says which axis is kept.'
        )
        return generic

    return tuple(map(of, ("Sum", "LogSumExp", "ArgMin", "ArgKMin")))
