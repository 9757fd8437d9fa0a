"""The composition root: all wiring on one screen."""
