# examples/gallery/scale/plot_cars.py - ordinary cars and odd ones, by name.
r"""Ordinary cars and odd ones: tables of pandas in, tables out
===========================================================

Which car of the years 1970 to 1982 was most like all others, and which was like
none? With each of six properties measured by its spread, that is a density:

.. math::

   e_i = \frac{1}{N} \sum_j e^{-d_{ij}^2/2}, \qquad
   d_{ij}^2 = \sum_k \frac{(x_{ik} - x_{jk})^2}{\sigma_k^2}

Data frames go in as they are, and results have the names of their rows. The 389
cars would do with a matrix of 1.2 MB; a registry of ten million would need one
of 800 TB.
"""

import matplotlib.pyplot as plt
import numpy as np
from vega_datasets import data

import tilefold.pandas

# %%
# A frame of numbers, whose index are the names of the cars.

cars = data.cars().dropna()
cars.index = cars.Name.str.title() + " ’" + cars.Year.dt.strftime("%y")
cars = cars[~cars.index.duplicated()]
x = cars.select_dtypes("number")
spread = x.std().to_numpy()

# %%
# The result is a Series with the same index.

ordinary = tilefold.pandas.reduce(
    "mean_j exp(-|(x_i - x_j)/σ|²/2)", x=x, σ=spread
).sort_values()
print(ordinary.head(4), ordinary.tail(4), sep="\n\n")

# %%
# One car by pandas alone.

name = ordinary.index[0]
row = x.to_numpy()[x.index.get_loc(name)]
squares = (((x - row) / spread) ** 2).sum(axis=1)
assert np.isclose(ordinary.iloc[0], np.exp(-squares / 2).mean())

# %%
# The nearest other car of each is a Series of row numbers.

nearest = tilefold.pandas.reduce(
    "argmin_j where(i ≠ j, |(x_i - x_j)/σ|², inf)", x=x, σ=spread
)
shown = [*ordinary.index[:3], ordinary.index[-1]]
for name in shown:
    print(f"{name}: most like {x.index[nearest[name]]}")

figure, axis = plt.subplots(figsize=(8, 4.6), layout="constrained")
weight, use = x.Weight_in_lbs * 0.4536, 235.2 / x.Miles_per_Gallon
dots = axis.scatter(weight, use, c=ordinary[x.index], s=14, cmap="cividis")
for name, (right, up) in zip(
    shown, [(25, -8), (-110, -4), (30, -20), (-90, 40)], strict=True
):
    axis.annotate(
        name,
        (weight[name], use[name]),
        (right, up),
        textcoords="offset points",
        arrowprops={"arrowstyle": "-", "color": "0.4"},
    )
axis.set(xlabel="weight, kg", ylabel="litres for 100 km")
axis.set_title("Ordinary cars and odd ones, by six properties")
figure.colorbar(dots, label="density")
plt.show()
