"""From a recording to frames."""
