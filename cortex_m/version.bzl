"""The version of the package; the wheel's metadata has it from here."""

VERSION = "0.3.0"
