"""Derived data follows the files: scan, diff, index, watch."""
