"""What a gradient rule needs, what it contributes, and the sweep that adds it up."""
