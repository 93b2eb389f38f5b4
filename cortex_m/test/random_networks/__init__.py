"""Networks drawn at random from the supported operators: each is exact on every machine and near PyTorch, or refused in one sentence."""
