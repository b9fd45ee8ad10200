# examples/gallery/learning/plot_kernels.py - which kernel for diabetes?
r"""Which kernel? Formulas in scikit-learn's pipelines
==================================================

How far diabetes goes on in a year is told from ten measurements of 442 people
(Efron et al. 2004), by kernel ridge regression. One of the kernels is that of a
wide network of one hidden layer, trained without end (Jacot, Gabriel and
Hongler 2018; Cho and Saul 2009):

.. math::

   k(x, y) = \frac{|x| |y|}{2\pi}
             \big(\sin\theta + 2 (\pi - \theta) \cos\theta \big), \qquad
   \cos\theta = \frac{x \cdot y}{|x| |y|}

A formula is a parameter as any other, in pipelines, scores and searches. Here a
matrix would do, of 1.6 MB; 100,000 people would need 80 GB for each fit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.model_selection import RepeatedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from tilefold.sklearn import KernelRidge

x, y = load_diabetes(return_X_y=True)

# %%
# A network has a constant input, too; one more column of ones is a bias.


def with_bias(x):
    """Ten columns and one of ones, together of length 1 in the mean."""
    return np.column_stack([x, np.ones(len(x))]) / np.sqrt(x.shape[1] + 1)


network = """(sqrt(1 - c²) + 2(π - acos(c))*c)*r/2π with
    r = |x_i|*|y_j|, c = clamp(x_i·y_j/r, -1, 1)"""
kernels = {  # and the ridge that does best with each
    "a line": ("x_i·y_j", 0.3),
    "cubes": ("(1 + x_i·y_j)³", 30),
    "Laplace": ("exp(-|x_i - y_j|/4)", 1),
    "a wide network": (network, 1),
    "Gauss": ("exp(-|x_i - y_j|²/8)", 0.3),
}


def model(kernel, alpha):
    """Kernel ridge regression of scaled inputs and targets."""
    return make_pipeline(
        StandardScaler(),
        FunctionTransformer(with_bias),
        TransformedTargetRegressor(
            KernelRidge(alpha, kernel=kernel), transformer=StandardScaler()
        ),
    )


# %%
# The network's kernel of two people, and what is told with it, by NumPy.

z = with_bias(StandardScaler().fit_transform(x))
length = np.linalg.norm(z, axis=1)
r = np.outer(length, length)
c = np.clip(z @ z.T / r, -1, 1)
K = (np.sqrt(1 - c**2) + 2 * (np.pi - np.arccos(c)) * c) * r / (2 * np.pi)
target = (y - y.mean()) / y.std()
told = K @ np.linalg.solve(K + np.eye(len(K)), target) * y.std() + y.mean()
ours = model(network, 1).fit(x, y).predict(x)
np.testing.assert_allclose(ours, told, rtol=1e-4)

# %%
# The share of the variance that is told, of people who were left out.

folds = RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
scores = {
    name: cross_val_score(model(*how), x, y, cv=folds)
    for name, how in kernels.items()
}
for name, score in scores.items():
    print(f"{name:15} {score.mean():.3f} ± {score.std() / np.sqrt(10):.3f}")
assert min(score.mean() for score in scores.values()) > 0.45
assert scores["Gauss"].mean() > scores["a line"].mean()

figure, axis = plt.subplots(figsize=(7.4, 3.4), layout="constrained")
random = np.random.default_rng(0)
for k, score in enumerate(scores.values()):
    gain = score - scores["a line"]
    axis.plot(gain, k + random.uniform(-0.2, 0.2, 10), ".", color="#56b4e9")
    axis.plot(gain.mean(), k, "D", color="#0072b2", ms=7)
axis.axvline(0, color="0.5", lw=0.8)
axis.set_yticks(
    range(len(scores)),
    [f"{name}, R² = {s.mean():.3f}" for name, s in scores.items()],
)
axis.set_xlabel("R² more than a line's, of 10 left-out fifths and in the mean")
axis.set_title("How diabetes goes on, by five kernels")
plt.show()
