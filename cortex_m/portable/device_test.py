"""Cores give the host's bits: calls that the other tests make are made again on the simulated boards.

The host's results are themselves compared with PyTorch's by those tests.
"""

import pathlib

import pytest
import torch

from cortex_m import simulator
from cortex_m.portable import elementwise_test, layer_test, movement_test, reduction_test
from cortex_m.portable.kernel_library import kernel_names
from cortex_m.portable.replay_file import Recorder

_FOLDER = pathlib.Path(__file__).parent
_BOARDS = {"cortex_m55": "mps3_an547", "cortex_m4": "mps2_an386"}


def _record_everything() -> Recorder:
    """Some calls of every kernel, over types and layouts; the tests check the host's results at the same time."""
    with Recorder(limit=24) as recorder:
        for dtype in [torch.int8, torch.float32]:
            for test in [
                movement_test.test_view, movement_test.test_permute, movement_test.test_slice, movement_test.test_split,
                movement_test.test_cat, movement_test.test_repetition, movement_test.test_flip_and_roll,
                movement_test.test_constant_pad, movement_test.test_pixel_shuffle, movement_test.test_patterns,
                movement_test.test_upsample_nearest, movement_test.test_masks, movement_test.test_accumulating_index_put,
                movement_test.test_gather_and_scatter, movement_test.test_filled, movement_test.test_arange,
                movement_test.test_edge_pad, elementwise_test.test_where, elementwise_test.test_clamp,
                reduction_test.test_sum_and_mean, reduction_test.test_prod, reduction_test.test_extremes,
                reduction_test.test_any_and_all, reduction_test.test_cumsum, reduction_test.test_sort, reduction_test.test_topk,
            ]:  # fmt: skip
                recorder.start_of_group()
                test(dtype)
            for name in ["clone", "alias_copy", "detach_copy", "lift_fresh_copy"]:
                movement_test.test_copies(name, dtype)
            movement_test.test_indexing(dtype, torch.int64)
            for name in [
                "abs",
                "neg",
                "sign",
                "isnan",
                "isinf",
                "floor",
                "ceil",
                "trunc",
                "round",
                "bitwise_not",
                "logical_not",
            ]:
                elementwise_test.test_exact_unary(name, dtype)
            for scalar in [-3, 2.5]:
                elementwise_test.test_numbers(dtype, scalar)
        for pair in [
            (torch.int8, torch.int8),
            (torch.float32, torch.float32),
            (torch.int64, torch.float32),
            (torch.int32, torch.int16),
        ]:
            recorder.start_of_group()
            elementwise_test.test_arithmetic(*pair)
            elementwise_test.test_division_modes(*pair)
            elementwise_test.test_comparison_and_logic(*pair)
            movement_test.test_conversion(*pair)
        for name, scale in elementwise_test.UNARY:
            elementwise_test.test_functions_of_floats(name, scale)
        for dtype in [torch.int8, torch.int64]:
            layer_test.test_products_of_integers(dtype)
            for pool in layer_test.POOLS:
                layer_test.test_max_pool(*pool, dtype)
        recorder.start_of_group()
        for case in layer_test.CONVOLUTIONS:
            layer_test.test_convolution(case)
        for pool in layer_test.POOLS:
            layer_test.test_average_pools(*pool)
        for exponent in [2, 2.5, 7]:
            elementwise_test.test_pow_of_numbers(exponent)
        for test in [
            movement_test.test_conversion_of_special_floats, movement_test.test_copy_in_place, movement_test.test_clone_to_a_dim_order,
            elementwise_test.test_atan2, elementwise_test.test_special_floats_in_pairs, elementwise_test.test_pow_of_tensors,
            reduction_test.test_variance, reduction_test.test_order_of_nans, layer_test.test_products_of_floats,
            layer_test.test_adaptive_average_pool, layer_test.test_layer_norm, layer_test.test_group_norm,
            layer_test.test_batch_norm, layer_test.test_bilinear, layer_test.test_glu,
        ]:  # fmt: skip
            recorder.start_of_group()
            test()
        elementwise_test.test_round_to_decimals(3)
        elementwise_test.test_activations(3.0)
        reduction_test.test_softmax(3.0)
    return recorder


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    recorder = _record_everything()
    path = tmp_path_factory.mktemp("replay") / "calls.bin"
    path.write_bytes(recorder.data)
    return recorder, path


def test_every_kernel_is_replayed(recorded):
    recorder, _ = recorded
    assert sorted(set(kernel_names()) - set(recorder.counts)) == []


@pytest.mark.parametrize("core", _BOARDS)
def test_a_core_gives_the_bits_of_the_host(recorded, core):
    recorder, path = recorded
    result = simulator.run(
        _BOARDS[core], _FOLDER / f"replay_{core}.elf", [path.name], cwd=path.parent, timeout=600, check=False
    )
    assert result.status == 0, result.stdout[-4000:]
    assert int(result.values["calls"]) == sum(recorder.counts.values()) > 2000
    assert result.values["failures"] == "0"
