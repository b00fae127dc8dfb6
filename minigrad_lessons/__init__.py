"""The lessons, and what opens them: `minigrad-lessons`, or `python tasks.py lab` in a checkout.

Standard library only, as `tasks.py` imports it before anything is installed; and any Python from
3.6 on can read it, so an old one gets a sentence, not a SyntaxError.
"""
