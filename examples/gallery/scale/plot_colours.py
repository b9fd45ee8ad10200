# examples/gallery/scale/plot_colours.py - the colours of photographs, in parts.
r"""The colours of 1.1 million pixels, in parts that Dask sends out
===============================================================

Which colours do five photographs have? The density of their pixels :math:`y` at
points :math:`x` of a plane, in which the angle is the hue and the radius how
strong it is:

.. math::

   f(x_i) = \frac{1}{M} \sum_j \frac{1}{2\pi h^2} e^{-|x_i - y_j|^2/2h^2}

The pixels lie in chunks, as they would in files or on other machines. A chunk
becomes a state of one number for each point, states are merged by a tree of
tasks, and the result has the bits of one call on all pixels. NumPy's matrix of
3,721 points and 1,128,724 pixels would take 16.8 GB in single precision.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import hsv_to_rgb
from skimage import data

import tilefold
import tilefold.dask

# %%
# Red, green and blue lie at the corners of a triangle.

pictures = [
    data.astronaut(),
    data.coffee(),
    data.chelsea(),
    data.rocket(),
    data.hubble_deep_field()[::2, ::2],
]
corners = np.exp(2j * np.pi * np.arange(3) / 3)
plane = np.stack([corners.real, corners.imag], 1).astype(np.float32)
y = np.concatenate([p.reshape(-1, 3) for p in pictures]) / np.float32(255)
y = y @ plane
print(f"{len(y):,} pixels")

# %%
# ``reduce`` makes a graph of tasks and computes nothing yet.

side = np.linspace(-1.1, 1.1, 61, dtype=np.float32)
x = np.stack(np.meshgrid(side, side), -1).reshape(-1, 2)
formula = "(sum_j exp(-|x_i - y_j|²/2h²))/(2π*h²*M)"
lazy = tilefold.dask.reduce(
    formula, x=x, y=da.from_array(y, chunks=(65536, -1)), h=0.025
)
density = lazy.compute(scheduler="threads", num_workers=2)

# %%
# The same bits as those of one call, and the same number as NumPy's.

options = tilefold.Options(segment=8192)
whole = tilefold.reduce(formula, x=x, y=y, h=0.025, options=options)
assert np.array_equal(density, whole)
k = density.argmax()
squares = ((x[k].astype(float) - y) ** 2).sum(1)
by_hand = np.exp(-squares / (2 * 0.025**2)).mean() / (2 * np.pi * 0.025**2)
assert np.isclose(density[k], by_hand, rtol=1e-4)

# %%
# Where there are more pixels the hue is fuller, on a scale of logarithms.

hue = np.arctan2(x[:, 1], x[:, 0]) / (2 * np.pi) % 1
fuller = np.log1p(200 * density) / np.log1p(200 * density.max())
picture = hsv_to_rgb(np.stack([hue, fuller, 1 - 0.2 * fuller], 1))
hexagon = np.exp(1j * np.pi * np.arange(7) / 3)
figure, axis = plt.subplots(figsize=(5.6, 5.6), layout="constrained")
axis.imshow(
    picture.reshape(61, 61, 3),
    origin="lower",
    extent=(-1.1, 1.1) * 2,
    interpolation="bicubic",
)
axis.plot(hexagon.real, hexagon.imag, color="0.6", lw=0.8)
for k, name in enumerate(["red", "yellow", "green", "cyan", "blue", "magenta"]):
    place = 1.08 * hexagon[k]
    axis.text(place.real, place.imag, name, ha="center", va="center",
              rotation=-90 if k == 0 else 90 if k == 3 else 0)  # fmt: skip
axis.axis("off")
axis.set_title("The hues of five photographs")
plt.show()
