# examples/gallery/images/plot_segments.py - a photograph cut into regions.
r"""A photograph cut into regions, by all pairs of its pixels
=========================================================

Two pixels belong together if their colours are alike and they are near each
other. With their affinities and the sums of the rows,

.. math::

   W_{ij} = \exp\left(-\frac{|c_i - c_j|^2}{2 a^2}
                      -\frac{|s_i - s_j|^2}{2 b^2}\right), \qquad
   d_i = \sum_j W_{ij},

the regions are read off the first eigenvectors of :math:`D^{-1/2} W D^{-1/2}`
(Shi and Malik 2000; Ng, Jordan and Weiss 2001). scikit-learn's spectral
clustering keeps the affinities of all pairs, 2.3 GB for these 17,120 pixels, or
leaves out most of them. This one computes them in each product of Lanczos'
method.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import SpectralClustering as Dense
from sklearn.datasets import load_sample_image
from sklearn.metrics import adjusted_rand_score

from tilefold.sklearn import SpectralClustering

# %%
# Colour and place of every fourth pixel, the place in heights of the image.

image = load_sample_image("flower.jpg")[::4, ::4]
height, width, _ = image.shape
places = np.stack(np.mgrid[:height, :width], -1) / height
x = np.concatenate([image / 255, places], -1).reshape(-1, 5)
x = x.astype(np.float32)

# %%
# An affinity is a formula of two points; ``x[:3]`` are the first components.

affinity = "exp(-|x_i[:3] - y_j[:3]|²/2a² - |x_i[3:] - y_j[3:]|²/2b²)"


how = {"n_clusters": 5, "assign_labels": "cluster_qr", "random_state": 0}
lengths = {"a": 0.12, "b": 0.25}
model = SpectralClustering(affinity=affinity, kernel_params=lengths, **how)
labels = model.fit_predict(x)

# %%
# The same of fewer pixels as with the matrix, which scikit-learn's own takes.

few = x[::17]
apart = (few[:, None] - few) ** 2
W = np.exp(-apart[..., :3].sum(-1) / (2 * 0.12**2))
W *= np.exp(-apart[..., 3:].sum(-1) / (2 * 0.25**2))
dense = Dense(affinity="precomputed", **how).fit_predict(W)
assert adjusted_rand_score(dense, model.fit_predict(few)) > 0.99

# %%
# Five colours tell most of what there is.

colours = np.stack(
    [image.reshape(-1, 3)[labels == k].mean(0) for k in range(5)]
)
painted = colours[labels].reshape(image.shape)
rest = ((image - painted) ** 2).mean() / image.var((0, 1)).mean()
print(f"the colours of the regions are {1 - rest:.0%} of the variance")
assert rest < 0.35

figure, axes = plt.subplots(1, 2, figsize=(9.4, 3.4), layout="constrained")
axes[0].imshow(image)
axes[0].set_title("17,120 pixels")
axes[1].imshow(painted.astype(np.uint8))
for k in range(5):
    inside = (labels == k).reshape(height, width).astype(float)
    axes[1].contour(inside, [0.5], colors="white", linewidths=1)
axes[1].set_title("five regions, in their mean colours")
for axis in axes:
    axis.axis("off")
plt.show()
