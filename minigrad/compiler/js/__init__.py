"""Generated JavaScript: a program as one text that a page runs anywhere, without Python.

`scalars` holds the JavaScript of each operator that works by element, `kernels` the calls of all
others, `runtime.js` what they call; `writer` puts them together, by the layout and the plan that
the other executors have.

`mg.compile(graph, executor="js").source` is one expression. Its value is a function, and each call
of that makes a network with memory and variables of its own:

    const make = …the text…;
    const net = make();
    const [p] = net.run({x: pixels});

run(feeds, watch)   runs once and returns a list of typed arrays, flat, yours to keep. Feeds are
                    given by name: typed arrays, arrays or nested arrays of numbers, one number.
                    Variables take their new values at the end. watch(i, array), if given, is
                    called after each step; its array is a view of memory that is used again.
feeds, outputs      what goes in and comes out: a list of {name, shape, dtype}
steps               what `watch` is called with, in this order: likewise, and with `op`. Values in
                    between are there if the graph was compiled with `optimize=False`. A reshape
                    is no step: it is the same memory.
variables           typed arrays by name: read them, or put in others with `set`

Numbers are kept in the typed array of their data type, and int64 in a Float64Array: exact up to
2^53, and beyond that a run ends with a RangeError. Names occur only as escaped strings, and nothing
is evaluated at run time, so the text may stand in a <script> of any page.
"""
