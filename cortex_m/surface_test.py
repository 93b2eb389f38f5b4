"""The names and arguments that programs written for the seed system use, without its package prefix."""

import importlib
import inspect

import pytest

QUANTIZER = "quantizer.quantizer"
CONFIGS = "quantizer.quantization_configs"

# Names by module.
NAMES = {
    "quantizer": """CMSIS_SOFTMAX_SCALE CMSIS_SOFTMAX_ZERO_POINT CortexMQuantizationConfig
        INT8_ACTIVATION_PER_CHANNEL_QSPEC INT8_ACTIVATION_PER_TENSOR_QSPEC INT8_PER_CHANNEL_CONFIG INT8_PER_TENSOR_CONFIG
        INT8_WEIGHT_PER_CHANNEL_QSPEC INT8_WEIGHT_PER_TENSOR_QSPEC SOFTMAX_OUTPUT_FIXED_QSPEC""",
    CONFIGS: "INT16_PER_TENSOR_CONFIG INT16_ACTIVATION_PER_TENSOR_QSPEC INT8_PER_TENSOR_CONFIG CortexMQuantizationConfig",
    QUANTIZER: "CortexMQuantizer mark_node_as_annotated",
    "quantizer.node_finders": """GlobalNodeFinder InputNodeFinder OutputNodeFinder NodeNameNodeFinder
        NodeTargetNodeFinder ModuleNameNodeFinder ModuleTypeNodeFinder""",
    "quantizer.pattern_checkers": "PatternCheck",
    "passes.replace_quant_nodes_pass": "ReplaceQuantNodesPass",
    "quantizer.pattern_matcher": "PatternMatcher PatternMatchResult",
    "quantizer_reporter": """qspec_repr QuantizerInfo NodeQSpecReport AnnotatedPatternReport RejectedPatternReport
        QuantizerReport QuantizerReporter QuantizerReporterUser""",
    "passes.cortex_m_pass_manager": "CortexMPassManager",
    "edge_compile_config": "cortex_m_edge_compile_config",
    "target_config": "CortexM CortexMTargetConfig",
    "library.cmsis_nn": """Backend CortexM DataType resolve_backend convolve_wrapper_buffer_size
        depthwise_conv_wrapper_buffer_size fully_connected_buffer_size transpose_conv_buffer_size
        transpose_conv_reverse_conv_buffer_size avgpool_buffer_size""",
    "test.tester": """CortexMTester CortexMQuantize CortexMToEdge CortexMRunPasses CortexMToEdgeTransformAndLower
        CortexMSerialize cortex_m_stage_classes McuTestCase ramp_tensor""",
}

# module, callable: its first arguments, in order
ARGUMENTS = {
    (QUANTIZER, "CortexMQuantizer"): "per_tensor_config use_explicit_layout",
    (QUANTIZER, "mark_node_as_annotated"): "node input_qspec_map output_qspec is_quantized",
    (CONFIGS, "CortexMQuantizationConfig"): "input_activation output_activation weight bias label",
    ("quantizer.node_finders", "NodeNameNodeFinder"): "names",
    ("quantizer.node_finders", "NodeTargetNodeFinder"): "targets",
    ("quantizer.node_finders", "ModuleNameNodeFinder"): "module_names",
    ("quantizer.node_finders", "ModuleTypeNodeFinder"): "module_types",
    ("quantizer.pattern_matcher", "PatternMatcher"): "support_dict support_dict_name",
    ("quantizer.pattern_matcher", "PatternMatchResult"): "pattern accepted message",
    ("quantizer_reporter", "QuantizerInfo"): "name targeted_nodes_description qconfig_label support_config_path",
    ("quantizer_reporter", "QuantizerReporter"): "quantizers report_title",
    ("passes.cortex_m_pass_manager", "CortexMPassManager"): "exported_program passes target_config use_explicit_layout",
    ("target_config", "CortexMTargetConfig"): "cpu isa",
    ("test.tester", "CortexMTester"): "module example_inputs target_config timeout",
    ("test.tester", "CortexMQuantize"): "calibration_samples",
    ("test.tester", "CortexMRunPasses"): "target_config",
    ("test.tester", "CortexMSerialize"): "target_config timeout",
}

# module, class, its attributes
ATTRIBUTES = {
    (QUANTIZER, "CortexMQuantizer"): "annotate validate transform_for_annotation",
    ("passes.cortex_m_pass_manager", "CortexMPassManager"): """legacy_pass_list explicit_layout_pass_list pass_list
        pass_list_transform_for_annotation transform transform_for_annotation""",
    ("quantizer_reporter", "QuantizerReport"): """report_accept report_reject accepted_node_count rejected_node_count
        rejected_previous_annotation_count quantizer_report""",
    ("quantizer_reporter", "QuantizerReporter"): "set_quantizers log_quantizer_report get_quantization_report",
    ("quantizer_reporter", "QuantizerReporterUser"): "register_reporter report_accept report_reject get_quantizer_info",
    ("test.tester", "CortexMTester"): """quantize export to_edge to_edge_transform_and_lower run_passes to_executorch
        serialize check check_not check_count check_node_count get_artifact run_method_and_compare_outputs test_dialect
        test_implementation""",
}


def load(module: str):
    return importlib.import_module(f"cortex_m.{module}")


@pytest.mark.parametrize("module", NAMES)
def test_names_are_there(module):
    assert not [name for name in NAMES[module].split() if not hasattr(load(module), name)]


@pytest.mark.parametrize(("module", "name"), ARGUMENTS)
def test_arguments_come_in_order(module, name):
    expected = ARGUMENTS[module, name].split()
    assert list(inspect.signature(getattr(load(module), name)).parameters)[: len(expected)] == expected


@pytest.mark.parametrize(("module", "name"), ATTRIBUTES)
def test_attributes_are_there(module, name):
    assert not [x for x in ATTRIBUTES[module, name].split() if not hasattr(getattr(load(module), name), x)]
