"""From an edge program with quantize and dequantize nodes to one of cortex_m ops. Start at cortex_m_pass_manager.py."""
