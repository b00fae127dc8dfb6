"""From frames to a page that plays them."""
