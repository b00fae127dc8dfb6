"""Every operator record, grouped by kind. Importing this package fills the registry."""

from minigrad.ops import state as state  # records that have no name here
from minigrad.ops.activations import *
from minigrad.ops.arrange import *
from minigrad.ops.classify import *
from minigrad.ops.conv import *
from minigrad.ops.effects import *
from minigrad.ops.elementwise import *
from minigrad.ops.indexing import *
from minigrad.ops.joining import *
from minigrad.ops.lengths import *
from minigrad.ops.linear import *
from minigrad.ops.logic import *
from minigrad.ops.normal import *
from minigrad.ops.pool import *
from minigrad.ops.product import *
from minigrad.ops.random import *
from minigrad.ops.reduction import *
from minigrad.ops.rows import *
from minigrad.ops.shape import *
from minigrad.ops.subscript import *
