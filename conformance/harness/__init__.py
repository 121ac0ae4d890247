"""How peers are started, spoken to, judged and reported on."""
