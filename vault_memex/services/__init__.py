"""Use cases: the only layer that reads the Snapshot and touches the store."""
