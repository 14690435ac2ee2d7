"""Beam transforms, and beside them the pure functions that they apply."""
