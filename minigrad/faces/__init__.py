"""Other systems in their own words: `import minigrad.faces.torch as torch`.

A face is names and nothing else: what it computes is minigrad's. It knows what a learner types
first, refuses the rest with the name of what there is, and is loaded by nobody but its user.
"""
