"""What runs on the host: the kernel library's sizes, and an interpreter of .pte files."""
