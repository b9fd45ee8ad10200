# examples/gallery/statistics/plot_penguins.py - whether penguins differ.
r"""Do penguins differ? A test with random numbers in the formula
=============================================================

Pairs of penguins :math:`(x_i, y_i)`, one of each kind. How far apart the kinds
are is a sum over all pairs of pairs (Gretton et al. 2012):

.. math::

   D_s = \frac{1}{N^2} \sum_{ij} s_i s_j
         \big(k(x_i, x_j) + k(y_i, y_j) - k(x_i, y_j) - k(y_i, x_j)\big)

with all signs :math:`s = 1`. If the kinds are alike, x and y of a pair can be
exchanged: random signs tell how large D is by chance. Random numbers are part
of the language. ``rand(seed, i, 0)`` depends on nothing else, so that signs are
the same in every tile and on every machine, and 2,000 seeds are one call.
Arrays of the signed terms would take 31 MB for 44 pairs, and for 10,000 pairs
1.6 TB.
"""

import matplotlib.pyplot as plt
import numpy as np
from palmerpenguins import load_penguins

import tilefold

table = load_penguins().dropna()
adelie = table[table.species == "Adelie"]
measured = table.columns[2:6]
deviation = table[measured].std()


def sample(rows):
    """44 penguins of a table, (44, 4), each measure beside its deviation."""
    chosen = rows[measured].sample(44, random_state=0) / deviation
    return np.ascontiguousarray(chosen)


dream, biscoe, chinstrap = (
    sample(rows)
    for rows in (
        adelie[adelie.island == "Dream"],
        adelie[adelie.island == "Biscoe"],
        table[table.species == "Chinstrap"],
    )
)

# %%
# Seed 0 stands for no signs at all.

discrepancy = tilefold.compile(
    """mean_ij a(i) a(j) (k(x_i, x_j) + k(y_i, y_j) - k(x_i, y_j) - k(y_i, x_j))
    with k(u, v) = exp(-|u - v|²/2),
    a(n) = where(q == 0 or rand(q, n, 0) < 0.5, 1, -1)"""
)
seeds = np.arange(2001)[:, None, None]


def test(x, y):
    """The discrepancy, those by chance (2000,), and the p-value."""
    found, *chance = discrepancy(x=x, y=y, q=seeds).ravel()
    return found, chance, np.mean(np.array([found, *chance]) >= found)


# %%
# The sum itself by NumPy.


def k(u, v):
    return np.exp(-((u[:, None] - v) ** 2).sum(-1) / 2).mean()


cases = {"of two islands": biscoe, "and Chinstraps": chinstrap}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
values = []
for axis, (name, other) in zip(axes, cases.items(), strict=True):
    found, chance, p = test(dream, other)
    dense = k(dream, dream) + k(other, other) - 2 * k(dream, other)
    assert np.isclose(found, dense)
    values.append(p)
    axis.hist(chance, 40, color="#56b4e9", label="by random signs")
    axis.axvline(found, color="#d55e00", lw=2, label="found")
    axis.set(xlabel="discrepancy", yticks=[])
    axis.set_title(f"Adélies {name}: p = {p:.4f}")
axes[0].legend()

# %%
# Adélies are the same on both islands, as far as 44 of each can tell.

assert values[0] > 0.02
assert values[1] < 0.001
plt.show()
