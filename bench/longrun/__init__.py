"""Long runs: soak, kills, memory, wrong frames and fuzzing."""
