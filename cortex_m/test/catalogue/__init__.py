"""What becomes of each module of torch.nn, each function of torch.nn.functional and each core ATen operator: docs/catalogue.md."""
