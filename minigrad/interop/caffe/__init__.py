"""Caffe: a net and its weights as a graph."""
