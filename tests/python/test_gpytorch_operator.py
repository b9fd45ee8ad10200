# tests/python/test_gpytorch_operator.py - the operator of a pair term against
# linear_operator's own cases, and derivatives of any order.

import unittest

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("gpytorch")
pytest.importorskip("linear_operator")

from linear_operator.test.linear_operator_test_case import (  # noqa: E402
    LinearOperatorTestCase,
    RectangularLinearOperatorTestCase,
)

from tilefold.gpytorch import KernelOperator  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

TEXT = "s*exp(-|(x_i - y_j)/l|²/2)"


def matern(x, y, length, scale):
    """The operator of TEXT."""
    return KernelOperator(
        x,
        y,
        length,
        scale,
        text=TEXT,
        names=("x", "y", "l", "s"),
        roles="ijpp",
    )


def dense(operator):
    """The same matrix by PyTorch."""
    x, y, length, scale = operator._args
    away = (x.unsqueeze(-2) - y.unsqueeze(-3)) / length.unsqueeze(-2)
    return scale * torch.exp(-away.square().sum(-1) / 2)


def square_points(*batch):
    """Points so far apart that the matrix is well conditioned."""
    generator = torch.Generator().manual_seed(3)
    x = 1.5 * torch.arange(6.0)[:, None].expand(*batch, 6, 2)
    return x + 0.3 * torch.rand(*batch, 6, 2, generator=generator)


class Square:
    """A square matrix in some batches; its logdet is away from 0."""

    batch = ()
    seed = 0
    should_test_sample = True

    def create_linear_op(self):
        x = square_points(*self.batch).requires_grad_(True)
        # One tensor, on both axes: gradients by both places are added up.
        length = torch.tensor([[1.0, 1.3]]).expand(*self.batch, 1, 2).clone()
        scale = torch.full((*self.batch, 1, 1), 1.7)
        return matern(
            x,
            x,
            length.requires_grad_(True),
            scale.requires_grad_(True),
        )

    def evaluate_linear_op(self, linear_op):
        return dense(linear_op)


class Rectangle:
    """Five rows and three columns in some batches."""

    batch = ()
    seed = 1

    def create_linear_op(self):
        generator = torch.Generator().manual_seed(5)
        x = torch.rand(*self.batch, 5, 2, generator=generator)
        y = torch.rand(*self.batch, 3, 2, generator=generator)
        length = torch.full((1, 2), 0.7)
        scale = torch.full((1, 1), 1.7)
        return matern(
            *(part.requires_grad_(True) for part in (x, y, length, scale))
        )

    def evaluate_linear_op(self, linear_op):
        return dense(linear_op)


class TestSquare(Square, LinearOperatorTestCase, unittest.TestCase):
    pass


class TestSquareBatch(Square, LinearOperatorTestCase, unittest.TestCase):
    batch = (3,)


class TestSquareBatches(Square, LinearOperatorTestCase, unittest.TestCase):
    batch = (2, 3)


class TestRectangle(
    Rectangle, RectangularLinearOperatorTestCase, unittest.TestCase
):
    pass


class TestRectangleBatch(
    Rectangle, RectangularLinearOperatorTestCase, unittest.TestCase
):
    batch = (3,)


class TestRectangleBatches(
    Rectangle, RectangularLinearOperatorTestCase, unittest.TestCase
):
    batch = (2, 3)
