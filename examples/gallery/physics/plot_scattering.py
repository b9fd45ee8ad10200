# examples/gallery/physics/plot_scattering.py - how powders scatter X-rays.
r"""Rings of a powder: scattering by all pairs of atoms
===================================================

Crystals of gold of a few nanometres, turned every way, scatter X-rays into
rings. How strong they are at wave vector q is Debye's sum (1915):

.. math::

   I(q) = \frac{1}{N} \sum_{ij} \frac{\sin(q r_{ij})}{q r_{ij}}

The smaller a crystal, the wider its rings. Wave vectors are a batch: of 959
atoms and 300 of them, NumPy would take 2.2 GB.
"""

import matplotlib.pyplot as plt
import numpy as np

import tilefold

# %%
# Balls cut out of gold, whose cubes of 4.078 Å have an atom at each corner and
# on each face.

cube = 4.078


def ball(radius):
    """Places (N, 3) of the atoms within a radius, in ångströms."""
    cells = np.arange(-6, 7)
    corners = np.stack(np.meshgrid(cells, cells, cells), -1).reshape(-1, 1, 3)
    basis = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]]) / 2
    x = cube * (corners + basis).reshape(-1, 3)
    return x[(x**2).sum(1) < radius**2]


intensity = tilefold.compile("(sum_ij sinxdivx(q*|x_i - x_j|))/N")
q = np.linspace(1.5, 7, 300)
crystals = {f"{2 * r / 10:.0f} nm": ball(r) for r in (5, 10, 16)}
curves = {
    name: intensity(x=x, q=q[:, None, None]).ravel()
    for name, x in crystals.items()
}

# %%
# NumPy, at one wave vector.

x = crystals["2 nm"]
r = np.linalg.norm(x[:, None] - x, axis=2)
assert np.isclose(
    curves["2 nm"][100], np.sinc(q[100] * r / np.pi).sum() / len(x)
)

# %%
# Bragg's law tells where the rings of an endless crystal are.

planes = {"111": 3, "200": 4, "220": 8, "311": 11, "400": 16}
bragg = {name: 2 * np.pi * np.sqrt(n) / cube for name, n in planes.items()}
largest = curves[list(curves)[-1]]
peak = q[largest.argmax()]
print(f"the strongest ring is at {peak:.2f}, by Bragg {bragg['111']:.2f} per Å")
assert abs(peak - bragg["111"]) < 0.03

figure, axis = plt.subplots(figsize=(8, 4.2), layout="constrained")
colours = ["#e69f00", "#56b4e9", "#0072b2"]
for k, (name, curve) in enumerate(curves.items()):
    axis.plot(q, curve / curve.max() + 0.8 * k, color=colours[k], lw=1.5)
    label = f"{name}, {len(crystals[name]):,} atoms"
    axis.text(3.72, 0.8 * k + 0.42, label, ha="center", color=colours[k])
for name, place in bragg.items():
    axis.axvline(place, color="0.8", lw=0.8, zorder=0)
    axis.text(place, 2.72, name, ha="center", va="bottom", fontsize=9)
axis.set(xlabel="wave vector, 1/Å", ylabel="intensity", yticks=[])
axis.set(xlim=(1.5, 7), ylim=(0, 2.7))
axis.set_title("X-rays scattered by balls of gold", pad=18)
plt.show()
