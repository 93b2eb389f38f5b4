"""What an export says it loses, against the ratio computed here, and the floor."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from cortex_m import ModelSource, export_model
from cortex_m.analysis.loss import Loss, QualityError, require_quality


def calls(count, seed, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return [(scale * torch.randn(1, 16, generator=generator),) for _ in range(count)]


class Two(nn.Module):
    """Two float outputs and one of bool."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.early, self.late = nn.Linear(16, 8), nn.Linear(8, 4)

    def forward(self, x):
        hidden = self.early(x)
        return self.late(hidden), hidden.relu(), hidden > 0


def ratio(pairs):
    """10 log10(sum f^2 / sum (f - d)^2) in numpy's float64."""
    wanted, given = (np.concatenate([np.asarray(side, np.float64).ravel() for side in sides]) for sides in zip(*pairs))
    return 10 * math.log10(np.square(wanted).sum() / np.square(wanted - given).sum())


@pytest.mark.parametrize("evaluation", [3, 0])
def test_each_output_over_all_samples(evaluation):
    model = Two()
    samples = calls(4, seed=0)
    source = ModelSource(model, samples[0], calibration=samples, evaluation=calls(evaluation, seed=1))
    result = export_model(source, strict=False)
    from cortex_m.host.interpreter import ReferenceProgram

    judged = source.evaluation or samples
    runs = [(model(*call), ReferenceProgram(result.program).run(call)) for call in judged]
    assert result.loss.samples == len(judged) and result.loss.held_out == bool(evaluation)
    assert len(result.loss.outputs) == 2
    for position, output in enumerate(result.loss.outputs):
        pairs = [(wanted[position].detach(), given[position]) for wanted, given in runs]
        assert output.sqnr_db == pytest.approx(ratio(pairs), abs=1e-6)
    said = "calibration has not seen" if evaluation else "the samples that it was calibrated with"
    assert said in str(result.loss)


def test_below_the_floor_is_an_error_that_names_the_layer():
    loud = calls(3, seed=0, scale=30.0)  # evaluation is far outside of what calibration saw
    source = ModelSource(nn.Sequential(nn.Linear(16, 4)), calls(1, 0)[0], calibration=calls(3, 0), evaluation=loud)
    with pytest.raises(
        QualityError,
        match=r"output_0 \d\.\d\d dB, and the floor is 10 dB \(sqnr_floor_db\).*from it: .*quantized_linear_per_channel",
    ):
        export_model(source)


def test_a_floor_of_ones_own():
    samples = calls(3, seed=0)
    with pytest.raises(QualityError, match="the floor is 90 dB"):
        export_model(ModelSource(nn.Linear(16, 4), samples[0], calibration=samples, sqnr_floor_db=90.0))


def test_the_cause_is_told_with_the_error():
    class Offset(nn.Module):
        def forward(self, x):
            return x - 1000

    samples = [(1000 + torch.rand(1, 8),) for _ in range(4)]
    with pytest.raises(QualityError, match="input 'x' ranges from 100"):
        export_model(ModelSource(Offset(), samples[0], calibration=samples))
    lossy = export_model(ModelSource(Offset(), samples[0], calibration=samples, sqnr_floor_db=-math.inf))
    assert lossy.loss.outputs[0].sqnr_db < 10


def test_equal_and_zero_outputs():
    ones, zeros = torch.ones(2), torch.zeros(2)
    exact = Loss.of(["a"], [([ones], [ones])], held_out=True)
    assert exact.outputs[0].sqnr_db == math.inf and exact.to_json()["outputs"] == [{"name": "a", "sqnr_db": None}]
    require_quality(exact, [], 100.0)
    noise = Loss.of(["a"], [([zeros], [ones])], held_out=True)
    with pytest.raises(QualityError, match="a -inf dB"):
        require_quality(noise, [], -300.0)
