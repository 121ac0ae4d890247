"""The bytes of each kind of file, and the names of files and folders."""
