"""Each clause was seen to fail: mutants, changed frames, wrong clients."""
