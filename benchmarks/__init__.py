"""Measurements of the program on generated vaults. Not part of the installed package."""
