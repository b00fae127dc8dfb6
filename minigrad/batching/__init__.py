"""Lazy batching: operations of many samples are recorded, and equal ones run as one.

The idea is DyNet's (Neubig, Goldberg and Dyer, On-the-fly operation batching in dynamic computation
graphs, 2017). A model is written for one sample, and samples may have graphs of different form.

    collector   notes operations inside `lazy_batch`, and runs what was noted
    pending     the tensor for a result that isn't computed yet
    groups      operations that can run together, and in which order groups run
    gathering   the operands of a group as one batch
    rules       how an operator runs on a batch
    calls       what a traced function does, called for many samples at once
    running     one group: operands, operator, results
    notes       events for a recording
"""

from minigrad.batching.collector import lazy_batch

__all__ = ["lazy_batch"]
