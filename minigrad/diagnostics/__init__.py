"""Every sentence that the engine says, its errors, and the user's line."""
