"""The page in the browser: what waits, the journal, notes, signals and the graph, for the vault's owner alone."""
