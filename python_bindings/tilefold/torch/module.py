# python_bindings/tilefold/torch/module.py - a formula as a module.
"""`Kernel`: a formula with parameters to learn, as `torch.nn.Module`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from tilefold import _core
from tilefold.kernel import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Kernel"]

_I, _J = 1, 2  # the bits of axes


class Kernel(torch.nn.Module):
    """A formula with some of its arguments as parameters of a module.

        k = tilefold.torch.Kernel("exp(-|x_i - y_j|²/2l²)",
                                  learn={"l": 0.5}, positive=["l"])
        k(x, y) @ b          # (N,), and k.raw_l learns

    `learn` has of each name a number, a tensor, or a shape, which is filled
    with normal numbers. Those in `positive` are softplus of the parameter
    `raw_<name>`, and read as `k.<name>`. `fixed` are buffers. What the call is
    given by name wins over both.

    Raises `ArgumentError` for a name that the formula does not have.
    """

    def __init__(
        self,
        formula: str | _core.Formula,
        /,
        *,
        learn: Mapping[str, Any] | None = None,
        fixed: Mapping[str, Any] | None = None,
        positive: Iterable[str] = (),
        dtype: Any = None,
        device: Any = None,
    ) -> None:
        super().__init__()
        if not isinstance(formula, _core.Formula):
            formula = _core.compile(formula)
        self.formula = formula
        self.positive = frozenset(positive)
        self.learned = tuple(learn or {})
        self.fixed = tuple(fixed or {})
        self._check_names()
        axes = dict(formula.names)
        self._rows = _first_on(axes, _I)
        self._columns = _first_on(axes, _J)
        self._is_pair_term = formula._is_pair_term
        made = {"dtype": dtype or torch.get_default_dtype(), "device": device}
        for name, value in (learn or {}).items():
            self._learn(name, _initial(value, made))
        for name, value in (fixed or {}).items():
            self.register_buffer(name, torch.as_tensor(value, **made))

    def _check_names(self) -> None:
        """Refuses names that the formula does not have, and unlearned ones."""
        known = {name for name, _ in self.formula.names}
        for name in (*self.learned, *self.fixed):
            if name not in known:
                _core.fail("UnknownArgument", name, ", ".join(sorted(known)))
        for name in self.positive - set(self.learned):
            _core.fail("UnknownArgument", name, ", ".join(self.learned))

    def _learn(self, name: str, value: Any) -> None:
        if name not in self.positive:
            self.register_parameter(name, torch.nn.Parameter(value))
            return
        if not (value > 0).all():
            _core.fail(
                "BadOption",
                f"learn[{name!r}]",
                str(value.tolist()),
                "pass a positive number",
            )
        raw = value + torch.log(-torch.expm1(-value))  # softplus backwards
        self.register_parameter(f"raw_{name}", torch.nn.Parameter(raw))

    def __getattr__(self, name: str) -> Any:
        """A positive parameter by its name in the formula."""
        parameters = self.__dict__.get("_parameters", {})
        if f"raw_{name}" in parameters:
            return functional.softplus(parameters[f"raw_{name}"])
        return super().__getattr__(name)

    def arguments(self) -> dict[str, Any]:
        """The learned and the fixed arguments, by name."""
        names = (*self.learned, *self.fixed)
        return {name: getattr(self, name) for name in names}

    def forward(self, x: Any = None, y: Any = None, /, **arrays: Any) -> Any:
        """Of a pair term a lazy `tilefold.Kernel`, else what it reduces to.

        `x` and `y` are the points on i and on j, of shape (N, D) and (M, D);
        `y` is `x` where it is left out. Others are given by name.
        """
        given = {**self.arguments(), **arrays}
        columns = x if y is None else y
        for name, points in ((self._rows, x), (self._columns, columns)):
            if name and points is not None:
                given.setdefault(name, points)
        if self._is_pair_term:
            return kernel(self.formula, given)
        return self.formula(given)

    def extra_repr(self) -> str:
        """The formula, as typed."""
        return repr(self.formula.text)


def _first_on(axes: dict[str, int], axis: int) -> str:
    """The first argument on an axis; "" where there is none."""
    return next((name for name, on in axes.items() if on & axis), "")


def _initial(value: Any, made: dict[str, Any]) -> Any:
    """A number or a tensor as it is, a shape filled with normal numbers."""
    if isinstance(value, (tuple, torch.Size)):
        return torch.randn(value, **made)
    return torch.as_tensor(value, **made).clone().detach()
