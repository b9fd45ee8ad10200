# examples/gallery/learning/plot_textures.py - textures told apart.
r"""Brick, grass and gravel: kernel PCA by SciPy's eigensolver
==========================================================

Where do patches of three textures lie, if they are compared by the frequencies
in them? On the first eigenvectors of a kernel matrix, centred on both sides
(Schölkopf, Smola and Müller 1998):

.. math::

   \tilde{K}_{ij} = K_{ij} - \bar{K}_{i\cdot} - \bar{K}_{\cdot j} + \bar{K},
   \qquad K_{ij} = e^{-|x_i - x_j|^2/2 l^2}

Written as array code, that stays one formula: SciPy's ``eigsh`` multiplies by
it, and the matrix of 11,163 patches, 997 MB, is never made.
"""

import matplotlib.pyplot as plt
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.sparse.linalg import eigsh
from skimage import data

import tilefold
import tilefold.scipy

# %%
# Patches of 32 × 32 pixels, one each 8 pixels. The logarithm of the power at a
# frequency does not depend on where in a patch something is; the means in 8 × 8
# squares of frequencies are 40 numbers for each patch.

names = ["brick", "grass", "gravel"]
pictures = [data.brick(), data.grass(), data.gravel()]
patches = np.stack(
    [sliding_window_view(p, (32, 32))[::8, ::8] for p in pictures]
).astype(np.float32)
label = np.repeat(np.arange(3), patches[0, :, :, 0, 0].size)
patches = patches.reshape(-1, 32, 32)
patches -= patches.mean((1, 2), keepdims=True)
window = np.hanning(32)
power = np.log1p(np.abs(np.fft.fft2(patches * window * window[:, None])) ** 2)
x = power[:, :16, :].reshape(-1, 4, 4, 8, 4).mean((2, 4)).reshape(-1, 32)

# %%
# :func:`tilefold.lazy` takes the place of an array with an axis of its own.
# What follows is NumPy as one would write it, of the shape (11163, 11163).

xi, xj = tilefold.lazy(x, axis="i"), tilefold.lazy(x, axis="j")
K = np.exp(-((xi - xj) ** 2).sum(-1) / (2 * 5.0**2))
row = K.mean(1, keepdims=True)
centred = K - row - row.T + row.mean()

values, vectors = eigsh(tilefold.scipy.operator(centred), k=3)
y = (vectors * np.sqrt(values))[:, ::-1]
print("eigenvalues", np.round(values[::-1], 1))

# %%
# A row of the matrix by hand is a row of what it has been decomposed into.

by_hand = np.exp(-((x - x[7]) ** 2).sum(1) / 50)
by_hand += row.mean() - row[7] - row[:, 0]
assert np.allclose(by_hand @ vectors, values * vectors[7], atol=1e-2)

# %%
# A straight line between the classes' middles reads most patches right.

middles = np.stack([y[label == k].mean(0) for k in range(3)])
read = tilefold.reduce("argmin_j |y_i - m_j|", y=y, m=middles)
share = np.mean(read == label)
print(f"{share:.1%} of patches lie nearest to their texture's middle")
assert share > 0.9

figure = plt.figure(figsize=(8, 4.2), layout="constrained")
axes = figure.subplot_mosaic("abb;cbb;dbb")
colours = ["#0072b2", "#009e73", "#e69f00"]
for k, (name, axis) in enumerate(zip(names, "acd", strict=True)):
    axes[axis].imshow(pictures[k][:160, :240], cmap="gray")
    axes[axis].set(xticks=[], yticks=[], ylabel=name)
    axes[axis].yaxis.label.set_color(colours[k])
    axes["b"].plot(*y[label == k, :2].T, ".", color=colours[k], ms=2, alpha=0.5)
axes["b"].set(xlabel="first component", ylabel="second component")
axes["b"].set_title("11,163 patches of three textures")
plt.show()
