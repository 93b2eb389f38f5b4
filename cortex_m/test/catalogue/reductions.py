"""Calls of what makes less of a tensor, and sorts; and the names of torch that have no call of their own."""

from __future__ import annotations

import torch

from cortex_m.test.catalogue.case import Calls, between, booleans, signed

_A = torch.ops.aten
_IMAGE = signed(1, 4, 6, 6)
_ROWS = signed(4, 12)

reductions = Calls("Reductions and sorting")
for _name, _arguments in {
    "amax.default": ([1],), "amin.default": ([1],), "argmax.default": (1,), "argmin.default": (1,), "cumsum.default": (1,),
    "max.dim": (1,), "min.dim": (1,), "prod.default": (), "prod.dim_int": (1,), "sort.default": (),
    "sum.dim_IntList": ([1],), "topk.default": (3,), "var.dim": ([1],),
}.items():  # fmt: skip
    _packet, _overload = _name.split(".")
    reductions.function(
        f"aten.{_name}", lambda x, f=getattr(getattr(_A, _packet), _overload), a=_arguments: f(x, *a), _ROWS
    )
reductions.function("aten.var.correction", lambda x: _A.var.correction(x, [1], correction=0), _ROWS)
# Of what is not symmetric: a mean near 0 has no signal.
reductions.function("aten.mean.default", lambda x: _A.mean.default(x), between(0.5, 2.0, 4, 12))
reductions.function("aten.mean.dim", lambda x: _A.mean.dim(x, [2, 3]), _IMAGE)
for _name, _arguments in {"default": (), "dim": (1,), "dims": ([0, 1],)}.items():
    reductions.function(
        f"aten.any.{_name}", lambda x, f=getattr(_A.any, _name), a=_arguments: f(x, *a), booleans(4, 12)
    )
reductions.function("aten._fft_r2c.default", lambda x: torch.view_as_real(_A._fft_r2c.default(x, [1], 0, True)), _ROWS)
reductions.function(
    "aten._fft_c2r.default", lambda x: _A._fft_c2r.default(torch.view_as_complex(x), [1], 0, 8), signed(2, 5, 2)
)

others = Calls("Others")
others.leave_out(
    "a loss, which training alone computes",
    *(
        f"nn.{name}"
        for name in (
            "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss",
            "HingeEmbeddingLoss", "HuberLoss", "KLDivLoss", "L1Loss", "LinearCrossEntropyLoss", "MSELoss", "MarginRankingLoss",
            "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss", "NLLLoss", "NLLLoss2d", "PoissonNLLLoss",
            "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
        )
    ),
    *(
        f"F.{name}"
        for name in (
            "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss", "cross_entropy", "ctc_loss",
            "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss", "kl_div", "l1_loss", "linear_cross_entropy",
            "margin_ranking_loss", "mse_loss", "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss",
            "nll_loss", "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
            "triplet_margin_with_distance_loss",
        )
    ),
)  # fmt: skip
others.leave_out(
    "a container: what it contains is exported",
    "nn.Container", "nn.Module", "nn.ModuleDict", "nn.ModuleList", "nn.ParameterDict", "nn.ParameterList", "nn.Sequential",
)  # fmt: skip
others.leave_out("it spreads a module over several GPUs", "nn.DataParallel")
others.leave_out(
    "torch's own machinery, which computes nothing",
    "F.assert_int_or_pair", "F.boolean_dispatch", "F.handle_torch_function", "F.has_torch_function",
    "F.has_torch_function_unary", "F.has_torch_function_variadic",
)  # fmt: skip
others.leave_out(
    "a gradient, which training alone computes",
    "aten._adaptive_avg_pool2d_backward.default", "aten.avg_pool2d_backward.default", "aten.convolution_backward.default",
    "aten.embedding_dense_backward.default", "aten.max_pool2d_with_indices_backward.default",
    "aten.native_group_norm_backward.default", "aten.native_layer_norm_backward.default",
)  # fmt: skip
