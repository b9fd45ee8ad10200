# tests/python/test_torch_refusals.py - tensors that hold no array.
"""Nested and quantised tensors: our words, whoever meets them first."""

import warnings

import pytest

import tilefold

torch = pytest.importorskip("torch")

TERM = "|x_i - x_j|"
PARTS = [torch.zeros(3, 3), torch.zeros(4, 3)]


def quietly(make, *arguments, **keywords):
    """Of what PyTorch calls a prototype, or deprecated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(*arguments, **keywords)


FACES = {
    "reduce": lambda x: tilefold.reduce(f"sum_j {TERM}", x=x),
    "a formula": lambda x: tilefold.compile(f"sum_j {TERM}")(x=x),
    "kernel": lambda x: tilefold.kernel(TERM, x=x),
}


@pytest.mark.parametrize("records", [False, True])
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged], ids=str)
@pytest.mark.parametrize("face", FACES)
def test_nested_tensors(face, layout, records):
    x = quietly(torch.nested.nested_tensor, PARTS, layout=layout)
    with pytest.raises(tilefold.ArgumentError) as caught:
        FACES[face](x.requires_grad_(records))
    assert str(caught.value) == (
        "the option 'x' cannot be a nested tensor\n"
        "call it for each part of x.unbind()"
    )
    assert [FACES[face](part).shape[0] for part in x.unbind()] == [3, 4]


@pytest.mark.parametrize("face", FACES)
def test_quantised_tensors(face):
    x = quietly(torch.quantize_per_tensor, PARTS[0], 1, 0, torch.qint8)
    with pytest.raises(tilefold.DTypeError) as caught:
        FACES[face](x)
    assert str(caught.value) == (
        "'x' holds torch.qint8, which is not computed with\n"
        "convert it to float64, float32, float16, an integer or bool"
    )
