# examples/gallery/learning/plot_digit_neighbours.py - digits read.
r"""Digits read by their nearest neighbour, each left out in turn
=============================================================

A handwritten digit is taken for what the scan most like it shows:

.. math::

   n_i = \operatorname*{argmin}_{j \ne i} |x_i - x_j|^2

Leaving out one of 1,797 scans at a time is one reduction with a condition on
the indices. The table of distances would take 26 MB here, and 29 GB at the
60,000 scans of MNIST; what tilefold needs grows with the scans, not with their
pairs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

import tilefold

x, digit = load_digits(return_X_y=True)

# %%
# The scan itself is at distance 0, and does not count: its distance is said to
# be infinite.

nearest = tilefold.reduce("argmin_j where(i == j, inf, |x_i - x_j|²)", x=x)
read = digit[nearest]
share = np.mean(read == digit)
print(f"{share:.2%} are read right")
assert round(share, 3) == 0.988

# %%
# scikit-learn reads a hundred scans by the others in the same way.

model = KNeighborsClassifier(1).fit(x[100:], digit[100:])
D = tilefold.kernel("|x_i - y_j|²", x=x[:100], y=x[100:])
np.testing.assert_array_equal(digit[100:][D.argmin(1)], model.predict(x[:100]))

# %%
# Most are mistakes that a reader could make, too.

wrong = np.flatnonzero(read != digit)[:20]
figure, axes = plt.subplots(4, 10, figsize=(9, 4.2), layout="constrained")
for k, scan in enumerate(wrong):
    pair = axes[2 * (k // 10) : 2 * (k // 10) + 2, k % 10]
    for axis, which in zip(pair, (scan, nearest[scan]), strict=True):
        axis.imshow(x[which].reshape(8, 8), cmap="gray_r")
        axis.set_title(f"{digit[which]}", fontsize=9, pad=2)
for axis in axes.flat:
    axis.axis("off")
figure.suptitle(
    f"20 of the {np.sum(read != digit)} digits read wrong, each above the scan"
    " it was taken for"
)
plt.show()
