"""The operator record, what is known of values, and the one switch between the three readers."""

from minigrad.core.context import *
from minigrad.core.record import *
from minigrad.core.specs import *
