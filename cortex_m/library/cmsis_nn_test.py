"""The facade asks the kernel library what it is told to ask; the library's sizes are tested beside the kernels."""

import pytest

from cortex_m.library import cmsis_nn
from cortex_m.library.cmsis_nn import Backend, CortexM, DataType

CONVOLUTION = dict(
    input_nhwc=[1, 8, 8, 16], filter_nhwc=[8, 3, 3, 16], output_nhwc=[1, 8, 8, 8],
    padding_hw=[1, 1], stride_hw=[1, 1], dilation_hw=[1, 1],
)  # fmt: skip
DEPTHWISE = CONVOLUTION | dict(filter_nhwc=[1, 3, 3, 16], output_nhwc=[1, 8, 8, 16], ch_mult=1)
# 4x4 pixels, kernel 3, stride 2: (4 - 1) * 2 + 3 = 9 rows.
TRANSPOSED = dict(input_nhwc=[1, 4, 4, 16], filter_nhwc=[8, 3, 3, 16], padding_hw=[0, 0], stride_hw=[2, 2])
QUERIES = {
    "convolve_wrapper_buffer_size": CONVOLUTION,
    "depthwise_conv_wrapper_buffer_size": DEPTHWISE,
    "fully_connected_buffer_size": dict(filter_nhwc=[16, -1, -1, 5]),
    "transpose_conv_buffer_size": TRANSPOSED | dict(output_nhwc=[1, 9, 9, 8], dilation_hw=[1, 1]),
    "transpose_conv_reverse_conv_buffer_size": TRANSPOSED,
    "avgpool_buffer_size": dict(dim_dst_width=4, ch_src=16),
}


def test_numbers_of_the_enums():
    assert [(x.name, x.value) for x in Backend] == [("MVE", 0), ("DSP", 1), ("SCALAR", 2)]
    assert [(x.name, x.value) for x in DataType] == [("A8W4", 0), ("A8W8", 1), ("A16W8", 2)]
    assert [x.name for x in CortexM] == ["M0", "M0PLUS", "M3", "M4", "M7", "M23", "M33", "M35P", "M55", "M85"]


@pytest.mark.parametrize(
    ("backend", "cpus"),
    [("SCALAR", "M0 M0PLUS M3 M23"), ("DSP", "M4 M7 M33 M35P"), ("MVE", "M55 M85")],
)
def test_backend_of_a_core(backend, cpus):
    assert {cmsis_nn.resolve_backend(CortexM[cpu]) for cpu in cpus.split()} == {Backend[backend]}


@pytest.mark.parametrize("backend", Backend)
@pytest.mark.parametrize("name", QUERIES)
def test_every_query_answers_with_bytes(name, backend):
    assert getattr(cmsis_nn, name)(backend, DataType.A8W8, **QUERIES[name]) >= 0


@pytest.mark.parametrize("data_type", [DataType.A8W4, DataType.A16W8])
@pytest.mark.parametrize("name", QUERIES)
def test_other_data_types_are_refused(name, data_type):
    with pytest.raises(ValueError, match=f"no kernel takes {data_type.name}"):
        getattr(cmsis_nn, name)(Backend.DSP, data_type, **QUERIES[name])


def test_arguments_reach_the_library():
    """Scalar convolution: im2col of four pixels in int32, of the filter's size."""
    size = cmsis_nn.convolve_wrapper_buffer_size(Backend.SCALAR, DataType.A8W8, **CONVOLUTION)
    assert size == 4 * (3 * 3 * 16) * 4
    wider = CONVOLUTION | dict(filter_nhwc=[8, 3, 5, 16], padding_hw=[1, 2], input_offset=3, activation_max=6)
    assert cmsis_nn.convolve_wrapper_buffer_size(Backend.SCALAR, DataType.A8W8, **wider) == 4 * (3 * 5 * 16) * 4


def test_both_forms_of_a_depthwise_filter_are_one():
    turned = DEPTHWISE | dict(filter_nhwc=[16, 3, 3, 1])
    for backend in Backend:
        sizes = {cmsis_nn.depthwise_conv_wrapper_buffer_size(backend, DataType.A8W8, **x) for x in (DEPTHWISE, turned)}
        assert len(sizes) == 1
    with pytest.raises(ValueError, match="depthwise filter"):
        cmsis_nn.depthwise_conv_wrapper_buffer_size(
            Backend.MVE, DataType.A8W8, **DEPTHWISE | dict(filter_nhwc=[16, 3, 3, 2])
        )


def test_sizes_that_no_kernel_takes_are_refused():
    with pytest.raises(ValueError, match="no kernel takes"):
        cmsis_nn.convolve_wrapper_buffer_size(
            Backend.DSP, DataType.A8W8, **CONVOLUTION | dict(filter_nhwc=[8, 3, 0, 16])
        )
