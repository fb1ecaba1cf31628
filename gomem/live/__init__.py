"""Captures of running processes: /proc and HTTP."""
