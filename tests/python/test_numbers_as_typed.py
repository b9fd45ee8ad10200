# tests/python/test_numbers_as_typed.py - messages repeat the numbers of a
# formula as they were typed.
from __future__ import annotations

import numpy as np
import pytest

import tilefold

X, Y, B = np.ones((5, 3)), np.ones((4, 3)), np.ones(5)

CASES = {
    "argkmin_j(|x_i - y_j|, 1e4)": "'argkmin_j' asks for 1e4 elements",
    "argkmin_j(|x_i - y_j|, 0.0)": "'argkmin_j' asks for 0.0 elements",
    "argkmin_j(|x_i - y_j|, 12345678901234567890)": (
        "'argkmin_j' asks for 12345678901234567890 elements"
    ),
    "argkmin_j(|x_i - y_j|, 2.50)": "not '2.50'",
    "sum_j (n_j - 12345678901234567890)": (
        "the whole number 12345678901234567890 beside integers"
    ),
    "sum_j (n_j + 1e17)": "the whole number 1e17 beside integers",
    "sum_j polygamma(0.10, b_j)": "the order of polygamma is 0.10;",
    "sum_j polygamma(-1e0, b_j)": "the order of polygamma is -1e0;",
    "sum_j b_j arange(1e5)[0]": "a vector of 1e5 components",
    "sum_j sum(repeat(b_j, k)) with k = 1e5": "a vector of 1e5 components",
    "sum_j sum(pad(y_j, 1e1, 5e0))": "from 1e1 on among 5e0",
    "sum_j sum(kron(y_j, y_j, [3, 1e1], [3]))": "the shapes [3, 1e1] and [3]",
    "sum_j sum(tensordot(y_j, y_j, [3.0], [3], [1.0], [0]))": (
        "the axes [1.0] of [3.0] and [0] of [3]"
    ),
    "sum_j sum(kron(y_j, y_j, 4.0, 3))": "kron of the shape 4.0",
    "quantile_j(b_j, 1.50)": "the level of quantile_j is 1.50",
}


@pytest.mark.parametrize("text", CASES)
def test_a_message_has_the_number_as_typed(text):
    given = {"x": X, "y": Y, "b": B, "n": np.arange(5)}
    names = [name for name, _ in tilefold.compile(text).names]
    with pytest.raises(tilefold.Error) as caught:
        tilefold.reduce(text, {name: given[name] for name in names})
    assert CASES[text] in str(caught.value)


def test_a_number_of_another_notation_is_told_as_one():
    """What is typed as ½ or x² is no number that a formula could repeat."""
    told = tilefold.explain("sum_j (1e3*x_j² + 0.10 + ½)", x=B)
    assert "sum_j⟨(((1e3 * x_j^2) + 0.10) + 0.5)⟩" in told


def test_a_rule_has_its_own_number():
    with pytest.raises(tilefold.Error, match=r"asks for 2e3 elements"):
        tilefold.reduce("kmax_j(b_j, 2e3)", b=B)
