# python_bindings/tilefold/gpytorch/kernels.py - GPyTorch's kernels as formulas.
"""GPyTorch's kernel classes with another `forward`.

Constructors, parameters, priors, constraints, state dicts and all else are
GPyTorch's, whose classes these are subclasses of. `forward` gives one
`KernelOperator`. Values are those of GPyTorch 1.15, quirks included.
"""

from __future__ import annotations

import math
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any

import gpytorch.kernels as theirs
import torch
from gpytorch import settings
from gpytorch.lazy import LazyEvaluatedKernelTensor
from linear_operator import to_linear_operator

from tilefold.gpytorch.composites import KroneckerProduct
from tilefold.gpytorch.lazy import LazyKernel
from tilefold.gpytorch.operator import KernelOperator, as_kernel_operator
from tilefold.gpytorch.terms import Part, joint_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from linear_operator import LinearOperator
    from torch import Tensor

__all__ = [
    "AdditiveKernel",
    "ArcKernel",
    "ConstantKernel",
    "CosineKernel",
    "IndexKernel",
    "LCMKernel",
    "LinearKernel",
    "MaternKernel",
    "MultitaskKernel",
    "PeriodicKernel",
    "PiecewisePolynomialKernel",
    "PolynomialKernel",
    "ProductKernel",
    "RBFKernel",
    "RQKernel",
    "ScaleKernel",
    "SpectralMixtureKernel",
    "TermKernel",
]


class FusingKernel:
    """A kernel whose sums and products are kernels of this module."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As GPyTorch's; what it gives lazily fuses with others."""
        covariance = super().__call__(*args, **kwargs)  # type: ignore[misc]
        if type(covariance) is LazyEvaluatedKernelTensor:
            covariance.__class__ = LazyKernel
        return covariance

    @property
    def is_pair_term(self) -> bool:
        """Whether its matrix is one formula, for all that is inside it."""
        return all(
            getattr(kernel, "is_pair_term", False)
            for kernel in _kernels_in(self)
        )

    @property
    def batch_shape(self) -> torch.Size:
        """As GPyTorch has it, which looks through all modules each time."""
        inner = [kernel.batch_shape for kernel in _kernels_in(self)]
        return joint_shape([self._batch_shape, *inner])

    @batch_shape.setter
    def batch_shape(self, shape: torch.Size) -> None:
        self._batch_shape = shape

    def __add__(self, other: theirs.Kernel) -> AdditiveKernel:
        return AdditiveKernel(
            *_parts_of(self, theirs.AdditiveKernel),
            *_parts_of(other, theirs.AdditiveKernel),
        )

    def __mul__(self, other: theirs.Kernel) -> ProductKernel:
        return ProductKernel(
            *_parts_of(self, theirs.ProductKernel),
            *_parts_of(other, theirs.ProductKernel),
        )


class TermKernel(FusingKernel):
    """A kernel that is one pair term of points x_i and y_j."""

    def pair_term(self, width: int, /) -> tuple[str, dict[str, Tensor]]:
        """The text for points of `width` components, and its parameters.

        Parameters have shape (…, R, C), or (…, 1, C) for vectors.
        """
        raise NotImplementedError

    def points(self, x: Tensor) -> Tensor:
        """The points as the text reads them, of shape (…, N, D)."""
        return x

    def forward(
        self,
        x1: Tensor,
        x2: Tensor,
        diag: bool = False,
        last_dim_is_batch: bool = False,
        **params: Any,
    ) -> Any:
        """The matrix (…, N, M) of points (…, N, D) and (…, M, D), lazily.

        Its diagonal (…, N) where `diag` is set.
        """
        if settings.trace_mode.on():  # a trace holds operations of PyTorch
            return super().forward(  # type: ignore[misc]
                x1, x2, diag=diag, **_only_set(last_dim_is_batch), **params
            )
        if last_dim_is_batch:
            x1, x2 = _of_each_dimension(x1), _of_each_dimension(x2)
        part = self._part(x1, x2, last_dim_is_batch)
        if not torch.is_grad_enabled():
            part = part._replace(
                tensors=tuple(tensor.detach() for tensor in part.tensors)
            )
        operator = KernelOperator.of(part)
        if diag:
            return operator._diagonal()
        # GPyTorch's switch between a formula and a matrix.
        return operator if settings.use_keops.on() else operator.to_dense()

    def _part(self, x1: Tensor, x2: Tensor, apart: bool) -> Part:
        """The pair term at two sets of points."""
        text, parameters = self.pair_term(x1.shape[-1])
        values = list(parameters.values())
        if apart:
            values = [_parameter_of_each_dimension(value) for value in values]
        return Part(
            (self.points(x1), self.points(x2), *values),
            text,
            ("x", "y", *parameters),
            "ij" + "p" * len(parameters),
        )


class RBFKernel(TermKernel, theirs.RBFKernel):
    """`gpytorch.kernels.RBFKernel` as a formula."""

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """exp(-|a|²/2), a = (x - y)/l."""
        return "exp(-|(x_i - y_j)/l|²/2)", {"l": self.lengthscale}


class MaternKernel(TermKernel, theirs.MaternKernel):
    """`gpytorch.kernels.MaternKernel` as a formula."""

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """A polynomial of r times exp(-r), r = √(2ν)|x - y|/l."""
        r = f"√{2 * self.nu:g}*|(x_i - y_j)/l|"
        factor = {0.5: "", 1.5: f"(1 + {r})*", 2.5: f"(1 + {r} + ({r})²/3)*"}
        return f"{factor[self.nu]}exp(-{r})", {"l": self.lengthscale}


class RQKernel(TermKernel, theirs.RQKernel):
    """`gpytorch.kernels.RQKernel` as a formula."""

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """(1 + |a|²/2α)^-α, a = (x - y)/l."""
        text = "(1 + |(x_i - y_j)/l|²/(2*α))^(-α)"
        alpha = self.alpha.unsqueeze(-1)
        return text, {"l": self.lengthscale, "α": alpha}


class PeriodicKernel(TermKernel, theirs.PeriodicKernel):
    """`gpytorch.kernels.PeriodicKernel` as a formula."""

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """exp(-2 Σ_d sin(π(x - y)/p)²/l); GPyTorch does not square l."""
        text = "exp(-2*sum([square(sin(π*(x_i - y_j)/p))/l]))"
        return text, {"p": self.period_length, "l": self.lengthscale}


class CosineKernel(TermKernel, theirs.CosineKernel):
    """`gpytorch.kernels.CosineKernel` as a formula."""

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """cos(π|x - y|/p)."""
        return "cos(π*|(x_i - y_j)/p|)", {"p": self.period_length}


class PolynomialKernel(TermKernel, theirs.PolynomialKernel):
    """`gpytorch.kernels.PolynomialKernel` as a formula."""

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """(x·y + c)^power, the power in the text."""
        text = f"(x_i·y_j + c)^({float(self.power):.17g})"
        return text, {"c": self.offset.unsqueeze(-1)}


class PiecewisePolynomialKernel(TermKernel, theirs.PiecewisePolynomialKernel):
    """`gpytorch.kernels.PiecewisePolynomialKernel` as a formula."""

    def pair_term(self, width: int, /) -> tuple[str, dict[str, Tensor]]:
        """max(1 - r, 0)^(j + q) P(r), j = ⌊D/2⌋ + q + 1, r = |x - y|/l.

        For q = 2 the paper's coefficient is (j² + 4j + 3)/3; GPyTorch has
        (j + 4j + 3)/3, and so has this.
        """
        q = self.q
        j = width // 2 + q + 1
        polynomials = [
            [],
            [j + 1],
            [j + 2, (j + 4 * j + 3) / 3],
            [
                j + 3,
                (6 * j**2 + 36 * j + 45) / 15,
                (j**3 + 9 * j**2 + 23 * j + 15) / 15,
            ],
        ]
        r = "|(x_i - y_j)/l|"
        terms = "".join(
            f" + {coefficient:.17g}*{r}^{power}"
            for power, coefficient in enumerate(polynomials[q], 1)
        )
        text = f"max(1 - {r}, 0)^{j + q}*(1{terms})"
        return text, {"l": self.lengthscale}

    def _part(self, x1: Tensor, x2: Tensor, apart: bool) -> Part:
        # Where dimensions are apart, (…, D, N, 1), j is still that of all of
        # them. (GPyTorch takes the second extent, N where there is a batch.)
        part = super()._part(x1, x2, apart)
        if not apart:
            return part
        return part._replace(text=self.pair_term(x1.shape[-3])[0])


class SpectralMixtureKernel(TermKernel, theirs.SpectralMixtureKernel):
    """`gpytorch.kernels.SpectralMixtureKernel` as a formula."""

    def forward(
        self,
        x1: Tensor,
        x2: Tensor,
        diag: bool = False,
        last_dim_is_batch: bool = False,
        **params: Any,
    ) -> Any:
        """As GPyTorch's; the points have as many dimensions as the kernel."""
        if x1.shape[-1] != self.ard_num_dims:
            raise RuntimeError(
                "The SpectralMixtureKernel expected the input to have "
                f"{self.ard_num_dims} dimensionality (based on the "
                f"ard_num_dims argument). Got {x1.shape[-1]}."
            )
        return super().forward(x1, x2, diag, last_dim_is_batch, **params)

    def pair_term(self, width: int, /) -> tuple[str, dict[str, Tensor]]:
        """∏_d Σ_q w_q exp(-2(π s_qd τ_d)²) cos(2π m_qd τ_d), τ = x - y."""
        count = self.num_mixtures
        factors = []
        for d in range(width):
            tau = f"(x_i[{d}] - y_j[{d}])"
            terms = []
            for q in range(count):
                s, m, w = (
                    _component(name, place, size)
                    for name, place, size in (
                        ("s", q * width + d, count * width),
                        ("m", q * width + d, count * width),
                        ("w", q, count),
                    )
                )
                terms.append(
                    f"{w}*exp(-2*square(π*{s}*{tau}))*cos(2*π*{m}*{tau})"
                )
            factors.append(f"({' + '.join(terms)})")
        return "*".join(factors), {
            "w": self.mixture_weights.unsqueeze(-2),
            "s": _in_a_row(self.mixture_scales),
            "m": _in_a_row(self.mixture_means),
        }

    def _part(self, x1: Tensor, x2: Tensor, apart: bool) -> Part:
        if not apart:
            return super()._part(x1, x2, apart)
        # Of each dimension, (…, D, N, 1): its own scales and means.
        text = SpectralMixtureKernel.pair_term(self, 1)[0]
        weights = self.mixture_weights.unsqueeze(-2).unsqueeze(-2)
        # (…, Q, 1, D) to (…, D, 1, Q).
        scales, means = (
            value.transpose(-1, -3)
            for value in (self.mixture_scales, self.mixture_means)
        )
        return Part(
            (x1, x2, weights, scales, means),
            text,
            ("x", "y", "w", "s", "m"),
            "ijppp",
        )


class ConstantKernel(TermKernel, theirs.ConstantKernel):
    """`gpytorch.kernels.ConstantKernel` as a formula."""

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """The constant; x and y are zeros, which say how many points are."""
        return "c + x_i[0]*y_j[0]", {"c": self.constant.unsqueeze(-1)}

    def points(self, x: Tensor) -> Tensor:
        """As many zeros as points, of which one is kept."""
        zero = x.new_zeros((1,) * x.dim(), dtype=self.dtype)
        return zero.expand(*x.shape[:-1], 1)


class IndexKernel(TermKernel, theirs.IndexKernel):
    """`gpytorch.kernels.IndexKernel` as a table, T = B Bᵀ + diag(v)."""

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """T[a, c] of labels a_i and c_j."""
        table = self._eval_covar_matrix()
        if table.shape[-1] == 1:  # which would be a number, and no table
            table = torch.nn.functional.pad(table, (0, 1, 0, 1))
        return "T[x_i[0], y_j[0]]", {"T": table}

    def points(self, x: Tensor) -> Tensor:
        """The labels."""
        return x.long()


class ScaleKernel(FusingKernel, theirs.ScaleKernel):
    """`gpytorch.kernels.ScaleKernel` of kernels that are formulas."""


class LinearKernel(FusingKernel, theirs.LinearKernel):
    """`gpytorch.kernels.LinearKernel`: of low rank, and a term in products."""


class ArcKernel(FusingKernel, theirs.ArcKernel):
    """`gpytorch.kernels.ArcKernel`, around a kernel that is a formula."""


class AdditiveKernel(FusingKernel, theirs.AdditiveKernel):
    """`gpytorch.kernels.AdditiveKernel` as one formula."""

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Any:
        """The sum of the kernels: (…, N, M), or (…, N)."""
        terms = [kernel(x1, x2, diag=diag, **params) for kernel in self.kernels]
        if diag:
            return sum(terms)
        return reduce(_sum, map(_evaluated, terms))


class ProductKernel(FusingKernel, theirs.ProductKernel):
    """`gpytorch.kernels.ProductKernel` as one formula, for any points."""

    def forward(
        self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any
    ) -> Any:
        """The product of the kernels: (…, N, M), or (…, N)."""
        factors = [
            kernel(x1, x2, diag=diag, **params) for kernel in self.kernels
        ]
        if diag:
            return math.prod(factors[1:], start=factors[0])
        operators = [_evaluated(factor) for factor in factors]
        if len(operators) == 1:
            return operators[0]
        terms = [as_kernel_operator(operator) for operator in operators]
        if all(term is not None for term in terms):
            return reduce(mul, terms)
        if torch.equal(x1, x2):
            return reduce(mul, operators)
        # Root decompositions are of square matrices alone.
        return math.prod(operator.to_dense() for operator in operators)


class MultitaskKernel(FusingKernel, theirs.MultitaskKernel):
    """`gpytorch.kernels.MultitaskKernel`: a product K_x ⊗ K_tasks."""

    is_pair_term = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.task_covar_module.__class__ = IndexKernel

    def forward(
        self,
        x1: Tensor,
        x2: Tensor,
        diag: bool = False,
        last_dim_is_batch: bool = False,
        **params: Any,
    ) -> Any:
        """As GPyTorch's, with gradients of any order."""
        product = super().forward(
            x1, x2, last_dim_is_batch=last_dim_is_batch, **params
        )
        product = KroneckerProduct(*product.linear_ops)
        return product._diagonal() if diag else product


class LCMKernel(FusingKernel, theirs.LCMKernel):
    """`gpytorch.kernels.LCMKernel`: a sum of `MultitaskKernel`."""

    is_pair_term = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kernel in self.covar_module_list:
            kernel.__class__ = MultitaskKernel
            kernel.task_covar_module.__class__ = IndexKernel


def _kernels_in(module: Any) -> Iterator[Any]:
    """The kernels that a module holds, not those that they hold."""
    for inner in module._modules.values():
        if isinstance(inner, theirs.Kernel):
            yield inner
        elif inner is not None and inner._modules:
            yield from _kernels_in(inner)


def _parts_of(kernel: Any, kind: Any) -> list[Any]:
    """The kernels of a sum or product, or a kernel alone."""
    return [*kernel.kernels] if isinstance(kernel, kind) else [kernel]


def _evaluated(covariance: Any) -> LinearOperator:
    """An operator of which nothing is lazy."""
    operator = to_linear_operator(covariance)
    if isinstance(operator, LazyEvaluatedKernelTensor):
        return operator.evaluate_kernel()
    return operator


def _sum(first: Any, second: Any) -> Any:
    """The sum, as one formula where one of the two is one."""
    if isinstance(second, KernelOperator):
        return second + first
    return first + second


def _only_set(last_dim_is_batch: bool) -> dict[str, bool]:
    """The keyword where it is set: not all kernels of GPyTorch know it."""
    return {"last_dim_is_batch": True} if last_dim_is_batch else {}


def _of_each_dimension(x: Tensor) -> Tensor:
    """(…, N, D) as a batch of points of one dimension: (…, D, N, 1)."""
    return x.transpose(-1, -2).unsqueeze(-1)


def _parameter_of_each_dimension(value: Tensor) -> Tensor:
    """(…, 1, D) or (…, 1, 1) as (…, D, 1, 1) or (…, 1, 1, 1)."""
    return value.transpose(-1, -2).unsqueeze(-1)


def _in_a_row(value: Tensor) -> Tensor:
    """(…, Q, 1, D) as (…, 1, Q·D)."""
    return value.flatten(-3, -1).unsqueeze(-2)


def _component(name: str, place: int, size: int) -> str:
    """A component of a parameter; of one component it is a number."""
    return f"{name}[{place}]" if size > 1 else name
