# examples/gallery/statistics/plot_rain.py - the chance of rain, smoothed.
r"""The chance of rain, with the bandwidths that predict best
=========================================================

Does it rain in Seattle on a cool day in May? The share of days on which it
rained, each weighted by how near it is in season and in temperature (Nadaraya
1964, Watson 1964):

.. math::

   m_i = \frac{\sum_j w_{ij} r_j}{\sum_j w_{ij}}, \qquad
   w_{ij} = \exp\left(-\frac{|p_i - p_j|^2}{2 a^2}
                    - \frac{(t_i - t_j)^2}{2 b^2}\right)

where :math:`p` is a place on a circle that is the year. How near is near? The
bandwidths :math:`a` and :math:`b` are those by which a day is predicted best by
days at least a week away. The gradient of that error is a formula, too, and so
neither is stored: not the four matrices of 1,461² that NumPy would make, nor,
with a century of hours, those of 6 TB.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import approx_fprime, minimize
from vega_datasets import data

import tilefold

table = data.seattle_weather()
r = (table.precipitation > 0).to_numpy(float)
t = table.temp_max.to_numpy()


def circle(day):
    """Places (N, 2) on a circle of a circumference of 365.25 days."""
    angle = 2 * np.pi * day / 365.25
    return 365.25 / (2 * np.pi) * np.stack([np.cos(angle), np.sin(angle)], -1)


p = circle(table.date.dt.day_of_year.to_numpy())

# %%
# The mean square of what leaving weeks out misses, and its gradient.

error = tilefold.compile(
    """mean_i (r_i - softmax_j(where(abs(i - j) >= 7, s, -inf), r_j))² with
    s = -|p_i - p_j|²/2a² - (t_i - t_j)²/2b²"""
)
gradient = error.grad(["a", "b"], value=True)


def objective(logarithms):
    """The error at exp(logarithms), and its gradient by them."""
    a, b = np.exp(logarithms)
    value, by_a, by_b = gradient(p=p, r=r, t=t, a=a, b=b, grad=1)
    return float(value), np.array([by_a * a, by_b * b])


start = np.log([20, 2])
numeric = approx_fprime(start, lambda at: objective(at)[0], 1e-6)
np.testing.assert_allclose(objective(start)[1], numeric, rtol=1e-3)
found = minimize(objective, start, jac=True, method="BFGS")
a, b = np.exp(found.x)
print(
    f"{a:.1f} days and {b:.1f} °C: {found.fun:.4f}, by the mean {r.var():.4f}"
)
assert found.fun < objective(start)[0] < r.var()

# %%
# The chance on a grid of seasons and temperatures, and one place of it by hand.
# Where few days were like it, nothing is drawn.

day, warm = np.meshgrid(np.arange(366), np.arange(-2, 38.1, 0.5))
places = {"u": circle(day.ravel()), "v": warm.ravel()}
given = {**places, "p": p, "t": t, "a": a, "b": b}
like = "-|u_i - p_j|²/2a² - (v_i - t_j)²/2b²"
chance = tilefold.reduce(f"softmax_j({like}, r_j)", given, r=r)
days = tilefold.reduce(f"sum_j exp({like})", given)

k = 9000
w = np.exp(-((places["u"][k] - p) ** 2).sum(1) / (2 * a**2))
w *= np.exp(-((places["v"][k] - t) ** 2) / (2 * b**2))
np.testing.assert_allclose(chance[k], w @ r / w.sum(), rtol=1e-9)

figure, axis = plt.subplots(figsize=(8, 4.2), layout="constrained")
levels = axis.contourf(
    day,
    warm,
    np.where(days > 6, chance, np.nan).reshape(day.shape),
    np.arange(0, 1.01, 0.1),
    cmap="cividis_r",
)
rainy = r > 0
season = table.date.dt.day_of_year
axis.plot(season[~rainy], t[~rainy], ".", color="black", ms=2, label="dry")
axis.plot(season[rainy], t[rainy], ".", color="#56b4e9", ms=2, label="rain")
axis.set_xticks(np.arange(12) * 30.4 + 15, list("JFMAMJJASOND"))
axis.set(xlim=(0, 365), xlabel="month")
axis.set_ylabel("highest temperature of the day, °C")
axis.legend(loc="upper right", markerscale=4, framealpha=0.9)
axis.set_title("Rain in Seattle, 2012 to 2015")
figure.colorbar(levels, label="chance of rain")
plt.show()
