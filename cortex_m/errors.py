"""What is raised for a model that cannot be exported; imports no torch."""


class ModelError(ValueError):
    """The model or its inputs cannot be exported; the message is one sentence for the person who wrote them."""
