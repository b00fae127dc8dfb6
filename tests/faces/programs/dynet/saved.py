"""Parameters go to a text file and come back."""

import os
import tempfile

import dynet as dy
import numpy as np


def collection(start):
    m = dy.ParameterCollection()
    m.add_parameters((2, 2), init=start)
    m.add_lookup_parameters((3, 2), init=start, name="words")
    return m


first, second = collection(0.5), collection(0.0)
first.parameters_list()[0].set_value(np.array([[1, 2], [3, 4]]))
first.lookup_parameters_list()[0].init_from_array(np.arange(6).reshape(3, 2))
with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "model")
    first.save(file)
    with open(file) as lines:
        text = lines.read()
    second.populate(file)
answers = {
    "file": text,
    "parameters": second.parameters_list()[0].as_array(),
    "words": second.lookup_parameters_list()[0].as_array(),
}
