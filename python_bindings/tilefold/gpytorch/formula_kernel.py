# python_bindings/tilefold/gpytorch/formula_kernel.py - kernels of any formula.
"""`FormulaKernel`: a kernel of GPyTorch from a formula."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import gpytorch.kernels as theirs
import torch
from gpytorch.constraints import Interval, Positive

import tilefold
from tilefold.gpytorch.term_kernels import TermKernel
from tilefold.gpytorch.terms import Part, term

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpytorch.priors import Prior
    from torch import Tensor

__all__ = ["FormulaKernel", "Parameter"]


# The numbers of points and components, as formulas spell them.
_SIZES = re.compile(r"\b[NMD]\b")


class Parameter(NamedTuple):
    """A parameter of a ``FormulaKernel``: what it is, and may be.

    Attributes
    ----------
    shape : tuple of int
        (R, C): (1, 1) for a number, the default, (1, D) for a vector.
    initial : float or tensor
        The first value, else what the constraint makes of 0: a float tensor of
        the parameter's shape, or a number, shape ().
    constraint : gpytorch.constraints.Interval
        Positive, unless given.
    prior : gpytorch.priors.Prior
        Of the value, where there is one.

    See Also
    --------
    FormulaKernel : whose parameters it describes.

    Examples
    --------
    >>> from tilefold.gpytorch import FormulaKernel, Parameter
    >>> slope = Parameter(initial=2.0)
    >>> k = FormulaKernel("c*(x_i·y_j)", parameters={"c": slope})
    >>> round(k.c.item(), 6)
    2.0
    """

    shape: tuple[int, int] = (1, 1)
    initial: float | Tensor | None = None
    constraint: Interval | None = None
    prior: Prior | None = None


Parameter.shape.__doc__ = "(R, C), of which (1, 1) is a number."
Parameter.initial.__doc__ = "The first value, else what the constraint makes."
Parameter.constraint.__doc__ = "Positive, unless given."
Parameter.prior.__doc__ = "Of the value, where there is one."


class FormulaKernel(TermKernel, theirs.Kernel):
    """A kernel that is any formula of two points.

    Each name on no axis is a parameter, read and set as an attribute (a Greek
    letter by its name: σ is ``sigma``), and learned under its name behind
    ``raw_``, of shape ``(*batch_shape, R, C)``. The name l with
    ``ard_num_dims`` is the lengthscale of GPyTorch's kernels. N, M and D in the
    formula are the sizes of the whole matrix.

    Parameters
    ----------
    formula : str
        A pair term of the points x_i and y_j, or the name of a formula of the
        catalogue.
    parameters : Mapping, optional
        By name a ``Parameter``, or its first value, a number or a tensor.
        Others are positive and of shape (1, 1).
    x, y : str, default "x" and "y"
        Other names of the points.
    is_stationary : bool, default False
        Whether it is a function of x - y, as GPyTorch is told.
    **kernel_arguments : object
        What ``gpytorch.kernels.Kernel`` takes.

    Raises
    ------
    ArgumentError
        For a formula with a reduction, for one that has arrays beside the
        points, or lacks them, and for parameters that it does not have.

    See Also
    --------
    Parameter : what a parameter of it is.
    RBFKernel, MaternKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import FormulaKernel
    >>> k = FormulaKernel("exp(-|x_i - y_j|²/2s²)", parameters={"s": 0.5})
    >>> (k(torch.zeros(3, 2)) @ torch.ones(3)).tolist()
    [3.0, 3.0, 3.0]
    """

    _learned: tuple[str, ...]

    def __init__(
        self,
        formula: str,
        *,
        parameters: Mapping[str, Parameter | float | Tensor] | None = None,
        x: str = "x",
        y: str = "y",
        is_stationary: bool = False,
        **kernel_arguments: Any,
    ) -> None:
        names = _parameters_of(formula, x, y)
        spelled = tilefold.compile(formula)._axes_of  # σ is called sigma
        given = {
            spelled(name)[0]: _as_parameter(value)
            for name, value in (parameters or {}).items()
        }
        own_lengthscale = (
            "l" in names
            and "l" not in given
            and kernel_arguments.get("ard_num_dims") is not None
        )
        object.__setattr__(self, "has_lengthscale", own_lengthscale)
        object.__setattr__(self, "_learned", ())
        super().__init__(**kernel_arguments)
        for name in given:
            if name not in names:
                raise tilefold.ArgumentError(
                    f"the formula has no parameter {name!r}; it has "
                    f"{', '.join(map(repr, names)) or 'none'}",
                    formula,
                )
        self.formula = formula
        self._points = (x, y)
        self._stationary = is_stationary
        self._names = names
        for name in names:
            if not (own_lengthscale and name == "l"):
                self._learn(name, given.get(name, Parameter()))

    @property
    def is_stationary(self) -> bool:
        """Whether it is a function of x - y, as its maker says: a bool."""
        return self._stationary

    def __getattr__(self, name: str) -> Any:
        learned = self.__dict__.get("_learned", ())
        if name in learned:
            constraint = getattr(self, f"raw_{name}_constraint")
            return constraint.transform(getattr(self, f"raw_{name}"))
        return super().__getattr__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__.get("_learned", ()):
            self._set(name, value)
        else:
            super().__setattr__(name, value)

    def extra_repr(self) -> str:
        """Tells the formula, which PyTorch shows within the module.

        Returns
        -------
        str
            The text as it was given, in quotes.

        Examples
        --------
        >>> from tilefold.gpytorch import FormulaKernel
        >>> FormulaKernel("c*(x_i·y_j)").extra_repr()
        "'c*(x_i·y_j)'"
        """
        return repr(self.formula)

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """The formula, and its parameters."""
        values = {
            name: self.lengthscale
            if name == "l" and self.has_lengthscale
            else getattr(self, name)
            for name in self._names
        }
        return self.formula, values

    def _part(self, x1: Tensor, x2: Tensor, apart: bool) -> Part:
        part = super()._part(x1, x2, apart)
        part = part._replace(names=(*self._points, *self._names))
        if not _SIZES.search(self.formula):
            return part
        # N, M and D are those of the whole matrix, whatever part is taken.
        arguments = dict(zip(part.names, part.tensors, strict=True))
        with torch.no_grad():
            read, text = term(self.formula).formula._own_sizes(arguments, {})
        own = {"N": x1.shape[-2], "M": x2.shape[-2]}
        sizes = [x1.new_full((1, 1), own[name]) for name in read]
        return Part(
            (*part.tensors, *sizes),
            text or part.text,
            (*part.names, *read),
            part.roles + "p" * len(read),
        )

    def _learn(self, name: str, parameter: Parameter) -> None:
        """Registers a parameter, its constraint and its prior."""
        if hasattr(self, name):
            raise tilefold.ArgumentError(
                f"kernels have an attribute {name!r} already: give the "
                "parameter another name",
                self.formula,
            )
        raw = torch.zeros(*self.batch_shape, *parameter.shape)
        self.register_parameter(f"raw_{name}", torch.nn.Parameter(raw))
        self.register_constraint(
            f"raw_{name}", parameter.constraint or Positive()
        )
        self._learned = (*self._learned, name)
        if parameter.prior is not None:
            self.register_prior(
                f"{name}_prior", parameter.prior, _Get(name), _Set(name)
            )
        if parameter.initial is not None:
            self._set(name, parameter.initial)

    def _set(self, name: str, value: Any) -> None:
        raw = getattr(self, f"raw_{name}")
        value = torch.as_tensor(value).to(raw)
        constraint = getattr(self, f"raw_{name}_constraint")
        value = constraint.inverse_transform(value)
        self.initialize(**{f"raw_{name}": value.expand(raw.shape)})


class _Get:
    """What a prior is told of: a parameter of the kernel. Picklable."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, kernel: Any) -> Any:
        return getattr(kernel, self.name)


class _Set:
    """How a prior's sample becomes a parameter of the kernel. Picklable."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, kernel: Any, value: Any) -> None:
        setattr(kernel, self.name, value)


def _as_parameter(value: Parameter | float | Tensor) -> Parameter:
    """What is given for a parameter: its first value, or all of it."""
    if isinstance(value, Parameter):
        return value
    tensor = torch.as_tensor(value)
    rows, columns = (1, 1, *tensor.shape)[-2:]
    return Parameter((rows, columns), tensor)


def _parameters_of(formula: str, x: str, y: str) -> tuple[str, ...]:
    """The names on no axis, in the order of the formula."""
    compiled = tilefold.compile(formula)
    try:
        tilefold.kernel(compiled, {})  # which says whether it reduces
    except tilefold.ArgumentError as error:
        if error.code == "KernelReduces":
            raise
    axes = dict(compiled.names)
    if axes.get(x) != 1 or axes.get(y) != 2:
        raise tilefold.ArgumentError(
            f"a kernel is a formula of points {x}_i and {y}_j", formula
        )
    for name, places in axes.items():
        if places and name not in (x, y):
            raise tilefold.ArgumentError(
                f"{name!r} is an array on an axis; a kernel has the points "
                f"{x}_i and {y}_j, and parameters",
                formula,
            )
    return tuple(name for name, places in axes.items() if not places)
