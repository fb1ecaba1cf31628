"""Capture running processes, from /proc and over HTTP."""
