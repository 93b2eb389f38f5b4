"""What is raised for a model that cannot be exported; imports no torch."""


class ModelError(ValueError):
    """The model or its inputs cannot be exported; the message is one sentence for the person who wrote them."""


class UserCodeError(ModelError):
    """The user's own code raised; that error is the cause, with the traceback from the user's first line on."""
