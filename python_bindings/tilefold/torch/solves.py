# python_bindings/tilefold/torch/solves.py - linear systems, recorded.
"""Solutions of systems with kernels, and determinants, as records.

Both are nodes of a graph as calls of formulas are, and go through the same
operator where PyTorch transforms or compiles what is computed. Derivatives are
systems with the same matrix, and products with the kernel's derivative.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

from tilefold.errors import ConvergenceWarning
from tilefold.kernel_matrix import Kernel
from tilefold.pair_term import PairTerm
from tilefold.solve import (
    LogdetInfo,
    SolveInfo,
    log_determinant,
    require_system,
)
from tilefold.solve import solve as solve_without_record
from tilefold.torch.elements import dense, gradients_of, moved_along
from tilefold.torch.evaluate import evaluate, is_watched
from tilefold.torch.records import Record, is_transformed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

EXACT_SIZE = 2000  # real matrices from here on are not factored


def solve(
    kernel: Any, side: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, Any, str]:
    """What `tilefold.solve.solve` gives, recorded."""
    record, values = Solution.of_kernel(kernel, [side, ridge], options)
    x, residuals, counts = evaluate(record, values)
    warning = "".join(record.heard or ())
    if is_watched(values):
        found = SolveInfo(counts[0], residuals, counts[2] != 0, counts[1])
        return x, found, warning
    iterations, rank, converged = counts.tolist()
    residuals = residuals.detach().numpy()
    return x, SolveInfo(iterations, residuals, bool(converged), rank), warning


def inv_quad_logdet(
    kernel: Any,
    side: Any,
    ridge: Any,
    solving: dict[str, Any],
    options: dict[str, Any] | None,
) -> tuple[Any, Any, Any, str]:
    """What `tilefold.solve.inv_quad_logdet` gives, recorded."""
    dtype = _type_of(kernel)
    if not dtype.is_floating_point or dtype.itemsize < 4:
        dtype = torch.float64
    value, info, warning = torch.zeros((), dtype=dtype, device="cpu"), None, ""
    columns = torch.zeros((), dtype=dtype, device="cpu")
    if options is not None:
        value, info, warning = _log_determinant(kernel, ridge, options)
    if side is not None:
        x, _, told = solve(kernel, side, ridge, solving)
        columns = (_as_tensor(side).conj() * x).sum(0).real
        warning = warning or told
    return columns, value.to(dtype), info, warning


def _log_determinant(
    kernel: Any, ridge: Any, options: dict[str, Any]
) -> tuple[Any, Any, str]:
    """The value, how it went, and what to warn of."""
    record, values = LogDeterminant.of_kernel(kernel, [ridge], options)
    value, error, counts = evaluate(record, values)
    warning = "".join(record.heard or ())
    if is_watched(values):
        return value, LogdetInfo(error, *counts), warning
    return value, LogdetInfo(error.item(), *counts.tolist()), warning


class System(Record):
    """What is computed of K + ridge·I; the last arguments are no kernel's.

    `parts` has the settings of the solver, as text.
    """

    __slots__ = ("heard",)

    given: tuple[str, ...] = ()  # the names of the last arguments
    smooth = 1  # how the computation went has no derivative

    def __init__(self, *stated: Any) -> None:
        super().__init__(*stated)
        # Warnings, where whoever called tells them; else they are told here.
        self.heard: list[str] | None = None

    @classmethod
    def of_kernel(
        cls, kernel: Kernel, last: Sequence[Any], options: dict[str, Any]
    ) -> tuple[Any, list[Any]]:
        """The record, and its values."""
        pair = kernel._pair
        record, values = Record.of(pair.formula, pair.arguments, pair.settings)
        said = json.dumps([kernel._transposed, options])
        names = [pair.formula._unused_name(name) for name in cls.given]
        roles = record.roles or [None] * len(values)
        found = cls(
            pair.formula,
            [*record.names, *names],
            [*roles, *[None] * len(names)],
            pair.settings,
            [said],
        )
        values = [*values, *last]
        if is_watched(values):
            require_system(kernel, last[:-1])
        else:
            found.heard = []
        return found, values

    def again(self) -> Any:
        """The same record, which tells its warnings itself."""
        return type(self)(
            self.formula, self.names, self.roles, self.settings, self.parts
        )

    @property
    def options(self) -> dict[str, Any]:
        """The settings of the solver."""
        found: dict[str, Any] = json.loads(self.parts[0])[1]
        return found

    @property
    def own(self) -> list[str]:
        """The names of the kernel's arguments."""
        return self.names[: -len(self.given)]

    def arguments(self, values: Sequence[Any]) -> dict[str, Any]:
        """Those of the kernel; there may be more values than these."""
        own = Record(self.formula, self.own, self.roles, self.settings)
        return own.arguments(values[: len(own.names)])

    def kernel(self, values: Sequence[Any]) -> Kernel:
        """The kernel of the values."""
        pair = PairTerm(self.formula, self.arguments(values), self.settings)
        return Kernel(pair, json.loads(self.parts[0])[0])

    def axes(self, k: int) -> int:
        """The right-hand side is on the rows, the ridge on no axis."""
        if k < len(self.own):
            return super().axes(k)
        return int(self.names[k] != self.names[-1])

    def few(self, k: int, shape: list[Any]) -> list[Any]:
        """The matrix is square: as many points on each axis."""
        return [2, *shape[1:]] if self.axes(k) and shape else shape

    @property
    def seeds(self) -> dict[str, str]:
        """There are none: derivatives are other records."""
        return {}

    def mapped(
        self,
        call: Callable[[list[Any]], list[Any]],
        values: Sequence[Any],
        dims: Sequence[int | None],
        size: int,
    ) -> list[Any]:
        """The rule of vmap: a call for each."""
        if size == 0:
            return _of_none(call, values, dims)
        calls = [
            call(
                [
                    value if dim is None else value.select(dim, k)
                    for value, dim in zip(values, dims, strict=True)
                ]
            )
            for k in range(size)
        ]
        return [torch.stack(results) for results in zip(*calls, strict=True)]

    def hear(self, warning: str) -> None:
        """Tells what was not reached."""
        if not warning:
            return
        if self.heard is None:
            warnings.warn(warning, ConvergenceWarning, _frames_of_libraries())
        else:
            self.heard.append(warning)


class Solution(System):
    """x of (K + ridge·I) x = b, the residuals, and counts.

    Of x = A⁻¹ b, the gradient by b is A⁻¹ g, for A is Hermitian, and that by
    A is -(A⁻¹ g) xᴴ, of which kernels only take the product with dA.
    """

    __slots__ = ()

    query = "solve"
    given = ("side", "ridge")
    kept = 1  # x, which derivatives read after the values

    def results(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The solution, (E,) residuals, and three counts."""
        *_, side, ridge = values
        x, info, warning = solve_without_record(
            self.kernel(values), side, ridge, self.options
        )
        self.hear(warning)
        counts = [info.iterations, info.rank, int(info.converged)]
        return (
            _on_cpu(x),  # where the ridge is all that is a tensor
            _on_cpu(info.residuals),
            _on_cpu(counts),
        )

    def gradients(
        self, values: Sequence[Any], names: list[str], cotangents: Any
    ) -> dict[str, Any]:
        """By b, the ridge and the kernel's arguments."""
        *given, side, ridge, x = values
        adjoint = self._solved(given, cotangents[0], ridge)
        own = [name for name in names if name in self.own]
        found = _by_arguments(self.kernel(given), own, -adjoint, x)
        by_side, by_ridge = self.names[-2:]
        if by_side in names:
            found[by_side] = adjoint if torch.is_complex(side) else adjoint.real
        if by_ridge in names:
            trace = -(adjoint.conj() * x).sum().real
            found[by_ridge] = trace.reshape(ridge.shape)
        return found

    def tangents(
        self, values: Sequence[Any], moving: dict[str, Any]
    ) -> tuple[Any, ...]:
        """A⁻¹ (db - dA x)."""
        *given, _, ridge, x = values
        moving, change = dict(moving), torch.zeros_like(x)
        along = moving.pop(self.names[-2], None)
        if along is not None:
            change = change + along
        along = moving.pop(self.names[-1], None)
        if along is not None:
            change = change - along * x
        if moving:
            change = change - _moved_product(self.kernel(given), x, moving)
        return self._solved(given, change.to(x.dtype), ridge), None, None

    def mapped(
        self,
        call: Callable[[list[Any]], list[Any]],
        values: Sequence[Any],
        dims: Sequence[int | None],
        size: int,
    ) -> list[Any]:
        """Several right-hand sides of one matrix are columns of one system."""
        *others, dim, _ = dims
        if dim is None or any(
            other is not None for other in (*others, dims[-1])
        ):
            return super().mapped(call, values, dims, size)
        *given, side, ridge = values
        side = side.movedim(dim, -1)
        shape = side.shape
        x, residuals, counts = call([*given, side.reshape(shape[0], -1), ridge])
        return [
            x.reshape(shape).movedim(-1, 0).contiguous(),
            residuals.reshape(shape[1:]).movedim(-1, 0),
            counts.expand(size, 3),
        ]

    def _solved(self, given: Sequence[Any], side: Any, ridge: Any) -> Any:
        """The solution of another side, as one of the derivatives."""
        return evaluate(self.again(), [*given, side, ridge])[0]

    @property
    def likes(self) -> list[str]:
        """The solution is like the right-hand side."""
        return [self.names[-2], "", ""]

    def types(
        self, stand_ins: Sequence[Any]
    ) -> list[tuple[str, int, str, int]]:
        """That of K b, and those of how it went."""
        kernel, side = self.kernel(stand_ins), stand_ins[-2]
        product, arguments = _product(kernel, side)
        settings = self.settings_of_few()
        ((_, _, dtype, _),) = product._result_types(arguments, settings)
        width = side.shape[1] if side.ndim > 1 else -1
        return [
            (self.names[-2], 0, dtype, -1),
            ("", 0, "float64", width),
            ("", 0, "int64", 3),
        ]


class LogDeterminant(System):
    """log det(K + ridge·I), its error, and counts.

    Its gradient by A is A⁻¹. Of a matrix that was factored, that is the
    cotangent of all its values; else tr(A⁻¹ dA) is the mean of (A⁻¹ z)ᴴ dA z
    for vectors z of random signs.
    """

    __slots__ = ()

    query = "logdet"
    given = ("ridge",)

    def results(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """The value, the standard error, and three counts."""
        value, _, info, warning = log_determinant(
            self.kernel(values), None, values[-1], self.options
        )
        self.hear(warning)
        counts = _on_cpu([info.probes, info.steps, info.rank])
        return (
            _on_cpu(np.float64(value)),
            _on_cpu(np.float64(info.error)),
            counts,
        )

    def gradients(
        self, values: Sequence[Any], names: list[str], cotangents: Any
    ) -> dict[str, Any]:
        """By the ridge and the kernel's arguments."""
        kernel, ridge = self.kernel(values), values[-1]
        own = [name for name in names if name in self.own]
        cotangent = cotangents[0]
        found = {}
        if self._is_factored(kernel):
            inverse = _inverse(kernel, ridge)
            found = _by_inverse(kernel, inverse, own, cotangent)
            trace = inverse.diagonal().sum().real
        else:
            solved, probes = self._probed(kernel, ridge)
            rows = (cotangent * solved).to(solved.dtype)
            found = _by_arguments(kernel, own, rows, probes)
            trace = (solved.conj() * probes).sum().real
        if self.names[-1] in names:
            found[self.names[-1]] = (cotangent * trace).reshape(ridge.shape)
        return found

    def tangents(
        self, values: Sequence[Any], moving: dict[str, Any]
    ) -> tuple[Any, ...]:
        """The trace of A⁻¹ dA."""
        kernel, ridge = self.kernel(values), values[-1]
        moving, change = dict(moving), _on_cpu(np.float64(0))
        along = moving.pop(self.names[-1], None)
        if self._is_factored(kernel):
            inverse = _inverse(kernel, ridge)
            if along is not None:
                change = change + along * inverse.diagonal().sum().real
            if moving:
                change = change + _along_inverse(kernel, inverse, moving)
            return change, None, None
        solved, probes = self._probed(kernel, ridge)
        if along is not None:
            change = change + along * (solved.conj() * probes).sum().real
        if moving:
            product = _moved_product(kernel, probes, moving)
            change = change + (solved.conj() * product).sum().real
        return change, None, None

    def _is_factored(self, kernel: Kernel) -> bool:
        """Whether the matrix is small enough; a complex one is twice as big."""
        return (1 + kernel._is_complex) * kernel.shape[-1] < EXACT_SIZE

    def _probed(self, kernel: Kernel, ridge: Any) -> tuple[Any, Any]:
        """A⁻¹ z / n and z, n vectors of random signs."""
        options = self.options
        count, seed = options["probes"], options["seed"]
        probes = _signs(kernel.shape[-1], count, seed).to(_type_of(kernel))
        solved = kernel.solve(
            probes, ridge, rtol=1e-5, preconditioner=options["preconditioner"]
        )
        return solved / count, probes

    @property
    def likes(self) -> list[str]:
        """The results are like no argument."""
        return ["", "", ""]

    def types(
        self, stand_ins: Sequence[Any]
    ) -> list[tuple[str, int, str, int]]:
        """Those of two numbers and three counts."""
        self.kernel(stand_ins)
        number = ("", 0, "float64", -1)
        return [number, number, ("", 0, "int64", 3)]


def _of_none(
    call: Callable[[list[Any]], list[Any]],
    values: Sequence[Any],
    dims: Sequence[int | None],
) -> list[Any]:
    """Results of no call, whose shapes those without values have."""
    parts = []
    for value, dim in zip(values, dims, strict=True):
        shape = list(value.shape)
        if dim is not None:
            del shape[dim]
        parts.append(value.new_empty(shape, device="meta"))
    return [
        result.new_empty((0, *result.shape), device="cpu")
        for result in call(parts)
    ]


def _as_tensor(side: Any) -> Any:
    """A right-hand side or a matrix, which may be an array or a list."""
    return side if isinstance(side, torch.Tensor) else _on_cpu(side)


def _type_of(kernel: Kernel) -> Any:
    """PyTorch's type of the real parts; the arrays may be NumPy's."""
    return getattr(torch, kernel.real._pair.dtype)


def _on_cpu(numbers: Any) -> Any:
    """Numbers as a tensor there, where systems are solved."""
    return torch.as_tensor(numbers, device="cpu")


def _frames_of_libraries() -> int:
    """How far above the caller's caller the code of whoever uses them is."""
    level, frame = 2, sys._getframe(2)
    while frame.f_back is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package not in ("tilefold", "torch"):
            break
        level, frame = level + 1, frame.f_back
    return level


# ---- what derivatives are made of --------------------------------------------


def _product(kernel: Kernel, columns: Any) -> tuple[Any, dict[str, Any]]:
    """The formula of K times columns, and its arguments."""
    pair = kernel._pair
    name = pair.formula._unused_name()
    formula = pair.around("sum", kernel._columns, weights=name)
    return formula, {**pair.arguments, name: columns}


def _by_arguments(
    kernel: Kernel, wanted: list[str], rows: Any, columns: Any
) -> dict[str, Any]:
    """The gradients of rows · (K columns) by arguments of K."""
    if not wanted:
        return {}
    formula, arguments = _product(kernel, columns)
    record, values = Record.of(formula, arguments, kernel._pair.settings)
    return record.gradients(values, wanted, [rows])


def _moved_product(kernel: Kernel, columns: Any, moving: dict[str, Any]) -> Any:
    """The derivative of K times columns, where arguments of K move."""
    formula, arguments = _product(kernel, columns)
    record, values = Record.of(formula, arguments, kernel._pair.settings)
    return record.tangents(values, moving)[0]


def _inverse(kernel: Kernel, ridge: Any) -> Any:
    """The inverse of K + ridge·I, in double precision."""
    matrix = _as_tensor(Kernel(kernel._upright()).dense())
    wide = matrix.to(torch.promote_types(matrix.dtype, torch.float64))
    identity = torch.eye(wide.shape[-1], dtype=wide.dtype, device=wide.device)
    return torch.linalg.inv(wide + ridge * identity)


def _by_inverse(
    kernel: Kernel, inverse: Any, wanted: list[str], cotangent: Any
) -> dict[str, Any]:
    """The gradients of log det by arguments."""
    pair = kernel._upright()
    # tr(A⁻¹ dA) = Σ_ij conj(A⁻¹)_ij dA_ij, which is real.
    weights = cotangent * inverse
    dtype = getattr(torch, pair.dtype)
    if not pair.is_complex:
        return gradients_of(pair, wanted, weights.to(dtype))
    dtype = dtype.to_real()
    parts = [
        gradients_of(part, wanted, weight.to(dtype))
        for part, weight in zip(
            pair.parts(), (weights.real, weights.imag), strict=True
        )
    ]
    return {name: parts[0][name] + parts[1][name] for name in wanted}


def _along_inverse(kernel: Kernel, inverse: Any, moving: dict[str, Any]) -> Any:
    """The derivative of log det, where arguments move."""
    pair = kernel._upright()
    if not pair.is_complex:
        return (inverse * dense(moved_along(pair, moving))).sum()
    real, imaginary = (
        dense(moved_along(part, moving)).to(torch.float64)
        for part in pair.parts()
    )
    return (inverse.real * real + inverse.imag * imaginary).sum()


def _signs(points: int, count: int, seed: int) -> Any:
    """Random signs, the same wherever they are drawn."""
    generator = torch.Generator("cpu").manual_seed(seed)

    def drawn() -> Any:
        signs = torch.randint(
            0, 2, (points, count), generator=generator, device="cpu"
        )
        return 2 * signs - 1

    if not is_transformed():
        return drawn()
    with temporarily_clear_interpreter_stack():  # vmap draws none
        return drawn()
