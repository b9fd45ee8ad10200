# examples/gallery/physics/plot_galaxies.py - two galaxies that meet.
r"""Two galaxies that meet: gravity, stepped in place
=================================================

Each of 4,000 stars is pulled by all the others, softened at short distances:

.. math::

   a_i = \sum_j m_j \frac{x_j - x_i}{(|x_j - x_i|^2 + \varepsilon^2)^{3/2}}

and moved by the leapfrog scheme. The forces of all pairs as an array would be
384 MB, written and read at each of 450 steps. A formula *bound* to its arrays
reads them where they are and writes into the same result each time: nothing is
allocated in the loop.
"""

import matplotlib.pyplot as plt
import numpy as np

import tilefold

# %%
# A galaxy is a heavy core with stars on circles around it.

random = np.random.default_rng(4)


def galaxy(count, place, velocity, tilt):
    """Positions and velocities (N, 3) of a disk of mass 1, core first."""
    radius = np.sqrt(random.uniform(0.15, 1, count)) * (np.arange(count) > 0)
    angle = random.uniform(0, 2 * np.pi, count)
    c, s, zero = np.cos(angle), np.sin(angle), np.zeros(count)
    speed = np.sqrt(1 / np.maximum(radius, 0.1)) * (radius > 0)
    turn = np.array(
        [
            [1, 0, 0],
            [0, np.cos(tilt), -np.sin(tilt)],
            [0, np.sin(tilt), np.cos(tilt)],
        ]
    )
    x = np.stack([radius * c, radius * s, zero], 1) @ turn.T + place
    v = np.stack([-speed * s, speed * c, zero], 1) @ turn.T + velocity
    return x, v


half = 2000
one = galaxy(half, [-1.6, -0.9, 0], [0.55, 0.1, 0], 0.3)
two = galaxy(half, [1.6, 0.9, 0], [-0.55, -0.1, 0], -0.9)
x, v = (np.concatenate(pair) for pair in zip(one, two, strict=True))
m = np.full(2 * half, 0.1 / half)
m[[0, half]] = 0.9

# %%
# The force is compiled, checked and cut into pieces once. ``force()`` computes
# it from what ``x`` holds by then.

formula = tilefold.compile("sum_j m_j (x_j - x_i)*rsqrt(|x_j - x_i|² + ε²)^3")
force = formula.bind(x=x, m=m, ε=0.1, out=np.empty_like(x))
d = x - x[7]
by_hand = (m / ((d**2).sum(1) + 0.01) ** 1.5) @ d
np.testing.assert_allclose(force()[7], by_hand, rtol=1e-10)

potential = tilefold.compile(
    "-sum_ij where(i < j, m_i m_j/√(|x_i - x_j|² + ε²), 0)"
)


def energy():
    """Kinetic and potential."""
    return m @ (v**2).sum(1) / 2 + potential(x=x, m=m, ε=0.1)


# %%
# Leapfrog keeps the energy, whatever happens to the stars.

dt, steps = 0.01, 150
before, moments = energy(), [x.copy()]
force()
for _ in range(3):
    for _ in range(steps):
        v += dt / 2 * force.out
        x += dt * v
        v += dt / 2 * force()
    moments.append(x.copy())
print(f"the energy is off by {energy() / before - 1:.1e}")
assert abs(energy() / before - 1) < 5e-3

# %%
# Tides draw out bridges and tails.

figure, axes = plt.subplots(1, 4, figsize=(10, 2.9), layout="constrained")
for k, (axis, at) in enumerate(zip(axes, moments, strict=True)):
    axis.set_facecolor("black")
    for stars, colour in ((at[:half], "#56b4e9"), (at[half:], "#e69f00")):
        axis.plot(*stars[:, :2].T, ".", color=colour, ms=0.7)
        axis.plot(*stars[0, :2], "o", color="white", ms=3)
    axis.set(xlim=(-3, 3), ylim=(-3, 3), aspect=1, xticks=[], yticks=[])
    axis.set_title(f"time {k * steps * dt:.1f}", fontsize=10)
plt.show()
