"""A mark for each tone, so that colour alone says nothing."""

from __future__ import annotations

MARKS = {"critical": "■", "warning": "▲", "info": "●", "good": "✓", "neutral": "●"}
