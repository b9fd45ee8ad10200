# examples/gallery/geometry/plot_registration.py - a horse laid on another.
r"""A horse laid on another: gradients and compiled loops of JAX
============================================================

Which affine map :math:`T` lays a cloud of points on another, if nobody says
which point belongs to which? The one with the least energy distance between
them:

.. math::

   E(T) = \frac{1}{NM} \sum_{ij} |T x_i - y_j|
        - \frac{1}{2N^2} \sum_{ij} |T x_i - T x_j|
        - \frac{1}{2M^2} \sum_{ij} |y_i - y_j|

Formulas are primitives of JAX: ``grad`` and ``jit`` take them, and the whole
descent is one program. Of 6,000 and 5,000 points, jax.numpy would keep matrices
of 264 MB at each step, and as much again for the gradient.
"""

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from skimage import data

import tilefold.jax

# %%
# Points drawn from the silhouette of a horse, and others, turned and stretched.

random = np.random.default_rng(0)
rows, columns = np.nonzero(~data.horse())
pixels = np.stack([columns, -rows], 1) / 200
pixels -= pixels.mean(0)
x, y = (
    random.permutation(pixels)[:n] + random.uniform(-1, 1, (n, 2)) / 400
    for n in (6000, 5000)
)
true = np.array([[0.8, -0.7], [0.5, 1.1]])
y = y @ true.T + [0.3, -0.2]
x, y = jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32)

between = tilefold.compile("sum_ij |x_i - y_j|/(N*M)")
within = tilefold.compile("sum_ij |x_i - x_j|/(2*N²)")
spread = within(x=y)


def distance(T):
    """The energy distance of the moved points from y."""
    moved = x @ T[:, :2].T + T[:, 2]
    return between(x=moved, y=y) - within(x=moved) - spread


def dense(T):
    """The same with matrices."""

    def apart(a, b):
        return jnp.sqrt(((a[:, None] - b) ** 2).sum(-1) + 1e-12)

    moved = x[:500] @ T[:, :2].T + T[:, 2]
    return apart(moved, y[:400]).mean() - apart(moved, moved).mean() / 2


# %%
# The gradient of a part of the points by both.


def part(T):
    moved = x[:500] @ T[:, :2].T + T[:, 2]
    return between(x=moved, y=y[:400]) - within(x=moved)


T = jnp.eye(2, 3)
np.testing.assert_allclose(jax.grad(part)(T), jax.grad(dense)(T), atol=1e-4)

# %%
# Adam, unrolled by ``lax.scan``: 150 steps in one call.


@jax.jit
def descend(T):
    """The map, and the distance at each step."""

    def step(state, k):
        T, m, v = state
        value, g = jax.value_and_grad(distance)(T)
        m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g**2
        scale = jnp.sqrt(v / (1 - 0.99**k)) + 1e-8
        rate = 0.05 * (1 - k / 151)
        return (T - rate * m / (1 - 0.9**k) / scale, m, v), value

    start = T, jnp.zeros_like(T), jnp.zeros_like(T)
    (T, _, _), values = jax.lax.scan(step, start, jnp.arange(1, 151))
    return T, values


T, values = descend(T)
print(np.round(T, 2))
assert np.abs(T[:, :2] - true).max() < 0.05

# %%
# The horse before and after, on the one that was turned and stretched.

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
moved = x @ T[:, :2].T + T[:, 2]
for axis, points, title in (
    (axes[0], x, "before"),
    (axes[1], moved, "after 150 steps"),
):
    axis.plot(*y.T, ".", color="#e69f00", ms=1.5, label="given")
    axis.plot(*points.T, ".", color="#0072b2", ms=1, label="moved")
    axis.set(xlim=(-1.9, 2.1), ylim=(-1.7, 1.5), aspect=1, xticks=[], yticks=[])
    axis.set_title(title)
axes[0].legend(loc="upper right", markerscale=6)
axes[2].semilogy(values, color="black")
axes[2].set(xlabel="step", title="energy distance")
plt.show()
