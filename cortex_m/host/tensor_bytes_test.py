import pytest
import torch

from cortex_m.host.tensor_bytes import tensor_to_bytes


def test_contiguous_tensor_is_in_logical_order():
    tensor = torch.arange(-3, 3, dtype=torch.int8).reshape(2, 3)
    assert tensor_to_bytes(tensor) == bytes([253, 254, 255, 0, 1, 2])


def test_channels_last_image_is_nhwc():
    image = torch.arange(24, dtype=torch.int8).reshape(1, 2, 3, 4)
    expected = image.permute(0, 2, 3, 1).contiguous().numpy().tobytes()
    assert tensor_to_bytes(image.to(memory_format=torch.channels_last)) == expected


def test_view_with_offset_gives_its_own_elements():
    assert tensor_to_bytes(torch.arange(6, dtype=torch.int16)[4:]) == bytes([4, 0, 5, 0])


@pytest.mark.parametrize("shape", [(), (0,), (1, 1, 1, 1), (2, 0, 3)])
def test_few_or_no_elements(shape):
    assert len(tensor_to_bytes(torch.zeros(shape))) == 4 * torch.zeros(shape).numel()


@pytest.mark.parametrize(
    "tensor",
    [torch.zeros(2, 1).expand(2, 3), torch.zeros(4, 4)[:, :2], torch.zeros(8)[::2]],
    ids=["expanded", "sliced", "stepped"],
)
def test_tensor_with_holes_or_overlaps_is_refused(tensor):
    with pytest.raises(ValueError, match="not dense"):
        tensor_to_bytes(tensor)
