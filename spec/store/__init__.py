"""Files of a broker: commit log, consume queue, index, checkpoint, names."""
