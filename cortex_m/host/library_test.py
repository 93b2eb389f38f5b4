"""The questions that are asked of the kernel library; its answers are tested beside the kernels."""

import pytest

from cortex_m.host import library
from cortex_m.target_config import Backend

GEOMETRY = dict(input_nhwc=(1, 8, 8, 16), output_nhwc=(1, 8, 8, 8), stride=(1, 1), padding=(1, 1), dilation=(1, 1))


@pytest.mark.parametrize("backend", Backend)
def test_sizes_are_plain_byte_counts(backend):
    assert library.convolve_scratch_size(backend, filter_dims=(8, 3, 3, 16), **GEOMETRY) >= 0
    pointwise = GEOMETRY | dict(padding=(0, 0))
    assert library.convolve_scratch_size(backend, filter_dims=(8, 1, 1, 16), **pointwise) >= 0
    depthwise = GEOMETRY | dict(input_nhwc=(3, 8, 8, 16), output_nhwc=(3, 8, 8, 16))
    assert library.depthwise_conv_scratch_size(backend, filter_dims=(1, 3, 3, 16), depth_multiplier=1, **depthwise) >= 0
    assert library.avg_pool_scratch_size(backend, output_width=4, channels=16) >= 0
    assert library.batch_matmul_scratch_size(backend, depth=16, columns=5) >= 0
    transposed = dict(input_nhwc=(1, 4, 4, 16), filter_dims=(8, 3, 3, 16), output_nhwc=(1, 9, 9, 8), stride=(2, 2))
    plain = dict(padding=(0, 0), dilation=(1, 1), output_padding=(0, 0))
    dilated = dict(padding=(1, 1), dilation=(2, 2), output_padding=(0, 0))
    for query in (library.transpose_conv_scratch_size, library.transpose_conv_output_scratch_size):
        assert query(backend, **transposed, **plain) >= 0
        assert query(backend, **transposed, **dilated) == 0


def test_scalar_convolution_needs_four_columns_of_words():
    size = library.convolve_scratch_size(Backend.SCALAR, filter_dims=(8, 3, 3, 16), **GEOMETRY)
    assert size == 4 * (3 * 3 * 16) * 4  # im2col of four pixels, int32


def test_sizes_that_no_kernel_takes_are_refused():
    with pytest.raises(ValueError, match="no kernel takes"):
        library.convolve_scratch_size(Backend.SCALAR, filter_dims=(8, 3, 0, 16), **GEOMETRY)


def test_a_missing_library_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CORTEX_M_NN_LIBRARY", str(tmp_path / "absent.so"))
    library._library.cache_clear()
    try:
        with pytest.raises(FileNotFoundError, match="absent.so.*bazel build //cortex_m/nn:libcortex_m_nn.so"):
            library.avg_pool_scratch_size(Backend.SCALAR, output_width=1, channels=1)
    finally:
        library._library.cache_clear()
