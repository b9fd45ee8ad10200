# examples/gallery/geometry/plot_graph.py - graphs drawn by forces.
r"""Graphs drawn by forces: who met whom in Les Misérables
======================================================

All nodes push each other away, and edges pull them together (Fruchterman and
Reingold 1991; Jacomy et al. 2014):

.. math::

   f_i = \sum_{j \ne i} c_i c_j \frac{x_i - x_j}{|x_i - x_j|^2}
       - \sum_{j \sim i} (x_i - x_j)

where :math:`c` is one more than the number of a node's edges. Pushes of all
pairs are one reduction; for the 4,900 nodes of a mesh, arrays of 384 MB would
be written and read at each of 200 steps. Pulls are a sparse matrix's.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
from matplotlib.collections import LineCollection
from scipy.sparse.linalg import eigsh

import tilefold

push = tilefold.compile(
    "sum_j where(i ≠ j, c_i c_j (x_i - x_j)/|x_i - x_j|², 0)"
)


def draw(graph, start, steps):
    """Places (N, 2) of the nodes, from `start`."""
    A = nx.to_scipy_sparse_array(graph, weight=None, dtype=float)
    edges = A.sum(1)
    c, x = edges + 1, start
    for step in range(steps):
        f = push(x=x, c=c) - (edges[:, None] * x - A @ x)
        move = f / c[:, None]
        length = np.linalg.norm(move, axis=1, keepdims=True)
        most = np.sqrt(len(x)) * (1 - step / steps) / 4
        x = x + move * np.minimum(0.5, most / length)
    return x


# %%
# The characters of a novel, known by the chapters that they share.

novel = nx.les_miserables_graph()
people = list(novel)
random = np.random.default_rng(1)
place = draw(novel, random.standard_normal((len(people), 2)), 500)

x = place
weight = np.array([novel.degree(name) for name in people]) + 1
apart = x[0] - x[1:]
by_hand = weight[0] * (weight[1:] / (apart**2).sum(1)) @ apart
np.testing.assert_allclose(push(x=x, c=weight)[0], by_hand, rtol=1e-10)

# %%
# A strip of 140 × 35 nodes whose ends are joined is drawn as the ring that it
# is. It starts at its two slowest vibrations, a little disturbed: nodes at one
# place do not know where to go.

strip = nx.grid_2d_graph(140, 35, periodic=(True, False))
L = nx.laplacian_matrix(strip).astype(float)
_, modes = eigsh(L, k=3, sigma=-1e-3, v0=random.random(len(strip)))
start = 2000 * modes[:, 1:] + random.standard_normal((len(strip), 2))
ring = draw(strip, start, 200)
radius = np.linalg.norm(ring, axis=1)
assert radius.min() > 0.2 * radius.max()

# %%
# The names are those of whom twelve others have met.

figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
for axis, graph, at, width in (
    (axes[0], novel, place, 0.5),
    (axes[1], strip, ring, 0.3),
):
    number = {node: k for k, node in enumerate(graph)}
    ends = [[at[number[a]], at[number[b]]] for a, b in graph.edges]
    axis.add_collection(LineCollection(ends, colors="0.6", lw=width, zorder=0))
    axis.set(xticks=[], yticks=[], aspect=1)
axes[0].scatter(*place.T, s=6 * weight, color="#0072b2", ec="white", lw=0.5)
for name, at, size in zip(people, place, weight, strict=True):
    if size > 16:
        axes[0].annotate(name, at, (4, 4), textcoords="offset points",
                         fontsize=8)  # fmt: skip
axes[1].scatter(*ring.T, s=1, color="#0072b2")
axes[0].set_title("77 characters of Les Misérables")
axes[1].set_title("a strip of 4,900 nodes, joined")
plt.show()
