# examples/gallery/statistics/plot_dependence.py - which variables depend.
r"""Which measurements depend on each other, straight or not
========================================================

Correlation sees lines. The Hilbert–Schmidt criterion sees any dependence of two
variables, from all pairs of rows of both (Gretton et al. 2005), and beside its
largest value it is a number from 0 to 1:

.. math::

   h_{ab} = \frac{1}{N^2} \sum_{ij} \tilde{K}^a_{ij} \tilde{K}^b_{ij}, \qquad
   c_{ab} = \frac{h_{ab}}{\sqrt{h_{aa} h_{bb}}}

where :math:`\tilde{K}^a` is the kernel of one variable, less the means of its
rows and columns. All pairs of six variables of 1,461 days of weather are one
reduction, whose terms are outer products of six numbers. NumPy would hold six
matrices, 102 MB, and of a century of hours 37 TB.
"""

import matplotlib.pyplot as plt
import numpy as np
from vega_datasets import data

import tilefold

table = data.seattle_weather()
columns = {
    "day of the year": table.date.dt.day_of_year,
    "year": table.date.dt.year,
    "rain": np.log1p(table.precipitation),
    "warmest": table.temp_max,
    "coldest": table.temp_min,
    "wind": table.wind,
}
names, D = list(columns), len(columns)
x = np.stack([np.asarray(column, float) for column in columns.values()], 1)
x = (x - x.mean(0)) / x.std(0)

# %%
# A function of two vectors works on their components: one kernel for each
# variable. First the means of the rows, (1461, 6), then the criterion, a vector
# of 36 numbers.

kernels = "k = exp(-(x_i - x_j)*(x_i - x_j)/2)"
mean = tilefold.reduce(f"mean_j k with {kernels}", x=x)
h = tilefold.reduce(
    f"mean_ij outer(c, c) with {kernels}, c = k - m_i - m_j + a",
    x=x,
    m=mean,
    a=mean.mean(0),
).reshape(D, D)
c = h / np.sqrt(np.outer(h.diagonal(), h.diagonal()))

# %%
# The same of the first two with matrices.


def centred(v):
    """The kernel of one variable, less its means."""
    K = np.exp(-((v[:, None] - v) ** 2) / 2)
    return K - K.mean(0) - K.mean(1)[:, None] + K.mean()


A, B = centred(x[:, 0]), centred(x[:, 1])
assert np.isclose(h[0, 1], (A * B).mean())

# %%
# Random numbers tell what is by chance: a variable that was shuffled depends on
# nothing. The largest of six is far below what is drawn.

random = np.random.default_rng(0)
y = random.permuted(x, axis=0)
other = tilefold.reduce(f"mean_j k with {kernels}", x=y)
chance = tilefold.reduce(
    "mean_ij (p*q) with k(u) = exp(-u*u/2),"
    " p = k(x_i - x_j) - m_i - m_j + a, q = k(y_i - y_j) - n_i - n_j + b",
    x=x, y=y, m=mean, n=other, a=mean.mean(0), b=other.mean(0),
)  # fmt: skip
chance /= h.diagonal()
print(f"by chance at most {chance.max():.3f}")
assert chance.max() < 0.05

# %%
# No straight line tells the temperature by the day of the year, and yet the two
# depend on each other more than rain and wind do.

correlation = np.abs(np.corrcoef(x.T))
assert correlation[0, 3] < 0.2 < c[0, 3]

figure, axes = plt.subplots(1, 2, figsize=(9.4, 4.6), layout="constrained")
for axis, values, title in (
    (axes[0], correlation, "correlation, without its sign"),
    (axes[1], c, "dependence by all pairs"),
):
    axis.imshow(values, cmap="cividis", vmin=0, vmax=1)
    axis.set_title(title)
    axis.set_xticks(range(D), names, rotation=40, ha="right")
    axis.set_yticks(range(D), names if axis is axes[0] else [""] * D)
    for (row, column), value in np.ndenumerate(values):
        colour = "black" if value > 0.5 else "white"
        axis.text(column, row, f"{value:.2f}", ha="center", va="center",
                  color=colour, fontsize=9)  # fmt: skip
plt.show()
