"""The suite on peers that lie, lack requests or break."""
