"""Names whose rows are faults that are known, each with what is wrong. A row that has become right must leave this list."""

KNOWN: dict[str, str] = {}
