"""Every sentence that the pages say, in both languages."""
