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
    name, and read and set by their name. What the call is given by name wins
    over what the module has. Points are the first array on i, and on j, that
    the module does not have and the call does not name.

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
        learn = _core.arguments(learn, {})
        fixed = _core.arguments(fixed, {})
        self.positive: frozenset[str] = frozenset(
            _core.arguments(dict.fromkeys(positive), {})
        )
        self.learned: tuple[str, ...] = tuple(learn)
        self.fixed: tuple[str, ...] = tuple(fixed)
        self._text: str = formula.text
        self._names: tuple[str, ...] = tuple(name for name, _ in formula.names)
        self._check_names()
        self._on: dict[int, tuple[str, ...]] = {
            axis: tuple(name for name, on in formula.names if on & axis)
            for axis in (_I, _J)
        }
        self._is_pair_term = formula._is_pair_term
        made = {"dtype": dtype or torch.get_default_dtype(), "device": device}
        for name, value in learn.items():
            self._learn(name, _initial(value, made))
        for name, value in fixed.items():
            self.register_buffer(name, torch.as_tensor(value, **made))

    def _check_names(self) -> None:
        """Refuses names that the formula does not have, and unlearned ones."""
        for name in (*self.learned, *self.fixed):
            if name not in self._names:
                known = ", ".join(sorted(self._names))
                _core.fail("UnknownArgument", name, known)
            if hasattr(type(self), name) or name in self.__dict__:
                _core.fail(
                    "BadOption",
                    f"'{name}'",
                    "an argument of a module, which has such an attribute",
                    "give it another name in the formula",
                )
        for name in self.positive - set(self.learned):
            _core.fail("UnknownArgument", name, ", ".join(self.learned))

    def _learn(self, name: str, value: Any) -> None:
        if name not in self.positive:
            self.register_parameter(name, torch.nn.Parameter(value))
            return
        _require_positive(name, value)
        raw = torch.nn.Parameter(_softplus_of(value))
        self.register_parameter(f"raw_{name}", raw)

    def __getattr__(self, name: str) -> Any:
        """A positive parameter by its name in the formula."""
        if not name.isascii():
            return getattr(self, _spelling(self._text, name))
        parameters = self.__dict__.get("_parameters", {})
        if f"raw_{name}" in parameters:
            return functional.softplus(parameters[f"raw_{name}"])
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets a positive parameter, whose raw one is what there is."""
        if not name.isascii():
            name = _spelling(self._text, name)
        raw = self.__dict__.get("_parameters", {}).get(f"raw_{name}")
        if raw is None:
            super().__setattr__(name, value)
            return
        with torch.no_grad():
            number = torch.as_tensor(value, dtype=raw.dtype, device=raw.device)
            _require_positive(name, number)
            raw.copy_(_softplus_of(number.expand_as(raw)))

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
            it is left out and the module has no array on j.
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
        named = {}
        for name, value in arrays.items():
            known = name in self._names
            named[name if known else _spelling(self._text, name)] = value
        given = {**self.arguments(), **named}
        self._take_points(given, x, y)
        if self._is_pair_term:
            return kernel(self.formula, given)
        return self.formula(given)

    def _take_points(self, given: dict[str, Any], x: Any, y: Any) -> None:
        """Puts the points into the arguments."""
        has_columns = any(name in given for name in self._on[_J])
        rows = self._free(given, _I)
        if x is not None and rows:
            given[rows] = x
        columns = self._free(given, _J)
        if y is not None and not columns:
            _refuse_points("y", "on j")
        if x is not None and not rows and (y is not None or not columns):
            _refuse_points("x", "on i")
        points = x if y is None and not has_columns else y
        if points is not None and columns:
            given[columns] = points

    def _free(self, given: Mapping[str, Any], axis: int) -> str:
        """The first array on an axis that is not given; "" if there is none."""
        for name in self._on[axis]:
            if name not in given:
                return name
        return ""

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


def _spelling(text: str, name: str) -> str:
    """A name as the formula has it."""
    found: str = _core.compile(text)._axes_of(name)[0]
    return found


# What torch._dynamo.assume_constant_result sets, which is slow to import.
_spelling._dynamo_marked_constant = True  # type: ignore[attr-defined]


def _refuse_points(name: str, where: str) -> None:
    """Points that no array of the formula is left for."""
    _core.fail(
        "BadOption",
        name,
        f"given: the formula has no other array {where}",
        "leave it out, or pass arrays by name",
    )


def _require_positive(name: str, value: Any) -> None:
    if not (value > 0).all():
        _core.fail(
            "BadOption",
            f"'{name}'",
            str(value.tolist()),
            "pass a positive number",
        )


def _softplus_of(value: Any) -> Any:
    """That of which softplus gives the value."""
    return value + torch.log(-torch.expm1(-value))


def _initial(value: Any, made: dict[str, Any]) -> Any:
    """A number or a tensor as it is, a shape filled with normal numbers."""
    if isinstance(value, (tuple, torch.Size)):
        return torch.randn(value, **made)
    return torch.as_tensor(value, **made).clone().detach()
