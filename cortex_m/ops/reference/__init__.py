"""Host references of the cortex_m ops: exact integer arithmetic, one family of ops a file.

Each file gives, for every op it covers, a reference (torch tensors in, torch tensors out, bit for bit what the device
computes) and a shape function (the same arguments, fake tensors, an empty result). `operators.py` registers both.
"""
