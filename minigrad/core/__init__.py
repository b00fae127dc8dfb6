"""The operator record, specs of values, and the one switch between the three readers."""

from minigrad.core.context import *
from minigrad.core.record import *
from minigrad.core.specs import *
