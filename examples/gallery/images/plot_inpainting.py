# examples/gallery/images/plot_inpainting.py - a photograph from few pixels.
r"""A photograph from an eighth of its pixels, by kernel ridge regression
=====================================================================

The colours of 8,100 random pixels of a cat are known. The others are
those of the smoothest function that goes near them:

.. math::

   f(x) = \sum_j k(x, x_j) w_j, \qquad (K + \alpha I) w = c, \qquad
   k(x, y) = \left(1 + \frac{\sqrt{3} |x - y|}{l}\right)
             e^{-\sqrt{3} |x - y|/l}

It is scikit-learn's ``KernelRidge``, for which :math:`K` of 525 MB and its
factor would have to be stored. This one solves by conjugate gradients, with all
three colours at once, and never stores it.
"""

import matplotlib.pyplot as plt
import numpy as np
from skimage import data
from sklearn.kernel_ridge import KernelRidge as Dense

import tilefold
from tilefold.sklearn import KernelRidge

photograph = data.chelsea()[30:270, 90:360].astype(np.float32) / 255
height, width, _ = photograph.shape
x = np.indices((height, width), np.float32).reshape(2, -1).T
c = photograph.reshape(-1, 3)

# %%
# An eighth of the pixels. The kernel is a formula; its length is in pixels.

random = np.random.default_rng(0)
known = random.choice(len(x), len(x) // 8, replace=False)
matern = "(1 + r) exp(-r) with r = √3*|x_i - y_j|/l"
mean = c[known].mean(0)


def model(points, colours):
    """Fits a regression of colours (N, 3)."""
    ridge = KernelRidge(0.05, kernel=matern, kernel_params={"l": 8.0}, tol=1e-3)
    return ridge.fit(points, colours - mean)


fitted = model(x[known], c[known])
found = np.clip(fitted.predict(x) + mean, 0, 1)
print(f"{fitted.n_iter_} iterations for {len(known):,} pixels")

# %%
# scikit-learn's own, on a corner of 100 × 100 pixels.

corner = known[(x[known] < 100).all(1)]
r = np.sqrt(3) / 8 * np.linalg.norm(x[corner, None] - x[None, corner], axis=2)
dense = Dense(0.05, kernel="precomputed")
dense.fit((1 + r) * np.exp(-r), c[corner] - mean)
ours = model(x[corner], c[corner]).predict(x[corner])
np.testing.assert_allclose(ours, dense.predict((1 + r) * np.exp(-r)), atol=2e-3)

# %%
# The error at pixels that were not known, beside that of the nearest known one.

rest = np.setdiff1d(np.arange(len(x)), known)
nearest = tilefold.kernel("|x_i - y_j|²", x=x, y=x[known]).argmin(1)
error = np.sqrt(np.mean((found - c)[rest] ** 2))
simple = np.sqrt(np.mean((c[known][nearest] - c)[rest] ** 2))
print(f"error {error:.3f}, by the nearest pixel {simple:.3f}")
assert error < 0.85 * simple

shown = np.ones_like(c)
shown[known] = c[known]
figure, axes = plt.subplots(1, 3, figsize=(10, 3.3), layout="constrained")
for axis, (title, image) in zip(
    axes,
    {
        "an eighth of the pixels": shown,
        f"the nearest, error {simple:.3f}": c[known][nearest],
        f"kernel ridge regression, {error:.3f}": found,
    }.items(),
    strict=True,
):
    axis.imshow(image.reshape(photograph.shape))
    axis.set_title(title, fontsize=10)
    axis.axis("off")
plt.show()
