"""Functions that move data, and modules that put them between quantized layers; `movement_test` says what must come of them.

Each function takes an image of SHAPE. Alone it stands as PT2E writes it: quantized before and, with the same parameters, after.
"""

import torch
import torch.nn.functional as F
from torch import nn

from cortex_m.passes.recipe import round_trip

PARAMETERS = (0.023, 7)


class Between(nn.Module):
    """Functions, each between a quantized input and, where its results are float, quantized outputs."""

    def __init__(self, *functions, after=PARAMETERS):
        super().__init__()
        self.functions, self.after = functions, after

    def forward(self, x):
        x = round_trip(x, *PARAMETERS)
        results = []
        for function in self.functions:
            result = function(x)
            results += [result] if isinstance(result, torch.Tensor) else result
        return [
            round_trip(result, *self.after) if result.is_floating_point() and self.after else result
            for result in results
        ]


class Network(nn.Module):
    """Each function between two convolutions, where images are NHWC; the first convolution is the same for all."""

    def __init__(self, functions, shape):
        super().__init__()
        self.before = nn.Conv2d(shape[1], shape[1], 1)
        self.functions = functions
        channels = [function(torch.zeros(shape)).shape[1] for function in functions]
        self.after = nn.ModuleList(nn.Conv2d(count, 3, 1) for count in channels)

    def forward(self, x):
        x = self.before(x)
        return [after(function(x)) for function, after in zip(self.functions, self.after)]


def image(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(5))


SHAPE = (2, 8, 6, 4)
# Images to images: these keep the NHWC order between convolutions.
IMAGES = {
    "cat channels": lambda x: torch.cat([x, x.flip(2), x], 1),
    "cat height": lambda x: torch.cat([x, x], 2),
    "concat width": lambda x: torch.concat([x, x], -1),
    "split": lambda x: torch.cat(x.split(3, 1)[::-1], 1),
    "split sizes": lambda x: x.split([2, 6], 1)[1],
    "chunk": lambda x: x.chunk(3, 2)[1],
    "tensor_split": lambda x: x.tensor_split(3, 1)[1],
    "slice": lambda x: x[:, 1:7:2, 1:, :-1],
    "narrow": lambda x: x.narrow(2, 1, 3),
    "repeat": lambda x: x.repeat(1, 2, 1, 3),
    "tile": lambda x: x.tile(2, 1, 2),
    "expand": lambda x: x[:, :1].expand(-1, 5, -1, -1),
    "expand_as": lambda x: x[:, :1].expand_as(x),
    "flip": lambda x: x.flip(1, 3),
    "roll": lambda x: x.roll((1, -2), (1, 2)),
    "pad": lambda x: F.pad(x, (1, 2, 0, 3)),
    "crop": lambda x: F.pad(x, (-1, 2, 1, -2)),
    "pad reflect": lambda x: F.pad(x, (1, 2, 3, 0), mode="reflect"),
    "pad replicate": lambda x: F.pad(x, (1, 2, 3, 0), mode="replicate"),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 2),
    "upsample": lambda x: F.interpolate(x, scale_factor=2),
    "upsample by a fraction": lambda x: F.interpolate(x, scale_factor=1.7),
    "upsample to a size": lambda x: F.interpolate(x, size=(9, 5)),
    "upsample exact": lambda x: F.interpolate(x, size=(9, 5), mode="nearest-exact"),
    "index_select": lambda x: x.index_select(1, torch.tensor([5, 0, 0, 3])),
    "index": lambda x: x[:, [2, 0, 7]],
    "amax": lambda x: x.amax((2, 3), keepdim=True),
    "amin": lambda x: x.amin(1, keepdim=True),
}
# The quantizer writes these as slices and a cat; export alone makes loops of copies of them.
CIRCULAR = {
    "pad circular": lambda x: F.pad(x, (1, 2, 3, 0), mode="circular"),
    "pad circular and crop": lambda x: F.pad(x, (1, -2, -1, 2), mode="circular"),
}
# A transpose of groups and channels is what they are.
SHUFFLES = {"channel_shuffle": lambda x: F.channel_shuffle(x, 2)}
OTHERS = {
    "stack": lambda x: torch.stack([x, x.flip(1)], 2),
    "unbind": lambda x: x.unbind(1)[3],
    "select": lambda x: x.select(2, -1),
    "permute rank 5": lambda x: x.view(2, 2, 4, 6, 4).permute(4, 2, 0, 3, 1),
    "permute rank 6": lambda x: x.view(2, 2, 4, 3, 2, 4).permute(5, 2, 3, 0, 1, 4),
    "transpose": lambda x: x.transpose(1, 3),
    "t": lambda x: x[0, 0].t(),
    "movedim": lambda x: x.movedim(1, 3),
    "swapaxes": lambda x: x.swapaxes(0, 2),
    "view": lambda x: x.view(2, -1),
    "reshape": lambda x: x.transpose(1, 2).reshape(12, 32),
    "flatten": lambda x: x.flatten(1, 2),
    "unflatten": lambda x: x.unflatten(1, (2, 4)),
    "squeeze": lambda x: x[:1].squeeze(0).unsqueeze(-1),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 1),
    "roll all": lambda x: x.roll(5),
    "rot90": lambda x: x.rot90(1, (2, 3)),
    "pad reflect rank 3": lambda x: F.pad(x[0], (1, 2), mode="reflect"),
    "pad reflect rank 5": lambda x: F.pad(x[None], (1, 2, 1, 0, 3, 1), mode="reflect"),
    "pad replicate rank 5": lambda x: F.pad(x[None], (1, 2, 1, 0, 3, 1), mode="replicate"),
    "pad rank 5": lambda x: F.pad(x[None], (1, 2, 1, 0, 3, 1)),
    "upsample rank 3": lambda x: F.interpolate(x[0], scale_factor=2),
    "upsample rank 5": lambda x: F.interpolate(x[None], scale_factor=2),
    "index of two": lambda x: x[:, :, [2, 0], [1, 1]],
    "gather": lambda x: x.gather(1, torch.tensor([3, 1]).reshape(2, 1, 1, 1).expand(2, 1, 6, 4)),
    "amax": lambda x: x.amax((2, 3)),
    "max": lambda x: x.max(),
    "min": lambda x: x.min(),
    "max values": lambda x: x.max(1).values,
    "min values": lambda x: x.min(-1, keepdim=True)[0],
    "max along a dim": lambda x: tuple(x.max(1)),
    "argmax": lambda x: x.argmax(1),
    "argmin of all": lambda x: x.argmin(),
    "all parts": lambda x: x.split(5, 1),
    "unfold": lambda x: x.unfold(2, 3, 2),
    "diagonal": lambda x: x.diagonal(1, 2, 3),
    "where": lambda x: torch.where(x > 0.4, x, x.flip(1)),
    "masked_fill": lambda x: x.masked_fill(x < -0.2, 0.0),
    "gt": lambda x: x > 0.5,
    "never equal": lambda x: x == 0.01,
    "always less": lambda x: x < 1e9,
    "ne of two": lambda x: x != x.flip(1),
    "clone": lambda x: x.clone(),
    "dropout": lambda x: F.dropout(x, 0.5, training=False),
}


ALL = {**IMAGES, **SHUFFLES, **OTHERS}
