"""What a program needs and does, read from the bytes of its .pte."""
