# examples/gallery/physics/plot_poisson_spot.py - a bright spot in a shadow.
r"""Poisson's spot: light in the middle of a shadow, by complex sums
================================================================

Light that a disc stops is light that the disc would have sent. So the wave
behind it is the free one less that of its points :math:`a`, each a source
(Rayleigh and Sommerfeld; Babinet):

.. math::

   u(r) = 1 - \frac{1}{2\pi} \int_{\text{disc}}
          \left(\frac{1}{\rho} - \mathrm{i}k\right) \frac{z}{\rho^2}\,
          e^{\mathrm{i}k(\rho - z)}\, da,
   \qquad \rho = \sqrt{|r - a|^2 + z^2}

Poisson thought it absurd that the middle of the shadow should be bright. Arago
tried, and it was. A quarter of the screen has 8,100 points, the disc 70,681
sources: 573 million pairs, 9.2 GB of complex numbers.
"""

import matplotlib.pyplot as plt
import numpy as np

import tilefold

# %%
# Lengths are in radii of the disc. At a distance of 100 of them, and with waves
# of 1/400 of one, the middle is four half-wave zones inside the rim.

wavelength, z = 2.5e-3, 100.0
k = 2 * np.pi / wavelength
step = 1 / 150
grid = np.arange(-1 + step / 2, 1, step)
a = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
a = a[(a**2).sum(1) < 1]

formula = tilefold.compile(
    """1 - (sum_j (1/ρ - im*k)*z/ρ² * exp(im*k*(ρ - z)))*s/2π with
    ρ = √(|r_i - a_j|² + z²)"""
)


def wave(r):
    """The complex amplitude at points r (N, 2) of the screen."""
    return formula(r=r, a=a, k=k, z=z, s=np.pi / len(a))


# %%
# On the axis the integral can be done: the spot is as bright as if nothing were
# in the way, but for :math:`z^2/(1 + z^2)`. A point beside it is added up by
# NumPy.

spot = abs(wave(np.zeros((1, 2)))[0]) ** 2
assert np.isclose(spot, z**2 / (1 + z**2), rtol=0.02)
beside = np.array([0.3, 0.4])
ρ = np.sqrt(((beside - a) ** 2).sum(1) + z**2)
terms = (1 / ρ - 1j * k) * z / ρ**2 * np.exp(1j * k * (ρ - z))
by_hand = 1 - terms.sum() * np.pi / len(a) / (2 * np.pi)
np.testing.assert_allclose(wave(beside[None])[0], by_hand, rtol=1e-7)
print(f"the spot has {spot:.1%} of the light's brightness")

# %%
# The screen is the same in all four quarters.

side = np.linspace(0, 1.6, 90)
quarter = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
light = (abs(wave(quarter)) ** 2).reshape(90, 90)
light = np.concatenate([light[:0:-1], light])
light = np.concatenate([light[:, :0:-1], light], 1)

figure, axes = plt.subplots(
    1, 2, figsize=(9, 4), layout="constrained", width_ratios=[1, 1.15]
)
axes[0].imshow(light, cmap="gray", extent=(-1.6, 1.6) * 2)
axes[0].set(xlabel="radii of the disc", ylabel="radii of the disc")
axes[0].set_title("the screen")
line = np.linspace(-1.6, 1.6, 801)
across = abs(wave(np.stack([line, 0 * line], 1))) ** 2
axes[1].plot(line, across, color="#0072b2", lw=1)
axes[1].axvspan(-1, 1, color="0.9", label="shadow of rays")
axes[1].set(xlabel="radii of the disc", ylabel="brightness", xlim=(-1.6, 1.6))
axes[1].set_ylim(0, 1.7)
axes[1].legend(loc="upper center")
axes[1].set_title("across the middle")
plt.show()
