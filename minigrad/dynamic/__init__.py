"""The dynamic graph: what computes at once and leaves a record on the tape."""
