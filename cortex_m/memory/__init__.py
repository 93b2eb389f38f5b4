"""Where the tensors of a program lie while it runs: which share memory, and a placement of all in a small arena."""
