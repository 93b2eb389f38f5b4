"""Reading photos: what the network gets, and files that are none."""

import numpy as np
import PIL.Image
import pytest
import torch

from examples import photos


def test_a_uniform_image_becomes_normalised_planes():
    image = PIL.Image.new("RGB", (400, 300), (255, 0, 51))
    tensor = photos.network_input(image)
    assert tensor.shape == (1, 3, 224, 224) and tensor.dtype == torch.float32 and tensor.is_contiguous()
    # (value - mean) / deviation of ImageNet, by hand: (1 - 0.485) / 0.229, (0 - 0.456) / 0.224, (0.2 - 0.406) / 0.225
    expected = torch.tensor([2.248908, -2.035714, -0.915556]).reshape(1, 3, 1, 1).expand_as(tensor)
    torch.testing.assert_close(tensor, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("size", [(300, 200), (200, 300)])
def test_only_the_centre_square_counts(size):
    pixels = np.zeros((size[1], size[0], 3), np.uint8)
    top, left = (size[1] - 200) // 2, (size[0] - 200) // 2
    pixels[top : top + 200, left : left + 200] = 128
    tensor = photos.network_input(PIL.Image.fromarray(pixels))
    assert torch.allclose(tensor[0, 0], torch.full((224, 224), (128 / 255 - 0.485) / 0.229), atol=1e-5)


def test_grey_and_transparent_images_are_read_as_rgb(tmp_path):
    for mode in ("L", "RGBA", "P"):
        PIL.Image.new(mode, (8, 8)).save(tmp_path / f"{mode}.png")
        assert photos.read(tmp_path / f"{mode}.png").mode == "RGB"


def test_all_samples_are_there():
    for name in photos.SAMPLES:
        assert photos.load(photos.sample_path(name)).shape == (1, 3, 224, 224)


@pytest.mark.parametrize(
    "content", [b"", b"no image at all", b"\x89PNG\r\n\x1a\n" + bytes(20), b"\xff\xd8\xff\xe0 cut short"]
)
def test_a_file_that_is_no_image_is_refused_in_one_sentence(tmp_path, content):
    path = tmp_path / "photo.jpg"
    path.write_bytes(content)
    with pytest.raises(photos.ImageError, match="photo.jpg: not an image that can be read") as caught:
        photos.read(path)
    assert "\n" not in str(caught.value)


def test_a_truncated_photo_is_refused(tmp_path):
    photo = photos.sample_path("rocket.jpg").read_bytes()
    (tmp_path / "half.jpg").write_bytes(photo[: len(photo) // 2])
    with pytest.raises(photos.ImageError, match="half.jpg: not an image that can be read"):
        photos.read(tmp_path / "half.jpg")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(photos.ImageError, match="none.png: there is no such file"):
        photos.read(tmp_path / "none.png")
