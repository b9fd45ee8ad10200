# python_bindings/tilefold/torch/solves.py - linear systems, recorded.
"""Solutions of systems with kernels and their determinants, as nodes."""

from __future__ import annotations

from typing import Any

import torch

from tilefold import _core
from tilefold.kernel import Kernel
from tilefold.pair_term import PairTerm
from tilefold.solve import log_determinant
from tilefold.solve import solve as solve_without_record
from tilefold.torch.elements import gradients_of
from tilefold.torch.evaluate import is_watched
from tilefold.torch.records import (
    Record,
    needed,
    plain,
    save,
    saved,
)


def solve(
    kernel: Any, side: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, Any, str]:
    """What `tilefold.solve.solve` gives, recorded."""
    record, values = _watched_record(kernel)
    system = _System(record, kernel._transposed, options)
    x = _Solve.apply(  # type: ignore[no-untyped-call]
        system, side, ridge, *values
    )
    return x, system.info, system.warning


def inv_quad_logdet(
    kernel: Any,
    side: Any,
    ridge: Any,
    solving: dict[str, Any],
    options: dict[str, Any] | None,
) -> tuple[Any, Any, Any, str]:
    """What `tilefold.solve.inv_quad_logdet` gives, recorded."""
    dtype = kernel.real.dtype
    if not dtype.is_floating_point or dtype.itemsize < 4:
        dtype = torch.float64
    value, info, warning = torch.zeros((), dtype=dtype), None, ""
    columns = torch.zeros((), dtype=dtype)
    if options is not None:
        value, info, warning = _log_determinant(kernel, ridge, options)
    if side is not None:
        x, _, told = solve(kernel, side, ridge, solving)
        columns = (torch.as_tensor(side).conj() * x).sum(0).real
        warning = warning or told
    return columns, value.to(dtype), info, warning


def _log_determinant(
    kernel: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, Any, str]:
    """The value, how it went, and what to warn of."""
    record, values = _watched_record(kernel)
    system = _System(record, kernel._transposed, options)
    value = _LogDeterminant.apply(  # type: ignore[no-untyped-call]
        system, ridge, *values
    )
    return value, system.info, system.warning


def _watched_record(kernel: Any) -> tuple[Record, list[Any]]:
    """The record of a kernel and its values, which no transform may have."""
    pair = kernel._pair
    record, values = Record.of(pair.formula, pair.arguments, pair.settings)
    if is_watched(values):
        _core.fail("Tracer", record.names[0], "one of a transform or a trace")
    return record, values


class _System:
    """What a solve was, beside its values."""

    def __init__(
        self, record: Record, transposed: bool, options: dict[str, Any]
    ) -> None:
        self.record = record
        self.transposed = transposed
        self.options = options
        self.info: Any = None
        self.warning = ""

    def kernel(self, values: Any) -> Any:
        """The kernel of the values."""
        record = self.record
        pair = PairTerm(
            record.formula, record.arguments(values), record.settings
        )
        return Kernel(pair, self.transposed)


class _Solve(torch.autograd.Function):
    """A linear system as a node of PyTorch's graph.

    Of x = A⁻¹ b, the gradient by b is A⁻¹ g, for A is Hermitian, and that by
    A is -(A⁻¹ g) xᴴ, of which kernels only take the product with dA.
    """

    @staticmethod
    def forward(
        ctx: Any, system: _System, side: Any, ridge: Any, *values: Any
    ) -> Any:
        """The solution; it is saved beside the arguments."""
        x, system.info, system.warning = solve_without_record(
            system.kernel(values), side, ridge, system.options
        )
        x = torch.as_tensor(x)  # where the ridge is all that is a tensor
        ctx.system = system
        ctx.real_side = not torch.is_complex(torch.as_tensor(side))
        save(ctx, [x, ridge, *values])
        return x

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        """The gradients by b, the ridge and the kernel's arguments."""
        system = ctx.system
        x, ridge, *values = saved(ctx)
        kernel = system.kernel(values)
        adjoint = kernel.solve(plain(cotangent), ridge, **system.options)
        _, by_side, by_ridge, *by_values = ctx.needs_input_grad
        names = system.record.names
        wanted = needed(names, by_values)
        found = _by_arguments(kernel, wanted, -adjoint, x) if wanted else {}
        return (
            None,
            _as_real(adjoint, ctx.real_side) if by_side else None,
            -(adjoint.conj() * x).sum().real if by_ridge else None,
            *(found.get(name) for name in names),
        )


class _LogDeterminant(torch.autograd.Function):
    """log det(K + ridge) as a node of PyTorch's graph.

    Its gradient by A is A⁻¹. Of a matrix that was factored, that is the
    cotangent of all its values; else tr(A⁻¹ dA) is the mean of (A⁻¹ z)ᴴ dA z
    for vectors z of random signs.
    """

    @staticmethod
    def forward(ctx: Any, system: _System, ridge: Any, *values: Any) -> Any:
        """The value; the arguments are saved."""
        value, _, system.info, system.warning = log_determinant(
            system.kernel(values), None, ridge, system.options
        )
        ctx.system = system
        save(ctx, [ridge, *values])
        return torch.tensor(value, dtype=torch.float64)

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        """The gradients by the ridge and the kernel's arguments."""
        system = ctx.system
        ridge, *values = saved(ctx)
        kernel = system.kernel(values)
        _, by_ridge, *by_values = ctx.needs_input_grad
        names = system.record.names
        wanted = needed(names, by_values)
        if system.info.exact:
            found, trace = _by_inverse(kernel, ridge, wanted, cotangent)
        else:
            found, trace = _by_probes(system, kernel, ridge, wanted, cotangent)
        return (
            None,
            cotangent * trace if by_ridge else None,
            *(found.get(name) for name in names),
        )


def _as_real(gradient: Any, real: bool) -> Any:
    """Of a real tensor, of which a complex kernel made a complex one."""
    return gradient.real if real and gradient.is_complex() else gradient


def _by_inverse(
    kernel: Any, ridge: Any, wanted: list[str], cotangent: Any
) -> tuple[dict[str, Any], Any]:
    """The gradients by arguments, and the trace of A⁻¹."""
    pair = kernel._upright()
    dense = Kernel(pair).dense()
    wide = dense.to(torch.promote_types(dense.dtype, torch.float64))
    identity = torch.eye(len(wide), dtype=wide.dtype)
    inverse = torch.linalg.inv(wide + ridge * identity)
    # tr(A⁻¹ dA) = Σ_ij conj(A⁻¹)_ij dA_ij, which is real.
    weights = (cotangent * inverse.mH).conj().mT
    if not pair.is_complex:
        found = gradients_of(pair, wanted, weights.to(dense.dtype))
        return found, inverse.diagonal().sum()
    parts = [
        gradients_of(part, wanted, weight.to(dense.real.dtype))
        for part, weight in zip(
            pair.parts(), (weights.real, weights.imag), strict=True
        )
    ]
    found = {name: parts[0][name] + parts[1][name] for name in wanted}
    return found, inverse.diagonal().sum().real


def _by_probes(
    system: _System, kernel: Any, ridge: Any, wanted: list[str], cotangent: Any
) -> tuple[dict[str, Any], Any]:
    """Estimates of the same, by vectors of signs."""
    count, seed = (system.options[name] for name in ("probes", "seed"))
    generator = torch.Generator().manual_seed(seed)
    signs = torch.randint(0, 2, (len(kernel), count), generator=generator)
    probes = (2 * signs - 1).to(kernel.real.dtype)
    solved = kernel.solve(
        probes,
        ridge,
        rtol=1e-5,
        preconditioner=system.options["preconditioner"],
    )
    found = {}
    if wanted:
        rows = cotangent * solved / count
        found = _by_arguments(kernel, wanted, rows.to(solved.dtype), probes)
    return found, (solved.conj() * probes).sum().real / count


def _by_arguments(
    kernel: Any, wanted: list[str], rows: Any, columns: Any
) -> dict[str, Any]:
    """The gradients of rows · (K columns) by arguments of K."""
    pair = kernel._pair
    name = pair.formula._unused_name()
    formula = pair.around("sum", kernel._columns, weights=name)
    record, values = Record.of(
        formula, {**pair.arguments, name: columns}, pair.settings
    )
    return record.gradients(values, wanted, [rows])
