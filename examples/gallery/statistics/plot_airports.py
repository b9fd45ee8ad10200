# examples/gallery/statistics/plot_airports.py - a density on the sphere.
r"""Where the airports are: a density on the sphere
===============================================

The density of 3,290 airports, by a kernel of the angle between two places as
seen from the centre of the Earth (Fisher 1953):

.. math::

   f(u) = \frac{1}{N} \sum_j c_h \exp\frac{u \cdot v_j - 1}{h^2}, \qquad
   \frac{1}{c_h} = 2\pi h^2 \left(1 - e^{-2/h^2}\right)

The bandwidth is the one under which airports that are left out are likeliest,
and the map is scikit-learn's density estimator with this formula for its
kernel. It has 81,000 pixels: their matrix would take 2.1 GB.
"""

import matplotlib.pyplot as plt
import numpy as np
from vega_datasets import data

import tilefold
from tilefold.sklearn import KernelDensity

airports = data.airports()
longitude, latitude = (
    airports.longitude.to_numpy(),
    airports.latitude.to_numpy(),
)
inside = (
    (longitude > -128) & (longitude < -65) & (latitude > 23) & (latitude < 51)
)
longitude, latitude = longitude[inside], latitude[inside]


def direction(longitude, latitude):
    """Unit vectors (…, 3) to places given in degrees."""
    a, b = np.deg2rad(longitude), np.deg2rad(latitude)
    parts = np.cos(a) * np.cos(b), np.sin(a) * np.cos(b), np.sin(b)
    return np.stack(parts, -1)


v = direction(longitude, latitude)

# %%
# The mean logarithm of the density at each airport by all others. A parameter
# may have a batch of values, so that forty bandwidths are one call.

left_out = tilefold.compile(
    """-log(N - 1) - log(2π h² (1 - exp(-2/h²)))
    + (mean_i logsumexp_j(where(i ≠ j, (v_i·v_j - 1)/h², -inf)))"""
)
widths = np.deg2rad(np.geomspace(0.2, 5, 40))
likelihood = left_out(v=v, h=widths[:, None, None]).ravel()
h = widths[likelihood.argmax()]
print(f"the bandwidth is {np.rad2deg(h):.2f}°, or {6371 * h:.0f} km")

# %%
# NumPy, with the whole matrix, at this bandwidth.

K = (v @ v.T - 1) / h**2
np.fill_diagonal(K, -np.inf)
c = 1 / (2 * np.pi * h**2 * (1 - np.exp(-2 / h**2)))
dense = np.log(c * np.exp(K).sum(1) / (len(v) - 1)).mean()
assert np.isclose(likelihood.max(), dense)

# %%
# What a formula gives is taken for the density around one point.

model = KernelDensity(
    kernel="exp((x_i·y_j - 1)/h²)/(2π h² (1 - exp(-2/h²)))", bandwidth=h
).fit(v)
east, north = np.meshgrid(
    np.linspace(-127, -66, 360), np.linspace(23.5, 50.5, 225)
)
density = model.score_samples(direction(east, north).reshape(-1, 3))
density = len(v) * np.exp(density.reshape(east.shape)) / 6371**2 * 1e4

figure, axis = plt.subplots(figsize=(8, 4.4), layout="constrained")
levels = axis.contourf(
    east, north, density, np.arange(0, 15.1, 1.5), cmap="cividis", extend="max"
)
axis.plot(longitude, latitude, ".", color="white", ms=1.2, alpha=0.5)
axis.set(xlim=(-127, -66), ylim=(23.5, 50.5), aspect=1.25)
axis.set(xlabel="longitude, °", ylabel="latitude, °")
axis.set_title("Airports of the United States")
figure.colorbar(levels, label="airports per 10,000 km²", shrink=0.8)
plt.show()
