"""What a script cannot hold, and what a trace and a script show of themselves."""

import torch


def tries(x):
    try:
        return x
    except ValueError:
        return x * 2


def branch(x):
    if x.sum() > 0:
        return 2 * x
    else:
        return x - 1


def kind(f):
    try:
        f()
    except RuntimeError:
        return "RuntimeError"
    except AttributeError:
        return "AttributeError"
    except Exception:
        return "another error"
    return "no error"


script = torch.jit.script(branch)
script(torch.ones(1))
trace = torch.jit.trace(branch, torch.ones(1))
answers = {
    "try": kind(lambda: torch.jit.script(tries)) != "no error",
    "an if in the script's code": "if" in script.code,
    "a graph": [script.graph is not None, trace.graph is not None],
    "graph_for": kind(lambda: script.graph_for(torch.ones(1))),
    "code of a trace": kind(lambda: trace.code),
    "no branch in a trace": "if" in str(trace.graph),
}
