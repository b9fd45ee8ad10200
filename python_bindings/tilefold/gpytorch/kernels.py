# python_bindings/tilefold/gpytorch/kernels.py - GPyTorch's kernels as formulas.
"""GPyTorch's kernel classes with another `forward`.

Constructors, parameters, priors, constraints, state dicts and all else are
GPyTorch's, whose classes these are subclasses of. `forward` gives one
`KernelOperator`. Values are those of GPyTorch 1.15, quirks included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gpytorch.kernels as theirs

from tilefold.gpytorch.fusing import (
    AdditiveKernel,
    FusingKernel,
    ProductKernel,
)
from tilefold.gpytorch.low_rank import as_low_rank
from tilefold.gpytorch.task_kernels import (
    IndexKernel,
    LCMKernel,
    MultitaskKernel,
)
from tilefold.gpytorch.term_kernels import TermKernel
from tilefold.gpytorch.terms import Part

if TYPE_CHECKING:
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


class RBFKernel(TermKernel, theirs.RBFKernel):
    """``gpytorch.kernels.RBFKernel`` as a formula.

    ``exp(-|a|²/2)`` with ``a = (x - y)/l``.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    MaternKernel, RQKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import RBFKernel
    >>> x = torch.zeros(3, 2)
    >>> (RBFKernel()(x) @ torch.ones(3)).tolist()
    [3.0, 3.0, 3.0]
    """

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """``exp(-|a|²/2)`` with ``a = (x - y)/l``."""
        return "exp(-|(x_i - y_j)/l|²/2)", {"l": self.lengthscale}


class MaternKernel(TermKernel, theirs.MaternKernel):
    """``gpytorch.kernels.MaternKernel`` as a formula.

    A polynomial of r times ``exp(-r)`` with ``r = √(2ν)|x - y|/l``.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    RBFKernel, RQKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import MaternKernel
    >>> x = torch.zeros(3, 2)
    >>> (MaternKernel(1.5)(x) @ torch.ones(3)).tolist()
    [3.0, 3.0, 3.0]
    """

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """A polynomial of r times ``exp(-r)``, ``r = √(2ν)|x - y|/l``."""
        r = f"√{2 * self.nu:g}*|(x_i - y_j)/l|"
        factor = {0.5: "", 1.5: f"(1 + {r})*", 2.5: f"(1 + {r} + ({r})²/3)*"}
        return f"{factor[self.nu]}exp(-{r})", {"l": self.lengthscale}


class RQKernel(TermKernel, theirs.RQKernel):
    """``gpytorch.kernels.RQKernel`` as a formula.

    ``(1 + |a|²/2α)^-α`` with ``a = (x - y)/l``.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    RBFKernel, MaternKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import RQKernel
    >>> x = torch.zeros(3, 2)
    >>> (RQKernel()(x) @ torch.ones(3)).tolist()
    [3.0, 3.0, 3.0]
    """

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """``(1 + |a|²/2α)^-α`` with ``a = (x - y)/l``."""
        text = "(1 + |(x_i - y_j)/l|²/(2*alpha))^(-alpha)"
        alpha = self.alpha.unsqueeze(-1)
        return text, {"l": self.lengthscale, "alpha": alpha}


class PeriodicKernel(TermKernel, theirs.PeriodicKernel):
    """``gpytorch.kernels.PeriodicKernel`` as a formula.

    ``exp(-2 Σ_d sin(π(x - y)/p)²/l)``; GPyTorch does not square l.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    CosineKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import PeriodicKernel
    >>> x = torch.zeros(3, 2)
    >>> (PeriodicKernel()(x) @ torch.ones(3)).tolist()
    [3.0, 3.0, 3.0]
    """

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """exp(-2 Σ_d sin(π(x - y)/p)²/l); GPyTorch does not square l."""
        text = "exp(-2*sum([square(sin(π*(x_i - y_j)/p))/l]))"
        return text, {"p": self.period_length, "l": self.lengthscale}


class CosineKernel(TermKernel, theirs.CosineKernel):
    """``gpytorch.kernels.CosineKernel`` as a formula.

    ``cos(π|x - y|/p)``.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    PeriodicKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import CosineKernel
    >>> x = torch.zeros(3, 2)
    >>> (CosineKernel()(x) @ torch.ones(3)).tolist()
    [3.0, 3.0, 3.0]
    """

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """``cos(π|x - y|/p)``."""
        return "cos(π*|(x_i - y_j)/p|)", {"p": self.period_length}


class PolynomialKernel(TermKernel, theirs.PolynomialKernel):
    """``gpytorch.kernels.PolynomialKernel`` as a formula.

    ``(x·y + c)^power``.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    LinearKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import PolynomialKernel
    >>> x = torch.zeros(3, 2)
    >>> PolynomialKernel(2)(x).shape
    torch.Size([3, 3])
    """

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """(x·y + c)^power, the power in the text."""
        text = f"(x_i·y_j + c)^({float(self.power):.17g})"
        return text, {"c": self.offset.unsqueeze(-1)}


class PiecewisePolynomialKernel(TermKernel, theirs.PiecewisePolynomialKernel):
    """``gpytorch.kernels.PiecewisePolynomialKernel`` as a formula.

    ``max(1 - r, 0)^(j + q) P(r)`` with ``j = ⌊D/2⌋ + q + 1`` and ``r = |x -
    y|/l``.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    RBFKernel, MaternKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import PiecewisePolynomialKernel
    >>> x = torch.zeros(3, 2)
    >>> (PiecewisePolynomialKernel(q=1)(x) @ torch.ones(3)).tolist()
    [3.0, 3.0, 3.0]
    """

    def pair_term(self, width: int, /) -> tuple[str, dict[str, Tensor]]:
        """``max(1 - r, 0)^(j + q) P(r)`` with ``r = |x - y|/l``.

        j is ``⌊D/2⌋ + q + 1``. For q = 2 the paper's coefficient is
        (j² + 4j + 3)/3; GPyTorch has (j + 4j + 3)/3, and so has this.
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
    """``gpytorch.kernels.SpectralMixtureKernel`` as a formula.

    ``∏_d Σ_q w_q exp(-2(π s_qd τ_d)²) cos(2π m_qd τ_d)`` with ``τ = x - y``.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    PeriodicKernel, RBFKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import SpectralMixtureKernel
    >>> x = torch.zeros(3, 2)
    >>> SpectralMixtureKernel(4, ard_num_dims=2)(x).shape
    torch.Size([3, 3])
    """

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
    """``gpytorch.kernels.ConstantKernel`` as a formula.

    The constant c, whatever the points are.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    ScaleKernel, AdditiveKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import ConstantKernel
    >>> x = torch.zeros(3, 2)
    >>> ConstantKernel()(x).shape
    torch.Size([3, 3])
    """

    def pair_term(self, _width: int, /) -> tuple[str, dict[str, Tensor]]:
        """The constant; x and y are zeros, which say how many points are."""
        return "c + x_i[0]*y_j[0]", {"c": self.constant.unsqueeze(-1)}

    def points(self, x: Tensor) -> Tensor:
        """As many zeros as points, of which one is kept."""
        zero = x.new_zeros((1,) * x.dim(), dtype=self.dtype)
        return zero.expand(*x.shape[:-1], 1)


class ScaleKernel(FusingKernel, theirs.ScaleKernel):
    """``gpytorch.kernels.ScaleKernel`` of kernels that are formulas.

    ``s k(x, y)``.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    AdditiveKernel, ProductKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import RBFKernel, ScaleKernel
    >>> x = torch.zeros(3, 2)
    >>> ScaleKernel(RBFKernel())(x).shape
    torch.Size([3, 3])
    """


class LinearKernel(FusingKernel, theirs.LinearKernel):
    """``gpytorch.kernels.LinearKernel``, and a term in products.

    ``v x·y``, of low rank.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    PolynomialKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import LinearKernel
    >>> x = torch.zeros(3, 2)
    >>> LinearKernel()(x).shape
    torch.Size([3, 3])
    """

    def forward(self, x1: Tensor, x2: Tensor, **params: Any) -> Any:
        """Computes the product of both sets of points, of low rank.

        Kernels are called, and not this.

        Parameters
        ----------
        x1 : tensor of shape (..., N, D)
            Points, of floats.
        x2 : tensor of shape (..., M, D)
            Points, of floats.
        **params : object
            Handed on to GPyTorch.

        Returns
        -------
        LinearOperator or tensor
            The matrix (..., N, M) as two factors, or its diagonal.

        Raises
        ------
        RuntimeError
            For points of other numbers of components than each other.

        Examples
        --------
        >>> import torch
        >>> from tilefold.gpytorch import LinearKernel
        >>> k, x = LinearKernel(), torch.zeros(3, 2)
        >>> k.forward(x, x).shape
        torch.Size([3, 3])
        """
        return as_low_rank(super().forward(x1, x2, **params))


class ArcKernel(FusingKernel, theirs.ArcKernel):
    """``gpytorch.kernels.ArcKernel`` around a kernel that is a formula.

    Constructor, parameters, priors, constraints and state dict are GPyTorch's.
    The matrix is one formula, which is not stored.

    See Also
    --------
    RBFKernel, MaternKernel

    Examples
    --------
    >>> import torch
    >>> from tilefold.gpytorch import ArcKernel, RBFKernel
    >>> x = torch.zeros(3, 2)
    >>> ArcKernel(RBFKernel(), ard_num_dims=2)(x).shape
    torch.Size([3, 3])
    """


def _in_a_row(value: Tensor) -> Tensor:
    """(…, Q, 1, D) as (…, 1, Q·D)."""
    return value.flatten(-3, -1).unsqueeze(-2)


def _component(name: str, place: int, size: int) -> str:
    """A component of a parameter; of one component it is a number."""
    return f"{name}[{place}]" if size > 1 else name
