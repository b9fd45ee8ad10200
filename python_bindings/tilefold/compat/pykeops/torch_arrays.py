# python_bindings/tilefold/compat/pykeops/torch_arrays.py - of PyTorch.
"""`TorchArrays`: what calls of formulas do with tensors of PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from tilefold.compat.pykeops.conjugate_gradients import conjugate_gradients

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["TorchArrays"]


class TorchArrays:
    """Tensors of PyTorch: shapes, views and results of calls."""

    name = "torch"
    kind = torch.Tensor
    module = torch
    library = "PyTorch tensors"

    @staticmethod
    def is_number(value: Any) -> bool:
        """Whether it is a number of Python's or NumPy's."""
        return isinstance(value, (bool, int, float, complex, np.generic))

    @staticmethod
    def is_complex(value: Any) -> bool:
        """Whether a tensor, or a number, is complex."""
        if isinstance(value, torch.Tensor):
            return value.is_complex()
        return bool(np.iscomplexobj(value))

    @staticmethod
    def is_complex_input(value: Any) -> bool:
        """Whether a LazyTensor of it is complex."""
        if isinstance(value, torch.Tensor):
            return value.is_complex()
        if isinstance(value, list):
            return any(isinstance(one, complex) for one in value)
        return isinstance(value, (complex, np.complexfloating))

    @staticmethod
    def dtype_name(value: Any) -> str:
        """Such as "float32"."""
        return str(value.dtype).removeprefix("torch.")

    @staticmethod
    def array(values: Any, like: Any = None) -> Any:
        """A tensor of numbers, with the dtype and device of another one."""
        if like is None:
            return torch.as_tensor(values)
        return torch.as_tensor(values, dtype=like.dtype, device=like.device)

    @staticmethod
    def ones(length: int, rank: int, like: Any) -> Any:
        """A number 1 for each point, of stride 0; `rank` batch dimensions."""
        dtype = like.dtype.to_real()
        one = torch.ones((), dtype=dtype, device=like.device)
        return one.expand((1,) * rank + (length, 1))

    @staticmethod
    def zeros(shape: tuple[int, ...], like: Any) -> Any:
        """Zeros of stride 0."""
        return torch.zeros((), dtype=like.dtype, device=like.device).expand(
            shape
        )

    @staticmethod
    def reshape(value: Any, shape: tuple[int, ...]) -> Any:
        """The same numbers in another shape."""
        return value.reshape(shape)

    @staticmethod
    def exchange(value: Any) -> Any:
        """With the last two axes exchanged, contiguous."""
        return value.transpose(-1, -2).contiguous()

    @staticmethod
    def as_complex(value: Any) -> Any:
        """Pairs of real numbers as complex ones: a view where it can be."""
        pairs = value.unflatten(-1, (-1, 2))
        if pairs.stride(-1) != 1 or any(k % 2 for k in pairs.stride()[:-1]):
            pairs = pairs.contiguous()
        return torch.view_as_complex(pairs)

    @staticmethod
    def as_real(value: Any) -> Any:
        """Complex numbers as pairs of real ones."""
        return torch.view_as_real(value.resolve_conj()).flatten(-2)

    @staticmethod
    def cast(value: Any, dtype: Any) -> Any:
        """The same numbers of another type, but for whole numbers."""
        if not (dtype.is_floating_point or dtype.is_complex):
            return value
        return value.to(dtype)

    @staticmethod
    def is_floating(value: Any) -> bool:
        """Whether it is of floating-point or complex numbers."""
        if isinstance(value, torch.Tensor):
            return value.dtype.is_floating_point or value.dtype.is_complex
        return bool(value.dtype.kind in "fc")

    @staticmethod
    def real_dtype(dtype: Any) -> Any:
        """The type of the parts of complex numbers."""
        return dtype.to_real()

    @staticmethod
    def complex_dtype(dtype: Any) -> Any:
        """The type of complex numbers with such parts."""
        return dtype.to_complex()

    @staticmethod
    def indices(value: Any) -> Any:
        """Indices, 0 where there is none."""
        return value.detach().clamp(min=0).to(torch.int64)

    @staticmethod
    def smallest(values: Any, indices: Any, count: int, axis: int) -> Any:
        """The `count` smallest of several lists of values, and their indices.

        Lists lie along `axis`; of equal values the first come first.
        """
        joined = torch.cat(values, axis)
        order = joined.argsort(dim=axis, stable=True).narrow(axis, 0, count)
        return (
            joined.gather(axis, order),
            torch.cat(indices, axis).gather(axis, order),
        )

    @staticmethod
    def fit(out: Any, result: Any) -> bool:
        """Whether they have the same shape, type and device."""
        return bool(
            out.shape == result.shape
            and out.dtype == result.dtype
            and out.device == result.device
        )

    @staticmethod
    def written_to(out: Any, result: Any) -> Any:
        """`out`, which holds the result then, and is recorded as it is."""
        out.copy_(result)
        return out

    @staticmethod
    def connected(result: Any, values: Any, used: Any) -> Any:
        """The result, with gradients of zeros by what it does not depend on.

        `used`: the numbers of the values that are part of the formula. KeOps
        gives zeros where PyTorch would say that an argument is not part of the
        graph.
        """
        for value in values:
            if getattr(value, "requires_grad", False):
                break
        else:
            return result
        if not torch.is_grad_enabled():
            return result
        others = [
            value
            for k, value in enumerate(values)
            if isinstance(value, torch.Tensor)
            and value.requires_grad
            and (k not in used or not result.requires_grad)
        ]
        return _connect(result, *others) if others else result

    @staticmethod
    def broadcast(value: Any, shape: tuple[int, ...]) -> Any:
        """The value in a shape with its last two axes, batches repeated."""
        return value.expand((*shape[:-2], *value.shape[-2:]))

    @staticmethod
    def solved(
        evaluate: Callable[[Sequence[Any]], Any],
        place: int,
        alpha: Any,
        eps: float,
        quick: Callable[..., Any] | None,
        values: Sequence[Any],
    ) -> Any:
        """x, where evaluate of x in the place of a value b, plus αx, is b.

        `quick(values, alpha, eps)` gives it at once, or None.
        """
        return _solve(evaluate, place, alpha, eps, quick, *values)


class _Solved(torch.autograd.Function):
    """The solution of a system; its derivatives are solutions again."""

    @staticmethod
    def forward(
        ctx: Any,
        evaluate: Any,
        place: int,
        alpha: Any,
        eps: float,
        quick: Any,
        *values: Any,
    ) -> Any:
        given = list(values)

        def linop(x: Any) -> Any:
            given[place] = x
            return evaluate(given) + alpha * x

        result = quick(values, alpha, eps) if quick else None
        if result is None:
            result = conjugate_gradients(linop, values[place], eps)
        ctx.asked = evaluate, place, alpha, eps, quick
        ctx.others = [
            None if isinstance(one, torch.Tensor) else one for one in values
        ]
        tensors = [one for one in values if isinstance(one, torch.Tensor)]
        ctx.save_for_backward(*tensors, result)
        return result

    @staticmethod
    def backward(ctx: Any, given: Any) -> Any:
        evaluate, place, alpha, eps, quick = ctx.asked
        *tensors, result = ctx.saved_tensors
        left = iter(tensors)
        values = [next(left) if k is None else k for k in ctx.others]
        # With b of this gradient, by the same symmetric map.
        seeds = list(values)
        seeds[place] = given
        back = _solve(evaluate, place, alpha, eps, quick, *seeds)
        gradients: list[Any] = [None] * len(values)
        gradients[place] = back
        needed = [
            k
            for k in range(len(values))
            if k != place and ctx.needs_input_grad[5 + k]
        ]
        if needed:
            with torch.enable_grad():
                at = list(values)
                for k in needed:  # what the solution depends on is not meant
                    at[k] = values[k].view_as(values[k])
                at[place] = result
                found = torch.autograd.grad(
                    evaluate(at),
                    [at[k] for k in needed],
                    -back,
                    create_graph=torch.is_grad_enabled(),
                )
            for k, gradient in zip(needed, found, strict=True):
                gradients[k] = gradient
        return None, None, None, None, None, *gradients


class _Connected(torch.autograd.Function):
    """The first argument; the gradients by the others are zeros."""

    generate_vmap_rule = True

    @staticmethod
    def forward(result: Any, *_others: Any) -> Any:
        return result.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, _output: Any) -> None:
        ctx.shapes = [(one.shape, one.dtype, one.device) for one in inputs[1:]]

    @staticmethod
    def backward(ctx: Any, given: Any) -> Any:
        zeros = [
            torch.zeros(shape, dtype=dtype, device=device)
            for shape, dtype, device in ctx.shapes
        ]
        return given, *zeros

    @staticmethod
    def jvp(_ctx: Any, tangent: Any, *_others: Any) -> Any:
        return tangent


# PyTorch's `apply` has no types.
_solve: Callable[..., Any] = _Solved.apply
_connect: Callable[..., Any] = _Connected.apply
