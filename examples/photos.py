"""Photos as ImageNet networks want them, and the twelve that scikit-image ships."""

from pathlib import Path

import numpy as np
import PIL.Image
import skimage
import skimage.transform
import torch

SIDE = 224
# Mean and standard deviation of ImageNet's training images, per channel, for values in [0, 1].
_MEAN = np.array([0.485, 0.456, 0.406])
_DEVIATION = np.array([0.229, 0.224, 0.225])

SAMPLES = (
    "astronaut.png",
    "camera.png",
    "chelsea.png",
    "clock_motion.png",
    "coffee.png",
    "coins.png",
    "motorcycle_left.png",
    "rocket.jpg",
    "hubble_deep_field.jpg",
    "retina.jpg",
    "horse.png",
    "page.png",
)


class ImageError(ValueError):
    """The file is not an image; the message is one sentence."""


def sample_path(name: str) -> Path:
    """Where one of SAMPLES lies."""
    return Path(skimage.__file__).parent / "data" / name


def read(path: Path) -> PIL.Image.Image:
    """The image at `path` in RGB; ImageError if there is none."""
    try:
        with PIL.Image.open(path) as image:
            return image.convert("RGB")
    except FileNotFoundError:
        raise ImageError(f"{path}: there is no such file") from None
    except (PIL.UnidentifiedImageError, OSError, ValueError, PIL.Image.DecompressionBombError) as error:
        raise ImageError(f"{path}: not an image that can be read ({error})") from None


def square(image: PIL.Image.Image) -> np.ndarray:
    """Centre square, resized to 224x224 with anti-aliasing: float64 [224, 224, 3] in [0, 1]."""
    pixels = np.asarray(image, dtype=np.float64) / 255.0
    height, width, _ = pixels.shape
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    cut = pixels[top : top + side, left : left + side]
    return skimage.transform.resize(cut, (SIDE, SIDE), anti_aliasing=True)


def normalised(pixels: np.ndarray, mean=_MEAN, deviation=_DEVIATION) -> torch.Tensor:
    """(pixels - mean) / deviation of an image [H, W, 3], each a number or three: float32 [1, 3, H, W]."""
    values = (pixels - mean) / deviation
    return torch.from_numpy(values.transpose(2, 0, 1)[None].astype(np.float32).copy())


def network_input(image: PIL.Image.Image) -> torch.Tensor:
    """Centre square of 224x224, normalised as ImageNet's networks want it: float32 [1, 3, 224, 224]."""
    return normalised(square(image))


def load(path: Path) -> torch.Tensor:
    """`network_input` of the image at `path`."""
    return network_input(read(path))
