"""What crosses a connection: frames, command headers, codes and bodies."""
