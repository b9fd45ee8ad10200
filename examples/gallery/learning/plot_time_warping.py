# examples/gallery/learning/plot_time_warping.py - series that run late.
r"""Series that run late: nearest neighbours by soft time warping
=============================================================

Readings of an instrument of a nuclear power station, in four kinds of events
that begin at different times. Euclid's distance compares them moment by moment;
time warping takes the cheapest ways :math:`A` to walk through both (Cuturi and
Blondel 2017):

.. math::

   d_\gamma(x, y) = -\gamma \log \sum_A
                    e^{-\langle A, (x_s - y_t)^2 \rangle/\gamma}

The sum over all ways is a recursion that the formula runs through for each
pair. Array code makes the costs of all pairs first, 15 × 15 moments for each:
18 MB here, and of 100,000 series against as many 18 TB.
"""

import matplotlib.pyplot as plt
import numpy as np
from tslearn.datasets import CachedDatasets

import tilefold

# %%
# A hundred series to learn from and a hundred to be told, of 275 moments each.

x, kind, y, truth = CachedDatasets().load_dataset("Trace")


def means(series):
    """The means (N, 15) of each 18 moments."""
    return series[:, 5:, 0].reshape(len(series), 15, 18).mean(2)


u, v = means(y), means(x)

# %%
# Two lazy matrices, of which the nearest is asked.

warped = tilefold.kernel("softdtw(x_i, y_j, γ)", x=u, y=v, γ=1e-3)
straight = tilefold.kernel("|x_i - y_j|²", x=u, y=v)
right = {}
for name, distance in ("Euclid's", straight), ("warped", warped):
    right[name] = np.mean(kind[distance.argmin(1)] == truth)
    print(f"by the {name} distance {right[name]:.0%} are told right")
assert right["warped"] > right["Euclid's"] + 0.05

# %%
# The recursion in Python, for one pair.


def soft_dtw(a, b, γ):
    """Of two series, cell by cell."""
    R = np.full((len(a) + 1, len(b) + 1), np.inf)
    R[0, 0] = 0
    for s in range(len(a)):
        for t in range(len(b)):
            before = -np.array([R[s, t], R[s, t + 1], R[s + 1, t]]) / γ
            least = -γ * np.logaddexp.reduce(before)
            R[s + 1, t + 1] = (a[s] - b[t]) ** 2 + least
    return R[-1, -1]


assert np.isclose(warped[3, 5], soft_dtw(u[3], v[5], 1e-3), atol=1e-6)

# %%
# Series that only the warped distance tells right, with what it found nearest.

one, two = (kind[d.argmin(1)] for d in (straight, warped))
cases = np.flatnonzero((one != truth) & (two == truth))[:3]
figure, axes = plt.subplots(1, 3, figsize=(9, 2.9), layout="constrained")
for axis, k in zip(axes, cases, strict=True):
    axis.plot(y[k, :, 0], color="black", label="to be told")
    axis.plot(x[warped.argmin(1)[k], :, 0], color="#0072b2", label="by warping")
    axis.plot(
        x[straight.argmin(1)[k], :, 0],
        color="#e69f00",
        ls="--",
        label="by Euclid",
    )
    axis.set_xlabel("moment")
axes[0].set_ylabel("reading")
axes[0].legend(fontsize=8)
figure.suptitle("What is nearest to a series")
plt.show()
