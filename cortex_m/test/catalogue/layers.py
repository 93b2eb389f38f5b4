"""Calls of layers with weights, of norms, pools, softmax, recurrent networks and attention."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from cortex_m.test.catalogue.case import Calls, Function, between, integers, signed

_A = torch.ops.aten
_SHAPES = {1: (9,), 2: (6, 6), 3: (4, 4, 4)}  # of the dimensions that a window goes over
_DIMS = (1, 2, 3)


def _input(dims: int, channels: int = 4):
    return signed(1, channels, *_SHAPES[dims])


class Norm(nn.Module):
    """A norm behind statistics that are not those of a new module."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.norm = norm
        for value in [*norm.parameters(), *norm.buffers()]:
            if value.is_floating_point() and not isinstance(value, nn.parameter.UninitializedTensorMixin):
                with torch.no_grad():
                    value.copy_(torch.rand(value.shape) + 0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x)


def _materialised(module: nn.Module, x: torch.Tensor) -> nn.Module:
    """A lazy module takes its shapes from the first call."""
    module.eval()(x)
    return module


linear = Calls("Linear layers and matrix products")
linear.add("nn.Linear", lambda: nn.Linear(12, 8), signed(2, 12))
linear.add("nn.LazyLinear", lambda: _materialised(nn.LazyLinear(8), torch.randn(2, 12)), signed(2, 12))
linear.add("F.linear", lambda: Function(F.linear, weight=torch.randn(8, 12)), signed(2, 12))
linear.function("aten.mm.default", _A.mm.default, signed(4, 8), signed(8, 5))
linear.function("aten.bmm.default", _A.bmm.default, signed(2, 4, 8), signed(2, 8, 5))
linear.add(
    "aten.addmm.default", lambda: Function(lambda x, bias, mat2: _A.addmm.default(bias, x, mat2), bias=torch.randn(5), mat2=torch.randn(8, 5)),
    signed(4, 8),
)  # fmt: skip
linear.add("nn.Embedding", lambda: nn.Embedding(20, 6), integers(20, 3, 4))
linear.add("F.embedding", lambda: Function(F.embedding, weight=torch.randn(20, 6)), integers(20, 3, 4))
linear.add(
    "aten.embedding.default", lambda: Function(lambda x, weight: _A.embedding.default(weight, x), weight=torch.randn(20, 6)),
    integers(20, 3, 4),
)  # fmt: skip
linear.add("nn.EmbeddingBag", lambda: nn.EmbeddingBag(20, 6), integers(20, 3, 4))
linear.add("F.embedding_bag", lambda: Function(F.embedding_bag, weight=torch.randn(20, 6)), integers(20, 3, 4))
linear.add(
    "aten._embedding_bag.default",
    lambda: Function(
        lambda x, weight, offsets: _A._embedding_bag.default(weight, x, offsets)[0],
        weight=torch.randn(20, 6), offsets=torch.tensor([0, 4, 8]),
    ),
    integers(20, 12),
)  # fmt: skip
linear.leave_out("a product for GPUs: PyTorch has it on none but theirs", "F.scaled_mm", "F.scaled_grouped_mm")
linear.leave_out("a product of bfloat16 for GPUs", "F.grouped_mm")

convolutions = Calls("Convolutions")
for _dims in _DIMS:
    for _kind in ("Conv", "ConvTranspose"):
        _class = getattr(nn, f"{_kind}{_dims}d")
        _lazy = getattr(nn, f"Lazy{_kind}{_dims}d")
        convolutions.add(f"nn.{_class.__name__}", lambda c=_class: c(4, 6, 3, stride=2, padding=1), _input(_dims))
        convolutions.add(
            f"nn.{_lazy.__name__}",
            lambda c=_lazy, d=_dims: _materialised(c(6, 3, padding=1), torch.randn(1, 4, *_SHAPES[d])),
            _input(_dims),
        )
    _weight = (6, 4, *[3] * _dims)
    convolutions.add(
        f"F.conv{_dims}d",
        lambda d=_dims, w=_weight: Function(getattr(F, f"conv{d}d"), weight=torch.randn(w) * 0.3, bias=torch.randn(6)),
        _input(_dims),
    )
    convolutions.add(
        f"F.conv_transpose{_dims}d",
        lambda d=_dims: Function(getattr(F, f"conv_transpose{d}d"), weight=torch.randn(4, 6, *[3] * d) * 0.3),
        _input(_dims),
    )
convolutions.add(
    "F.conv_tbc", lambda: Function(F.conv_tbc, weight=torch.randn(3, 4, 6) * 0.3, bias=torch.randn(6)), signed(9, 1, 4)
)
convolutions.add(
    "aten.convolution.default",
    lambda: Function(
        lambda x, weight, bias: _A.convolution.default(x, weight, bias, [1, 1], [1, 1], [1, 1], False, [0, 0], 1),
        weight=torch.randn(6, 4, 3, 3) * 0.3, bias=torch.randn(6),
    ),
    _input(2),
)  # fmt: skip

norms = Calls("Norms")
for _dims in _DIMS:
    norms.add(f"nn.BatchNorm{_dims}d", lambda d=_dims: Norm(getattr(nn, f"BatchNorm{d}d")(4)), _input(_dims))
    norms.add(
        f"nn.LazyBatchNorm{_dims}d",
        lambda d=_dims: Norm(_materialised(getattr(nn, f"LazyBatchNorm{d}d")(), torch.randn(1, 4, *_SHAPES[d]))),
        _input(_dims),
    )
    norms.add(
        f"nn.InstanceNorm{_dims}d",
        lambda d=_dims: Norm(getattr(nn, f"InstanceNorm{d}d")(4, affine=True)),
        _input(_dims),
    )
    norms.add(
        f"nn.LazyInstanceNorm{_dims}d",
        lambda d=_dims: _materialised(getattr(nn, f"LazyInstanceNorm{d}d")(), torch.randn(1, 4, *_SHAPES[d])),
        _input(_dims),
    )
norms.add("nn.SyncBatchNorm", lambda: Norm(nn.SyncBatchNorm(4)), _input(2))
norms.add("nn.LayerNorm", lambda: Norm(nn.LayerNorm(12)), signed(2, 3, 12))
norms.add("nn.GroupNorm", lambda: Norm(nn.GroupNorm(2, 4)), _input(2))
norms.add("nn.RMSNorm", lambda: Norm(nn.RMSNorm(12)), signed(2, 3, 12))
norms.add("nn.LocalResponseNorm", lambda: nn.LocalResponseNorm(3), _input(2))
norms.add("nn.CrossMapLRN2d", lambda: nn.CrossMapLRN2d(3), _input(2))
norms.add(
    "F.batch_norm",
    lambda: Function(F.batch_norm, running_mean=torch.randn(4), running_var=torch.rand(4) + 0.5),
    _input(2),
)
norms.add(
    "F.layer_norm",
    lambda: Function(lambda x, weight: F.layer_norm(x, (12,), weight), weight=torch.rand(12)),
    signed(2, 12),
)
norms.function("F.group_norm", lambda x: F.group_norm(x, 2), _input(2))
norms.function("F.instance_norm", F.instance_norm, _input(2))
norms.function("F.rms_norm", lambda x: F.rms_norm(x, (12,)), signed(2, 12))
norms.function("F.local_response_norm", lambda x: F.local_response_norm(x, 3), _input(2))
norms.function("F.normalize", F.normalize, signed(4, 12))
norms.add(
    "aten._native_batch_norm_legit_no_training.default",
    lambda: Function(
        lambda x, weight, bias, mean, var: _A._native_batch_norm_legit_no_training.default(x, weight, bias, mean, var, 0.1, 1e-5)[0],
        weight=torch.rand(4), bias=torch.randn(4), mean=torch.randn(4), var=torch.rand(4) + 0.5,
    ),
    _input(2),
)  # fmt: skip
norms.add(
    "aten._native_batch_norm_legit.default",
    lambda: Function(
        lambda x, weight, bias, mean, var: _A._native_batch_norm_legit.default(x, weight, bias, mean, var, False, 0.1, 1e-5)[0],
        weight=torch.rand(4), bias=torch.randn(4), mean=torch.randn(4), var=torch.rand(4) + 0.5,
    ),
    _input(2),
)  # fmt: skip
norms.function(
    "aten._native_batch_norm_legit.no_stats",
    lambda x: _A._native_batch_norm_legit.no_stats(x, None, None, True, 0.1, 1e-5)[0], _input(2),
)  # fmt: skip
norms.function(
    "aten.native_layer_norm.default",
    lambda x: _A.native_layer_norm.default(x, [12], None, None, 1e-5)[0],
    signed(2, 12),
)
norms.function(
    "aten.native_group_norm.default",
    lambda x: _A.native_group_norm.default(x, None, None, 1, 4, 36, 2, 1e-5)[0],
    _input(2),
)

pools = Calls("Pools")
for _dims in _DIMS:
    for _name, _arguments in {
        "AvgPool": (2,),
        "MaxPool": (2,),
        "LPPool": (2, 2),
        "AdaptiveAvgPool": (2,),
        "AdaptiveMaxPool": (2,),
    }.items():
        _behind = "Max" in _name
        pools.add(
            f"nn.{_name}{_dims}d",
            lambda n=f"{_name}{_dims}d", a=_arguments: getattr(nn, n)(*a),
            _input(_dims),
            behind=_behind,
        )
    for _name, _arguments in {
        "avg_pool": (2,),
        "max_pool": (2,),
        "lp_pool": (2.0, 2),
        "adaptive_avg_pool": (2,),
        "adaptive_max_pool": (2,),
    }.items():
        _behind = "max" in _name
        pools.function(
            f"F.{_name}{_dims}d",
            lambda x, f=getattr(F, f"{_name}{_dims}d"), a=_arguments: f(x, *a),
            _input(_dims),
            behind=_behind,
        )
        if _behind:
            pools.function(
                f"F.{_name}{_dims}d_with_indices",
                lambda x, f=getattr(F, f"{_name}{_dims}d_with_indices"), a=_arguments: f(x, *a), _input(_dims),
            )  # fmt: skip
    pools.add(
        f"nn.MaxUnpool{_dims}d",
        lambda d=_dims: Function(
            lambda x, pool=getattr(F, f"max_pool{d}d_with_indices"), unpool=getattr(nn, f"MaxUnpool{d}d")(2): unpool(*pool(x, 2))
        ),
        signed(1, 4, *[4] * _dims),
    )  # fmt: skip
    pools.function(
        f"F.max_unpool{_dims}d",
        lambda x, pool=getattr(F, f"max_pool{_dims}d_with_indices"), unpool=getattr(F, f"max_unpool{_dims}d"): unpool(*pool(x, 2), 2),
        signed(1, 4, *[4] * _dims),
    )  # fmt: skip
for _dims in (2, 3):
    pools.leave_out(
        "its windows are drawn anew in each call, so that no two calls agree",
        f"nn.FractionalMaxPool{_dims}d", f"F.fractional_max_pool{_dims}d", f"F.fractional_max_pool{_dims}d_with_indices",
    )  # fmt: skip
    pools.function(
        f"aten.max_pool{_dims}d_with_indices.default",
        lambda x, f=getattr(_A, f"max_pool{_dims}d_with_indices").default, d=_dims: f(x, [2] * d, [2] * d), _input(_dims),
    )  # fmt: skip
    pools.function(
        f"aten._adaptive_avg_pool{_dims}d.default",
        lambda x, f=getattr(_A, f"_adaptive_avg_pool{_dims}d").default, d=_dims: f(x, [2] * d), _input(_dims),
    )  # fmt: skip
pools.function("aten.adaptive_avg_pool1d.default", lambda x: _A.adaptive_avg_pool1d.default(x, [3]), _input(1))
for _dims in _DIMS:
    pools.function(
        f"aten.avg_pool{_dims}d.default",
        lambda x, f=getattr(_A, f"avg_pool{_dims}d").default, d=_dims: f(x, [2] * d),
        _input(_dims),
    )

softmax = Calls("Softmax")
softmax.add("nn.Softmax", lambda: nn.Softmax(-1), signed(4, 12))
softmax.add("nn.Softmax2d", nn.Softmax2d, _input(2))
softmax.add("nn.Softmin", lambda: nn.Softmin(-1), signed(4, 12))
softmax.add("nn.LogSoftmax", lambda: nn.LogSoftmax(-1), signed(4, 12))
softmax.function("F.softmax", lambda x: F.softmax(x, -1), signed(4, 12))
softmax.function("F.softmin", lambda x: F.softmin(x, -1), signed(4, 12))
softmax.function("F.log_softmax", lambda x: F.log_softmax(x, -1), signed(4, 12))
softmax.function("aten._softmax.default", lambda x: _A._softmax.default(x, -1, False), signed(4, 12))
softmax.function("aten._log_softmax.default", lambda x: _A._log_softmax.default(x, -1, False), signed(4, 12))
softmax.add("nn.AdaptiveLogSoftmaxWithLoss", lambda: AdaptiveProbabilities(), signed(2, 8))
softmax.leave_out("it draws random numbers in each call", "F.gumbel_softmax")


class AdaptiveProbabilities(nn.Module):
    """`log_prob`, what inference calls; `forward` is the loss."""

    def __init__(self) -> None:
        super().__init__()
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(8, 10, [4])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.softmax.log_prob(x)


recurrent = Calls("Recurrent networks")
_SEQUENCE = signed(3, 1, 6)
for _class in (nn.RNN, nn.GRU, nn.LSTM):
    recurrent.add(f"nn.{_class.__name__}", lambda c=_class: c(6, 5), _SEQUENCE)
for _class in (nn.RNNCell, nn.GRUCell, nn.LSTMCell):
    recurrent.add(f"nn.{_class.__name__}", lambda c=_class: c(6, 5), signed(2, 6))
recurrent.leave_out("what the recurrent modules derive from", "nn.RNNBase", "nn.RNNCellBase")

attention = Calls("Attention")
_TOKENS = signed(1, 4, 8)
_OPTIONS = {"d_model": 8, "nhead": 2, "dim_feedforward": 16, "batch_first": True}


class SelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.attention(x, x, x, need_weights=False)[0]


class FunctionalAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(24, 8) * 0.3)
        self.bias = nn.Parameter(torch.randn(24) * 0.3)
        self.output = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.multi_head_attention_forward(
            x, x, x, 8, 2, self.weight, self.bias, None, None, False, 0.0, self.output.weight, self.output.bias,
            training=False, need_weights=False,
        )[0]  # fmt: skip


attention.add("nn.MultiheadAttention", SelfAttention, _TOKENS)
attention.add("F.multi_head_attention_forward", FunctionalAttention, signed(4, 1, 8))
attention.function("F.scaled_dot_product_attention", F.scaled_dot_product_attention, *[signed(1, 2, 4, 8)] * 3)
attention.add("nn.TransformerEncoderLayer", lambda: nn.TransformerEncoderLayer(**_OPTIONS), _TOKENS)
attention.add("nn.TransformerDecoderLayer", lambda: nn.TransformerDecoderLayer(**_OPTIONS), _TOKENS, _TOKENS)
attention.add(
    "nn.TransformerEncoder", lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(**_OPTIONS), 1), _TOKENS
)
attention.add(
    "nn.TransformerDecoder", lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(**_OPTIONS), 1), _TOKENS, _TOKENS
)
attention.add(
    "nn.Transformer", lambda: nn.Transformer(num_encoder_layers=1, num_decoder_layers=1, **_OPTIONS), _TOKENS, _TOKENS
)

dropout = Calls("Dropout, which inference leaves out")
for _name in ("AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"):
    dropout.add(f"nn.{_name}", getattr(nn, _name), _input(3 if "3" in _name else 1 if "1" in _name else 2))
for _name in ("alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout"):
    dropout.function(
        f"F.{_name}",
        lambda x, f=getattr(F, _name): f(x, training=False),
        _input(3 if "3" in _name else 1 if "1" in _name else 2),
    )
dropout.function("aten.native_dropout.default", lambda x: _A.native_dropout.default(x, 0.5, False)[0], signed(4, 12))
dropout.add("nn.Identity", nn.Identity, between(-1, 1, 4, 12))
