"""Commands on a connection: frames, command headers, codes and bodies."""
