# python_bindings/tilefold/torch/module.py - a formula as a module.
"""`Kernel`: a formula with parameters to learn, as `torch.nn.Module`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from tilefold import _core
from tilefold.kernel_matrix import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Kernel"]

_I, _J = 1, 2  # the bits of axes


class Kernel(torch.nn.Module):
    """A formula with some of its arguments as parameters of a module.

    Those in ``positive`` are softplus of the parameter ``raw_`` with their
    name, and read by their name. What the call is given by name wins over what
    the module has.

    Parameters
    ----------
    formula : str or Formula
        A pair term, or a formula that reduces.
    learn : Mapping, optional
        Parameters by name: a number, a tensor, or a shape, which is filled with
        normal numbers.
    fixed : Mapping, optional
        Buffers by name: numbers or tensors.
    positive : iterable of str, optional
        Names of ``learn`` that stay above 0.
    dtype : torch.dtype, optional
        Of parameters and buffers: PyTorch's default.
    device : torch.device, optional
        Of parameters and buffers.

    Raises
    ------
    ArgumentError
        For a name that the formula does not have.

    See Also
    --------
    tilefold.kernel : the lazy matrix, without parameters to learn.

    Examples
    --------
    >>> import torch
    >>> k = tilefold.torch.Kernel(
    ...     "exp(-|x_i - y_j|²/2l²)", learn={"l": 0.5}, positive=["l"]
    ... )
    >>> loss = (k(torch.zeros(4, 3), torch.ones(5, 3)) @ torch.ones(5)).sum()
    >>> loss.backward()
    >>> k.raw_l.grad is not None
    True
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
        self.positive: frozenset[str] = frozenset(positive)
        self.learned: tuple[str, ...] = tuple(learn or {})
        self.fixed: tuple[str, ...] = tuple(fixed or {})
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
        """Gives the learned and the fixed arguments.

        Returns
        -------
        dict of str to tensor
            By their names in the formula, positive ones as the formula reads
            them.

        Examples
        --------
        >>> k = tilefold.torch.Kernel("c |x_i - y_j|", fixed={"c": 2.0})
        >>> k.arguments()
        {'c': tensor(2.)}
        """
        names = (*self.learned, *self.fixed)
        return {name: getattr(self, name) for name in names}

    def forward(self, x: Any = None, y: Any = None, /, **arrays: Any) -> Any:
        """Makes the matrix of points, or what the formula reduces them to.

        Parameters
        ----------
        x : tensor, optional
            The points on i, of shape (N, D) and any dtype of numbers.
        y : tensor, optional
            The points on j, of shape (M, D) and any dtype of numbers; x where
            it is left out.
        **arrays : tensor
            Others by name: shapes and dtypes as in ``tilefold.Formula``.

        Returns
        -------
        Kernel or tensor
            Of a pair term a lazy ``tilefold.Kernel``, else the result.

        Raises
        ------
        ShapeError, DTypeError, ArgumentError
            Where tensors do not fit the formula or each other.

        Examples
        --------
        >>> import torch
        >>> k = tilefold.torch.Kernel("c |x_i - y_j|", fixed={"c": 2.0})
        >>> k(torch.tensor([0.0, 1.0])).dense()
        tensor([[0., 2.],
                [2., 0.]])
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
        """Tells the formula, which PyTorch shows within the module.

        Returns
        -------
        str
            The text as it was given, in quotes.

        Examples
        --------
        >>> tilefold.torch.Kernel("c |x_i - y_j|", learn={"c": 2.0})
        Kernel('c |x_i - y_j|')
        """
        return repr(self.formula.text)


def _first_on(axes: dict[str, int], axis: int) -> str:
    """The first argument on an axis; "" where there is none."""
    return next((name for name, on in axes.items() if on & axis), "")


def _initial(value: Any, made: dict[str, Any]) -> Any:
    """A number or a tensor as it is, a shape filled with normal numbers."""
    if isinstance(value, (tuple, torch.Size)):
        return torch.randn(value, **made)
    return torch.as_tensor(value, **made).clone().detach()
