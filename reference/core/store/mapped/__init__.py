"""Fixed-size files of the store (Java: MappedFile, MappedFileQueue).

Begin with ``mapped_file_queue.py``; ``files.py`` declares the port to the disk.
"""
