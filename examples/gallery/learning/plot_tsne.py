# examples/gallery/learning/plot_tsne.py - exact t-SNE of handwritten digits.
r"""Exact t-SNE: a map of digits, without trees and without matrices
================================================================

Points :math:`y` in the plane are to have the neighbours that scans :math:`x` of
64 pixels have (van der Maaten and Hinton 2008):

.. math::

   p_{j|i} = \frac{e^{-b_i |x_i - x_j|^2}}{z_i}, \quad
   p_{ij} = \frac{p_{j|i} + p_{i|j}}{2N}, \quad
   q_{ij} = \frac{(1 + |y_i - y_j|^2)^{-1}}{Z}

The gradient of their divergence is a sum over all pairs, which libraries
approximate by trees since it is slow, or takes memory: three matrices of 1,797²
are 77 MB, and of 70,000 digits 118 GB. Here :math:`p` is computed anew from the
scans whenever it is needed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import tilefold

x, digit = load_digits(return_X_y=True)
x = np.float32(x / 16)
N = len(x)

# %%
# Each scan has the width at which its neighbours are worth 30: the entropy of
# :math:`p_{j|i}` is log 30. Widths are halved in, all scans at once.

entropy = tilefold.compile(
    """logsumexp_j(s) + b_i*softmax_j(s, |x_i - x_j|²) with
    s = where(i ≠ j, -b_i |x_i - x_j|², -inf)"""
)
low, high = np.full(N, 1e-3, "f4"), np.full(N, 1e3, "f4")
for _ in range(25):
    b = np.sqrt(low * high)
    wide = entropy(x=x, b=b) > np.log(30)
    low, high = np.where(wide, b, low), np.where(wide, high, b)
z = tilefold.reduce(
    "logsumexp_j(where(i ≠ j, -b_i |x_i - x_j|², -inf))", x=x, b=b
)

# %%
# The gradient: neighbours pull, weighted by how much they are exaggerated, and
# all push.

P = "(exp(-b_i*d - z_i) + exp(-b_j*d - z_j))/(2*N)"
pull = tilefold.compile(
    f"sum_j where(i ≠ j, {P}, 0)*(y_i - y_j)/(1 + |y_i - y_j|²)"
    " with d = |x_i - x_j|²"
)
push = tilefold.compile(
    """(sum_j (y_i - y_j)/(1 + |y_i - y_j|²)²)
    / (sum_ij [i ≠ j]/(1 + |y_i - y_j|²))"""
)


def gradient(y, exaggeration=1):
    """Of the divergence by the map y (N, 2)."""
    pulled = pull(x=x, y=y, b=b, z=z)
    return 4 * (exaggeration * pulled - push(y=y))


# %%
# Gradient descent with momentum, from the two principal components.

y = PCA(2, random_state=0).fit_transform(x)
y = np.float32(1e-2 * y / y.std())
speed, gain = np.zeros_like(y), np.ones_like(y)
for step in range(400):
    g = gradient(y, exaggeration=12 if step < 120 else 1)
    gain = np.where(g * speed < 0, gain + 0.2, np.maximum(gain * 0.8, 0.05))
    speed = (0.5 if step < 120 else 0.8) * speed - 150 * gain * g
    y = y + speed

# %%
# The gradient of one point with NumPy, and how many points have a neighbour of
# their own kind on the map.

k = 7
d, e = ((x - x[k]) ** 2).sum(1, dtype=float), ((y - y[k]) ** 2).sum(1)
p = (np.exp(-b[k] * d - z[k]) + np.exp(-b * d - z)) / (2 * N)
Z = tilefold.reduce("sum_ij [i ≠ j]/(1 + |y_i - y_j|²)", y=y)
force = (p / (1 + e) - 1 / (1 + e) ** 2 / Z) @ (y[k] - y)
np.testing.assert_allclose(gradient(y)[k], 4 * force, rtol=1e-2, atol=1e-8)

nearest = tilefold.reduce("argmin_j where(i == j, inf, |y_i - y_j|²)", y=y)
share = np.mean(digit[nearest] == digit)
print(f"{share:.1%} of digits lie beside one of their kind")
assert share > 0.97

figure, axis = plt.subplots(figsize=(6.4, 5.6), layout="constrained")
dots = axis.scatter(*y.T, c=digit, cmap="tab10", s=5, vmin=-0.5, vmax=9.5)
for k in range(10):
    middle = np.median(y[digit == k], axis=0)
    axis.text(*middle, str(k), fontsize=16, weight="bold", ha="center",
              va="center", bbox={"fc": "white", "ec": "none", "alpha": 0.7,
                                 "boxstyle": "circle,pad=0.1"})  # fmt: skip
axis.set(xticks=[], yticks=[], aspect=1)
axis.set_title("1,797 handwritten digits by exact t-SNE")
plt.show()
