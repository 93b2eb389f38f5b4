"""Attention with masks: int8 throughout, close to PyTorch, and a masked probability is exactly 0."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cortex_m.passes.recipe import quantize_and_lower

TOKENS, WIDTH, HEADS = 16, 16, 2
FUTURE = torch.ones(TOKENS, TOKENS, dtype=torch.bool).triu(1)

# scores [1, heads, tokens, tokens] -> scores with the future masked, in the forms that networks are written with.
MASKS = {
    "masked_fill": lambda scores: scores.masked_fill(FUTURE.clone(), -math.inf),
    "where": lambda scores: torch.where(~FUTURE, scores, torch.tensor(torch.finfo(torch.float32).min)),
    "added infinity": lambda scores: scores + torch.zeros(TOKENS, TOKENS).masked_fill(FUTURE, -math.inf),
    "added 1e9": lambda scores: scores + FUTURE.float() * -1e9,
    "added 100 and a bias": lambda scores: scores + torch.where(FUTURE, -100.0, 0.5 * torch.eye(TOKENS)),
    "computed": lambda scores: scores + (1 - torch.tril(torch.ones(TOKENS, TOKENS))) * -10000.0,
    "twice": lambda scores: scores.masked_fill(FUTURE.clone(), -math.inf) + FUTURE.float() * -1e9,
}


class Attention(nn.Module):
    """Gives the probabilities, or with `attend` what attention makes of the values."""

    def __init__(self, mask=None, attend=None):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(3)])
        self.mask, self.attend = mask, attend

    def forward(self, x, *masks):
        query, key, value = (layer(x).view(1, TOKENS, HEADS, WIDTH // HEADS).transpose(1, 2) for layer in self.layers)
        if self.attend is not None:
            return self.attend(query, key, value, *masks)
        scores = query @ key.transpose(-2, -1) / math.sqrt(WIDTH // HEADS)
        return self.mask(scores, *masks).softmax(-1)


def samples(count=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [(2 * torch.randn(1, TOKENS, WIDTH, generator=generator),) for _ in range(count)]


def sqnr_db(wanted, given):
    return float(10 * torch.log10(wanted.double().square().sum() / (wanted - given).double().square().sum()))


@pytest.mark.parametrize("form", MASKS)
def test_probabilities_behind_a_constant_mask(form):
    model = Attention(mask=MASKS[form])
    lowered = quantize_and_lower(model, *samples()[0], calibration=samples(), strict=True)
    assert lowered.ops.count("minimum") == 1, lowered.ops  # one instruction for the mask
    for (x,) in samples(2, seed=1):
        with torch.no_grad():
            wanted = model(x)
        given = lowered.run(x)[0]
        assert not given[FUTURE.expand_as(given)].any()
        assert bool((given[..., 0, 0] >= 255 / 256).all())  # the one value of the first row that is open
        assert sqnr_db(wanted, given) > 28


ATTENTIONS = {
    "causal": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
    "bool": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, attn_mask=~FUTURE),
    "float": lambda q, k, v: F.scaled_dot_product_attention(
        q, k, v, attn_mask=torch.zeros(TOKENS, TOKENS).masked_fill(FUTURE, -math.inf)
    ),
}


@pytest.mark.parametrize("form", ATTENTIONS)
def test_scaled_dot_product_attention_with_a_mask(form):
    model = Attention(attend=ATTENTIONS[form])
    lowered = quantize_and_lower(model, *samples()[0], calibration=samples(), strict=True)
    for (x,) in samples(2, seed=1):
        with torch.no_grad():
            assert sqnr_db(model(x), lowered.run(x)[0]) > 25


def test_what_is_masked_sets_no_range():
    """Half of the scores are a hundred times as large, and nobody reads them."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.layer = nn.Linear(WIDTH, WIDTH)
            self.layer.bias.data[8:] += 200.0
            self.register_buffer("hidden", torch.arange(WIDTH) >= 8)

        def forward(self, x):
            return self.layer(x).masked_fill(self.hidden, -math.inf).softmax(-1)

    model = Model()
    lowered = quantize_and_lower(model, *samples()[0], calibration=samples(), strict=True)
    assert "quantized_add" not in lowered.ops  # the layer writes with the scale of the scores that are read
    (x,) = samples(1, seed=1)[0]
    with torch.no_grad():
        assert sqnr_db(model(x), lowered.run(x)[0]) > 28


@pytest.mark.parametrize("weights", [False, True])
def test_multihead_attention_with_both_masks(weights):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)

        def forward(self, x, padding):
            return self.attention(x, x, x, attn_mask=FUTURE, key_padding_mask=padding, need_weights=weights)[0]

    def padded(calls):
        return [(x, torch.arange(TOKENS)[None] >= 5 + number % 12) for number, (x,) in enumerate(calls)]

    model, calibration = Model(), padded(samples(24))
    lowered = quantize_and_lower(model, *calibration[0], calibration=calibration, strict=True)
    for call in calibration[:2]:
        with torch.no_grad():
            assert sqnr_db(model(*call), lowered.run(*call)[0]) > 25


def test_a_bool_mask_that_is_an_input():
    model = Attention(mask=lambda scores, hidden: scores.masked_fill(hidden, -math.inf))
    calls = [(x, torch.rand(TOKENS, TOKENS) > 0.5) for (x,) in samples()]
    for _, hidden in calls:
        hidden.fill_diagonal_(False)
    lowered = quantize_and_lower(model, *calls[0], calibration=calls[:-1], strict=True)
    x, hidden = calls[-1]
    given = lowered.run(x, hidden)[0]
    assert not given[hidden.expand_as(given)].any()
    with torch.no_grad():
        assert sqnr_db(model(x, hidden), given) > 25


def test_a_row_that_is_wholly_masked_is_refused():
    model = Attention(
        mask=lambda scores: scores + torch.zeros(TOKENS, TOKENS).index_fill(0, torch.tensor([3]), -math.inf)
    )
    with pytest.raises(
        ValueError, match=r"masks_test.py:\d+: the mask before softmax lets nothing through in row \[0, 0, 3\]"
    ):
        quantize_and_lower(model, *samples()[0])


def test_a_float_mask_that_is_an_input_is_refused():
    model = Attention(mask=lambda scores, mask: scores + mask)
    mask = torch.zeros(TOKENS, TOKENS).masked_fill(FUTURE, -math.inf)
    with pytest.raises(ValueError, match=r"masks_test.py:\d+: '.*' is not finite in sample 1 .* is bool"):
        quantize_and_lower(model, *samples()[0], mask)
