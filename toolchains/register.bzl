"""Registers every toolchain of the workspace."""

def cortex_m_toolchains():
    """Call once from WORKSPACE. Registering names a toolchain; its repository is fetched when it is chosen."""
    native.register_toolchains(
        str(Label("//toolchains/arm_none_eabi:all")),
        str(Label("//toolchains/python:toolchain")),
        str(Label("//toolchains/simulator:toolchain")),
    )
