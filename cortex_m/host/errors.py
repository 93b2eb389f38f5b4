"""What is raised for programs and their inputs."""


class ProgramError(ValueError):
    """The program is refused, asks for something that is not there, or fails while it runs; the message names what."""
