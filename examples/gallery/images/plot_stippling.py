# examples/gallery/images/plot_stippling.py - a photograph in ink dots.
r"""Stippling: a photograph in 4,000 dots, by gradients in PyTorch
==============================================================

Dots :math:`x` are pulled by the darkness :math:`w` of a picture's pixels
:math:`y`, and push each other away, like charges in a charged field (Schmaltz
et al. 2010; Teuber et al. 2011):

.. math::

   E(x) = \frac{1}{N} \sum_{ij} w_j |x_i - y_j|
        - \frac{1}{2N^2} \sum_{ij} |x_i - x_j|
        - \frac{1}{2} \sum_{ij} w_i w_j |y_i - y_j|

At the minimum of this energy distance the dots are as dark as
the picture everywhere, and keep apart. Tensors that require grad go into a
formula as any others: ``backward`` runs the formula of the gradient. PyTorch by
itself would keep a matrix of 4,000 × 25,600 distances, 410 MB, and others of
its size for the gradient.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from skimage import data, transform

import tilefold

# %%
# How dark the photograph is, on a grid of 160 × 160.

photograph = data.camera()[20:340, 90:410] / 255
dark = 1 - transform.resize(photograph, (160, 160), anti_aliasing=True)
w = torch.tensor(dark.ravel() ** 1.5, dtype=torch.float32)
w /= w.sum()
rows, columns = (np.indices(dark.shape).reshape(2, -1) + 0.5) / 160
y = torch.tensor(np.stack([columns, 1 - rows], 1), dtype=torch.float32)

# %%
# Dots begin at random dark pixels.

torch.manual_seed(0)
start = y[torch.multinomial(w, 4000, replacement=False)]
x = (start + torch.rand(4000, 2) / 160).requires_grad_()

pull = tilefold.compile("sum_ij w_j |x_i - y_j|/N")
push = tilefold.compile("sum_ij |x_i - x_j|/(2*N²)")
spread = tilefold.reduce("sum_ij w_i w_j |y_i - y_j|/2", y=y, w=w)


def energy(x):
    """How far the dots are from the picture."""
    return pull(x=x, y=y, w=w) - push(x=x) - spread


# %%
# The gradient of some dots, by PyTorch alone.

few = x[:50].detach().requires_grad_()
(found,) = torch.autograd.grad(energy(few), few)
dense = (torch.cdist(few, y) @ w).mean() - torch.cdist(few, few).mean() / 2
torch.testing.assert_close(energy(few), dense - spread, rtol=1e-3, atol=0)
(expected,) = torch.autograd.grad(dense, few)
torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-6)

# %%
# Any optimiser does.

optimiser = torch.optim.LBFGS([x], max_iter=40, history_size=10,
                              line_search_fn="strong_wolfe",
                              tolerance_change=0)  # fmt: skip


def closure():
    optimiser.zero_grad()
    loss = energy(x)
    loss.backward()
    return loss


before = energy(x).item()
optimiser.step(closure)
after = energy(x).item()
print(f"energy distance {before:.1e}, then {after:.1e}")
assert after < before / 2

figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
axes[0].imshow(photograph, cmap="gray", extent=(0, 1, 0, 1))
axes[1].plot(*x.detach().T, "o", color="black", ms=2.2, mew=0)
axes[0].set_title("a photograph")
axes[1].set_title("4,000 dots, where their energy is least")
for axis in axes:
    axis.set(xlim=(0, 1), ylim=(0, 1), aspect=1, xticks=[], yticks=[])
plt.show()
