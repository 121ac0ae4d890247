"""What a broker keeps on disk: commit log, consume queue, index, checkpoint, names."""
