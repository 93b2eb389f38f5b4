"""Matrix products of any rank from the PyTorch module to the .pte, against the quantized graph in PyTorch's float arithmetic."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from cortex_m.passes.recipe import lower_exported, quantize, quantize_and_lower


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function
        self.weight = nn.Parameter(values(4, 6, seed=5))
        self.bias = nn.Parameter(values(4, seed=6))

    def forward(self, *args):
        return self.function(self, *args)


def values(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


PRODUCT, LINEAR = "quantized_batch_matmul", "quantized_linear_per_channel"

# name: (function, inputs, operators without those at the boundaries)
CASES = {
    "rank 2": (lambda m, x, y: x @ y, (values(3, 4), values(4, 5, seed=1)), ["transpose", PRODUCT]),
    "rank 3, clamped": (
        lambda m, x, y: torch.relu(x @ y), (values(2, 3, 4), values(2, 4, 5, seed=1)), ["transpose", PRODUCT],
    ),
    "clamp with a bound inside": (
        lambda m, x, y: torch.clamp(x @ y, -0.5, 9), (values(3, 4), values(4, 5, seed=1)), ["transpose", PRODUCT],
    ),
    "one right matrix": (lambda m, x, y: x @ y, (values(2, 3, 3, 4), values(4, 5, seed=1)), ["transpose", PRODUCT]),
    "one left matrix": (lambda m, x, y: x @ y, (values(3, 4), values(2, 4, 5, seed=1)), ["transpose", PRODUCT]),
    "broadcast both ways": (
        lambda m, x, y: x @ y, (values(2, 1, 3, 4), values(3, 4, 5, seed=1)), ["transpose", PRODUCT],
    ),
    "rank 5": (lambda m, x, y: x @ y, (values(2, 2, 1, 3, 4), values(2, 2, 3, 4, 5, seed=1)), ["transpose", PRODUCT]),
    "matrix and vector": (lambda m, x, y: x @ y, (values(3, 9), values(9, seed=1)), [PRODUCT]),
    "vector and matrix": (lambda m, x, y: x @ y, (values(9), values(9, 5, seed=1)), ["transpose", PRODUCT]),
    "transposed right": (lambda m, x, y: x @ y.mT, (values(2, 3, 4), values(2, 5, 4, seed=1)), [PRODUCT]),
    "constant right": (lambda m, x: x @ m.weight, (values(2, 3, 4),), [LINEAR]),
    "constant right with batches": (lambda m, x: x @ m.weight.view(2, 4, 3), (values(2, 3, 4),), [PRODUCT]),
    "constant left": (lambda m, x: m.weight @ x, (values(2, 6, 5),), ["transpose", PRODUCT]),
    "addmm of constants": (lambda m, x: torch.addmm(m.bias, x, m.weight.t()), (values(3, 6),), [LINEAR]),
    "addmm": (
        lambda m, c, x, y: torch.addmm(c, x, y), (values(3, 5, seed=2), values(3, 4), values(4, 5, seed=1)),
        ["transpose", PRODUCT, "quantized_add"],
    ),
    "linear with a computed weight": (
        lambda m, x, w: F.linear(x, w), (values(2, 3, 6), values(4, 6, seed=1)), [PRODUCT],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_products(name):
    function, inputs, ops = CASES[name]
    lowered = quantize_and_lower(Function(function), *inputs)
    assert not lowered.report.refusals, lowered.report
    found = [op for op in lowered.ops if "quantize_" not in op]
    # A bound that is no rail costs a requantization.
    assert found == ops or (name == "clamp with a bound inside" and found == [*ops, "quantized_add"])
    (got,), (want,) = lowered.run(*inputs), lowered.reference(*inputs)
    scale = [node for node in lowered.edge.graph.nodes if "dequantize" in str(node.target)][-1].args[1]
    assert got.shape == want.shape
    assert float((got - want).abs().max()) <= scale * 1.001
    noise = (got - Function(function)(*inputs)).square().mean()
    assert float(noise) < 1e-3 * float(want.square().mean())  # 30 dB


def test_a_product_in_float_runs_with_the_kernels_there_are():
    """Not quantized, it is mm or bmm again: matmul itself has no kernel."""
    inputs = (values(2, 1, 3, 4), values(3, 4, 5, seed=1))
    lowered = lower_exported(torch.export.export(Function(lambda m, x, y: x @ y), inputs))
    assert "matmul" not in lowered.ops and "bmm" in lowered.ops
    (refusal,) = [refusal for refusal in lowered.report.refusals if "bmm" in refusal.op]
    assert refusal.reason == "its input 0 is not quantized"
    torch.testing.assert_close(lowered.run(*inputs)[0], inputs[0] @ inputs[1])


def test_constants_of_a_product_are_stored_transposed():
    model = Function(lambda m, x: x @ m.weight.view(2, 4, 3))
    x = values(2, 3, 4)
    lowered = lower_exported(torch.export.export(quantize(model, x), (x,)))
    assert len(lowered.constants()) == len(lowered.used_constants())
    assert 24 in map(len, lowered.constants()) and "transpose" not in lowered.ops
