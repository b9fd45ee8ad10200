# python_bindings/tilefold/torch.py - gradients recorded by PyTorch.
"""Formulas of tensors that require grad.

Nothing has to be called: `tilefold.reduce`, formulas and kernels come here by
themselves when a tensor requires grad and PyTorch records. What is saved for
the backward pass are the arguments. Backward evaluates `Formula.grad`, a
formula like any other, so that it is recorded in its turn: any order is
exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tilefold.frameworks import requires_grad
from tilefold.kernel import Kernel
from tilefold.pair_term import PairTerm
from tilefold.roles import Role, bare
from tilefold.solve import log_determinant
from tilefold.solve import solve as solve_without_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

__all__: list[str] = []


def holds(values: Iterable[Any]) -> bool:
    """Whether some of the values are tensors."""
    return any(isinstance(bare(value), torch.Tensor) for value in values)


def records(values: Iterable[Any]) -> bool:
    """Whether PyTorch records what is computed of the values."""
    return torch.is_grad_enabled() and any(map(requires_grad, values))


def unrecorded() -> AbstractContextManager[Any]:
    """Where PyTorch records nothing."""
    return torch.no_grad()


def dtype(name: str) -> Any:
    """PyTorch's element type of a name, such as "float32"."""
    return getattr(torch, name)


def real_numbers(values: Any, dtype: Any) -> Any:
    """A tensor of numbers: of float32 where `dtype` is, else of float64."""
    real = {torch.complex64: torch.float32, torch.float32: torch.float32}
    return torch.as_tensor(values, dtype=real.get(dtype, torch.float64))


def call(formula: Any, /, *positional: Any, **keywords: Any) -> Any:
    """`formula(*positional, **keywords)`, recorded."""
    settings: dict[str, Any] = {
        name: keywords.pop(name)
        for name in ("session", "options", "ranges")
        if name in keywords
    }
    sum_batch = keywords.pop("sum_batch", None)
    arguments = {**(positional[0] if positional else {}), **keywords}
    result = _evaluate(formula, arguments, settings)
    if sum_batch is None or sum_batch == ():
        return result
    with torch.no_grad():
        formula._check_call(arguments, {**settings, "sum_batch": sum_batch})
    return result.sum(dim=sum_batch)


def solve(
    kernel: Any, side: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, Any, str]:
    """What `tilefold.solve.solve` gives, recorded."""
    pair = kernel._pair
    record, values = _record(pair.formula, pair.arguments, pair.settings)
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
    pair = kernel._pair
    record, values = _record(pair.formula, pair.arguments, pair.settings)
    system = _System(record, kernel._transposed, options)
    value = _LogDeterminant.apply(  # type: ignore[no-untyped-call]
        system, ridge, *values
    )
    return value, system.info, system.warning


def elements(pair: PairTerm, query: str, i: Any, j: Any) -> Any:
    """What `PairTerm.evaluate` gives, recorded."""
    if pair.is_complex:
        real, imaginary = (elements(part, query, i, j) for part in pair.parts())
        return torch.complex(real, imaginary)
    chosen = pair.selected(1, i).selected(2, j)
    if query == "pairs":
        return chosen.diagonal()
    record, values = _record(chosen.formula, chosen.arguments, chosen.settings)
    return _Dense.apply(record, *values)  # type: ignore[no-untyped-call]


def _evaluate(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> Any:
    record, values = _record(formula, arguments, settings)
    return _Evaluate.apply(record, *values)  # type: ignore[no-untyped-call]


class _Record:
    """What a call was, beside its values."""

    def __init__(
        self,
        formula: Any,
        names: list[str],
        roles: list[int | None],
        settings: dict[str, Any],
    ) -> None:
        self.formula = formula
        self.names = names
        self.roles = roles
        self.settings = settings

    def arguments(self, values: Any) -> dict[str, Any]:
        """The arguments of the call, by name."""
        return {
            name: value if axes is None else Role(value, axes)
            for name, axes, value in zip(
                self.names, self.roles, values, strict=True
            )
        }

    def seed(self) -> str:
        """A name for the cotangent that the formula does not have."""
        taken = {name for name, _ in self.formula.names}
        level = 1
        while any(name.startswith(f"grad{level}") for name in taken):
            level += 1
        return f"grad{level}"


def _record(
    formula: Any, arguments: dict[str, Any], settings: dict[str, Any]
) -> tuple[_Record, list[Any]]:
    """What a call is, and its values without the roles of some."""
    given = arguments.values()
    roles = [value.axes if isinstance(value, Role) else None for value in given]
    record = _Record(formula, list(arguments), roles, settings)
    return record, [bare(value) for value in given]


def _needed(names: Iterable[str], needs: Iterable[bool]) -> list[str]:
    """The arguments whose gradients are asked for."""
    return [name for name, need in zip(names, needs, strict=True) if need]


def _save(ctx: Any, values: Iterable[Any]) -> None:
    """Keeps what the backward pass reads; only tensors may be saved."""
    values = list(values)
    ctx.is_tensor = [isinstance(value, torch.Tensor) for value in values]
    ctx.others = [
        None if isinstance(value, torch.Tensor) else value for value in values
    ]
    ctx.save_for_backward(
        *(value for value in values if isinstance(value, torch.Tensor))
    )


def _saved(ctx: Any) -> list[Any]:
    """What `_save` was given; tensors with their place in the graph."""
    saved = iter(ctx.saved_tensors)
    return [
        next(saved) if is_tensor else other
        for is_tensor, other in zip(ctx.is_tensor, ctx.others, strict=True)
    ]


class _Evaluate(torch.autograd.Function):
    """A formula as a node of PyTorch's graph."""

    @staticmethod
    def forward(ctx: Any, record: _Record, *values: Any) -> Any:
        """The results; tensors are saved, other values kept."""
        ctx.record = record
        _save(ctx, values)
        results = record.formula(record.arguments(values), **record.settings)
        for result in results if isinstance(results, tuple) else (results,):
            if not (result.is_floating_point() or result.is_complex()):
                ctx.mark_non_differentiable(result)
        return results

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        """The gradients by the tensors that require them."""
        record = ctx.record
        values = _saved(ctx)
        needed = _needed(record.names, ctx.needs_input_grad[1:])
        seed = record.seed()
        arguments = record.arguments(values)
        for name, cotangent in zip(
            _seed_names(record, seed, len(cotangents)), cotangents, strict=True
        ):
            arguments[name] = _plain(cotangent).contiguous()
        formula = record.formula.grad(needed, cotangent=seed)
        gradients = formula(arguments, **record.settings)
        found = _by_name(needed, gradients)
        return None, *_gradients(record, found, values)


def _gradients(
    record: _Record, found: dict[str, Any], values: Iterable[Any]
) -> Iterator[Any]:
    """Those of all arguments, None where none was asked for."""
    for name, value in zip(record.names, values, strict=True):
        gradient = found.get(name)
        # On the tensor's device: it may be a parameter of the CPU.
        yield gradient if gradient is None else gradient.to(value.device)


def _plain(value: Any) -> Any:
    """Without the lazy signs that views may have."""
    return value.resolve_conj().resolve_neg()


class _Dense(torch.autograd.Function):
    """All values of a pair term as a node of PyTorch's graph.

    Of f(x_i, y_j), with the cotangents G, the gradients are those of
    Σ_ij f(x_i, y_j)·G[i, j], a formula with G as a table.
    """

    @staticmethod
    def forward(ctx: Any, record: _Record, *values: Any) -> Any:
        """The values, of shape (…, N, M) or (…, N, M, E)."""
        ctx.record = record
        _save(ctx, values)
        result = record.formula._evaluate(
            record.arguments(values), "dense", None, None, record.settings
        )
        if not result.is_floating_point():
            ctx.mark_non_differentiable(result)
        return result

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        """The gradients by the tensors that require them."""
        record = ctx.record
        values = _saved(ctx)
        arguments = record.arguments(values)
        needed = _needed(record.names, ctx.needs_input_grad[1:])
        pair = PairTerm(record.formula, arguments, record.settings)
        found = _of_values(pair, needed, cotangent)
        return None, *_gradients(record, found, values)


def _of_values(
    pair: PairTerm, needed: list[str], weights: Any
) -> dict[str, Any]:
    """The gradients of Σ_ij f(x_i, y_j)·weights[…, i, j] by arguments."""
    if weights.numel() == 0:
        return {
            name: torch.zeros_like(bare(pair.arguments[name]))
            for name in needed
        }
    form, tables = _weighted(pair, _plain(weights))
    seed = _Record(pair.formula, [], [], {}).seed()
    formula = pair.inside(f"sum_ij({form})").grad(needed, cotangent=seed)
    arguments = {**pair.arguments, **tables, seed: 1.0}
    return _by_name(needed, formula(arguments, **pair.settings))


def _weighted(pair: PairTerm, weights: Any) -> tuple[str, dict[str, Any]]:
    """The pair term times weights[…, i, j], and the arguments that takes."""
    free = pair.formula._unused_name
    table, width = free("G"), free("w")
    rows, columns = pair.points
    arguments = {table: weights}
    if pair.components is None:
        # A table of one row is read as a vector, one of one element as such.
        place = f"{table}[j]" if columns > 1 else table
        place = f"{table}[i, j]" if rows > 1 else place
        return f"operand*{place}", arguments
    arguments[table] = weights.flatten(-3, -2)
    if rows * columns == 1:
        return f"operand·{table}", arguments
    arguments[width] = columns
    return f"operand·{table}[i*{width} + j]", arguments


def _by_name(needed: list[str], gradients: Any) -> dict[str, Any]:
    """What a formula of gradients gave: one array, or several."""
    if len(needed) == 1:
        gradients = (gradients,)
    return dict(zip(needed, gradients, strict=True))


class _System:
    """What a solve was, beside its values."""

    def __init__(
        self, record: _Record, transposed: bool, options: dict[str, Any]
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
        _save(ctx, [x, ridge, *values])
        return x

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        """The gradients by b, the ridge and the kernel's arguments."""
        system = ctx.system
        x, ridge, *values = _saved(ctx)
        kernel = system.kernel(values)
        adjoint = kernel.solve(_plain(cotangent), ridge, **system.options)
        _, by_side, by_ridge, *by_values = ctx.needs_input_grad
        names = system.record.names
        needed = _needed(names, by_values)
        found = _by_arguments(kernel, needed, -adjoint, x) if needed else {}
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
        _save(ctx, [ridge, *values])
        return torch.tensor(value, dtype=torch.float64)

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        """The gradients by the ridge and the kernel's arguments."""
        system = ctx.system
        ridge, *values = _saved(ctx)
        kernel = system.kernel(values)
        _, by_ridge, *by_values = ctx.needs_input_grad
        names = system.record.names
        needed = _needed(names, by_values)
        if system.info.exact:
            found, trace = _by_inverse(kernel, ridge, needed, cotangent)
        else:
            found, trace = _by_probes(system, kernel, ridge, needed, cotangent)
        return (
            None,
            cotangent * trace if by_ridge else None,
            *(found.get(name) for name in names),
        )


def _as_real(gradient: Any, real: bool) -> Any:
    """Of a real tensor, of which a complex kernel made a complex one."""
    return gradient.real if real and gradient.is_complex() else gradient


def _by_inverse(
    kernel: Any, ridge: Any, needed: list[str], cotangent: Any
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
        found = _of_values(pair, needed, weights.to(dense.dtype))
        return found, inverse.diagonal().sum()
    parts = [
        _of_values(part, needed, weight.to(dense.real.dtype))
        for part, weight in zip(
            pair.parts(), (weights.real, weights.imag), strict=True
        )
    ]
    found = {name: parts[0][name] + parts[1][name] for name in needed}
    return found, inverse.diagonal().sum().real


def _by_probes(
    system: _System, kernel: Any, ridge: Any, needed: list[str], cotangent: Any
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
    if needed:
        rows = cotangent * solved / count
        found = _by_arguments(kernel, needed, rows.to(solved.dtype), probes)
    return found, (solved.conj() * probes).sum().real / count


def _by_arguments(
    kernel: Any, needed: list[str], rows: Any, columns: Any
) -> dict[str, Any]:
    """The gradients of rows · (K columns) by arguments of K."""
    pair = kernel._pair
    name = pair.formula._unused_name()
    formula = pair.around("sum", kernel._columns, weights=name)
    seed = _Record(formula, [], [], {}).seed()
    gradients = formula.grad(needed, cotangent=seed)(
        {**pair.arguments, name: columns, seed: rows}, **pair.settings
    )
    return _by_name(needed, gradients)


def _seed_names(record: _Record, seed: str, count: int) -> list[str]:
    """The cotangents' names: one, or one for each result."""
    if count == 1:
        return [seed]
    return [f"{seed}_{name}" for name in record.formula._results]
