# %% [markdown]
# # Inference of a sparse neural network
#
# Only some outputs are wanted. A mask on every product skips the other outputs, and the intermediate values that only those outputs need.
#
# The push-pull paper (section 5.6) names sparse neural networks among the algorithms that know, before a product, where
# its result is needed. Here each neuron is connected to a few neighbours in the layer before, as in a convolution.

# %%
import numpy as np

from hopwave import linalg as la

LAYERS, NEURONS, SAMPLES, BIAS = 12, 1024, 50, -0.05
random = np.random.default_rng(1)


def layer():
    """Weights from 5 of the 9 nearest neurons to every neuron."""
    target = np.repeat(np.arange(NEURONS), 5)
    offset = np.concatenate([random.choice(9, 5, replace=False) - 4 for _ in range(NEURONS)])
    return la.Matrix.from_edges(
        (target + offset) % NEURONS, target, random.normal(0.2, 0.4, 5 * NEURONS), shape=NEURONS
    )


weights = [layer() for _ in range(LAYERS)]
places = np.flatnonzero(random.random(SAMPLES * NEURONS) < 0.2)
X = la.Matrix.from_edges(places // NEURONS, places % NEURONS, random.random(len(places)), shape=(SAMPLES, NEURONS))
X.nnz

# %% [markdown]
# ## What the wanted outputs need
#
# A step against the arcs, from the wanted neurons back to the first layer: one product of patterns per layer.

# %%
wanted = np.arange(100, 108)
needed = [la.Vector.from_entries(wanted, True, n=NEURONS)]
for W in reversed(weights[1:]):
    needed.append(la.mxv(W, needed[-1], la.semiring.any_pair))
needed.reverse()
[part.nnz for part in needed]

# %% [markdown]
# ## Inference
#
# Y⟨needed⟩ = ReLU(Y W + bias), layer after layer. As in the Graph Challenge for sparse networks, the bias is added where
# a product has an entry.


# %%
def infer(masked):
    """The last layer's activations, and how many weights were read."""
    Y, touched = X, 0
    for W, part in zip(weights, needed, strict=True):
        neurons = part.entries()[0]
        mask = la.Matrix.from_edges(
            np.repeat(np.arange(SAMPLES), len(neurons)), np.tile(neurons, SAMPLES), shape=(SAMPLES, NEURONS)
        )
        limits = {"mask": mask, "structural": True} if masked else {}
        Y, why = la.mxm(Y, W, la.semiring.plus_times, explain=True, **limits)
        Y = la.select(la.apply(Y, la.binary.plus, right=BIAS), la.binary.gt, 0.0)
        touched += why.touched
    return Y, touched


(every, all_reads), (some, reads) = infer(False), infer(True)
print(f"{reads:,} weights read instead of {all_reads:,}")

# %% [markdown]
# ## The same as SciPy
#
# At the wanted outputs the activations are those of the whole network, computed by SciPy's products.

# %%
Z = X.to_scipy()
for W in weights:
    Z = Z @ W.to_scipy()
    Z.data = np.maximum(Z.data + BIAS, 0)
right = Z.toarray()[:, wanted]
found = some.to_scipy().toarray()[:, wanted]
assert np.allclose(found, right, rtol=1e-9) and np.allclose(every.to_scipy().toarray(), Z.toarray(), rtol=1e-9)
print(f"{np.count_nonzero(right)} of {right.size} wanted activations are not zero")

# %%
import matplotlib.pyplot as plt

fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.bar(np.arange(LAYERS) + 1, [part.nnz for part in needed], color="#0e8fa9")
ax.axhline(NEURONS, color="#b0468f", linewidth=1)
ax.set_yscale("log")
ax.set(xlabel="layer", ylabel="neurons computed (the line: all)")
