"""What is there for speed alone: the one door to it is where `Tensor` chooses its reader.

ways      for each operator two functions, for one and for two operands without detours
ready     gradient rules found once for each kind of operands, and kept
written   gradient rules written out as Python
descent   the backward sweep over a tape where nobody listens
"""
