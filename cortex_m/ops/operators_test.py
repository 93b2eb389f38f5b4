import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from cortex_m.ops import operators
from cortex_m.ops.reference.registry import FAKES, REFERENCES


@pytest.mark.parametrize("name", operators.read_schemas())
def test_every_schema_has_both_overloads(name):
    packet = getattr(torch.ops.cortex_m, name)
    functional, out = packet.default._schema, packet.out._schema
    assert str(functional) == f"cortex_m::{operators.read_schemas()[name]}"
    assert [a.name for a in out.arguments] == [a.name for a in functional.arguments] + ["out"]
    assert out.arguments[-1].is_out


def test_reference_and_shape_function_agree_on_the_argument_lists():
    assert set(FAKES) == set(REFERENCES) == set(operators.read_schemas())


def test_out_overload_writes_what_the_functional_one_returns():
    x = torch.randn(3, 4)
    args = (0.02, 3, -128, 127, torch.int8)
    out = torch.empty(3, 4, dtype=torch.int8)
    returned = torch.ops.cortex_m.quantize_per_tensor.out(x, *args, out=out)
    assert returned.data_ptr() == out.data_ptr()
    assert torch.equal(out, torch.ops.cortex_m.quantize_per_tensor(x, *args))


@pytest.mark.parametrize("out", [torch.empty(4, 3, dtype=torch.int8), torch.empty(3, 4, dtype=torch.int16)])
def test_out_overload_refuses_another_shape_or_type(out):
    with pytest.raises(ValueError, match="cortex_m::quantize_per_tensor.out"):
        torch.ops.cortex_m.quantize_per_tensor.out(torch.randn(3, 4), 0.02, 3, -128, 127, torch.int8, out=out)


def test_shape_functions_give_shape_dtype_and_strides_of_the_references():
    """Every op on one set of arguments, once real and once fake."""
    image = torch.randint(-9, 9, (1, 6, 5, 4), dtype=torch.int8)  # NHWC
    nchw = image.permute(0, 3, 1, 2)
    vector = torch.ones(4, dtype=torch.int32)
    scratch = torch.empty(0, dtype=torch.uint8)
    conv = (
        torch.ones(4, 3, 3, 4, dtype=torch.int8),
        None,
        [2, 1],
        [1, 0],
        [1, 1],
        0,
        0,
        vector,
        vector,
        -128,
        127,
        scratch,
    )
    depthwise = (
        torch.ones(1, 3, 3, 4, dtype=torch.int8),
        None,
        [2, 1],
        [1, 0],
        [1, 1],
        1,
        0,
        0,
        vector,
        vector,
        -128,
        127,
        scratch,
    )
    transposed = (
        torch.ones(4, 3, 3, 4, dtype=torch.int8), None, [2, 1], [1, 0], [1, 0], [1, 2], 0, 0, vector, vector, -128, 127,
        scratch, scratch,
    )  # fmt: skip
    packed = torch.zeros(2 * (3 * 32 + 24), dtype=torch.int8)  # 4 channels of 3 * 3 * 4 weights
    matrices = (
        torch.ones(2, 1, 3, 4, dtype=torch.int8),
        0,
        torch.ones(1, 5, 6, 4, dtype=torch.int8),
        0,
        0,
        2**30,
        -3,
        scratch,
    )
    maximum = ([3, 2], [2, 2], [1, 0], [1, 2], True, 0, 0, -128, 127)
    pool = ([3, 2], [2, 2], [1, 0], True, 0, 0, 0, scratch)
    quantize = (0.1, 0, -128, 127, torch.int8)
    one = (0, 2**30, 1)
    calls = {
        "quantize_per_tensor": (nchw.float(), *quantize),
        "dequantize_per_tensor": (nchw, *quantize),
        "quantize_to_nhwc": (nchw.float(), *quantize),
        "dequantize_from_nhwc": (image, *quantize),
        "quantized_conv2d": (nchw, *conv),
        "quantized_conv2d_nhwc": (image, *conv),
        "packed_conv2d_nhwc": (image, packed, 1, 4, [3, 3], [2, 1], [1, 0], [1, 1], 0, 0, -128, 127, scratch),
        "packed_depthwise_conv2d_nhwc": (
            torch.ones(1, 6, 5, 16, dtype=torch.int8),
            packed[:0].new_zeros(336),
            2,
            16,
            [3, 3],
            [2, 1],
            [1, 0],
            [1, 1],
            0,
            0,
            -128,
            127,
            scratch,
        ),
        "quantized_depthwise_conv2d": (nchw, *depthwise),
        "quantized_depthwise_conv2d_nhwc": (image, *depthwise),
        "quantized_transpose_conv2d": (nchw, *transposed),
        "quantized_transpose_conv2d_nhwc": (image, *transposed),
        "quantized_batch_matmul": matrices,
        "packed_linear": (image, packed[:0].new_zeros(64), 3, 4, 0, -128, 127, scratch),
        "quantized_linear": (image, torch.ones(3, 4, dtype=torch.int8), None, None, 0, 0, 0, [2**30], [1], 127, -128),
        "quantized_linear_per_channel": (
            image,
            torch.ones(4, 4, dtype=torch.int8),
            None,
            0,
            0,
            vector,
            vector,
            -128,
            127,
        ),
        "quantized_add": (image, *one, image, *one, *one, -128, 127),
        "quantized_mul": (image, 1, image[:, :1], 2, 3, *one[1:]),
        "quantized_div": (image[0], 1, image, 2, 3, 0.5),
        "minimum": (nchw, nchw[:, :1]),
        "maximum": (nchw[:, :1], nchw),
        "quantized_activation": (nchw, torch.arange(-128, 128, dtype=torch.int8)),
        "quantized_prelu": (nchw, 1, 0, 0, 2**30, 1, vector, vector),
        "quantized_avg_pool2d": (nchw, *pool),
        "quantized_avg_pool2d_nhwc": (image, *pool),
        "quantized_max_pool2d": (nchw, *maximum),
        "quantized_max_pool2d_nhwc": (image, *maximum),
        "pad": (nchw, [0, 1, 2, 3], [3, 2, 1, 0], 5),
        "transpose": (image, [2, 0, 3, 1]),
        "softmax": (nchw, 3, 0, -128, 2**30, 20, -100),
    }
    assert set(calls) == set(operators.read_schemas())
    for name, args in calls.items():
        op = getattr(torch.ops.cortex_m, name)
        real = op(*args)
        with FakeTensorMode(allow_non_fake_inputs=True) as mode:
            fake = op(*(mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in args))
        assert (fake.shape, fake.dtype, fake.stride()) == (real.shape, real.dtype, real.stride()), name
