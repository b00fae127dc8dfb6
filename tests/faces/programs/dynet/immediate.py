"""For finding a mistake: compute each expression when it is made, and refuse NaN and infinity."""

import dynet as dy

answers = {}
for name, options in {
    "later": {},
    "at once": {"immediate_compute": True},
    "checked": {"immediate_compute": True, "check_validity": True},
}.items():
    dy.renew_cg(**options)
    x = dy.inputVector([0, 1])
    try:
        y = dy.log(x)
        answers[name] = y.value()
    except RuntimeError:
        answers[name] = "RuntimeError"
dy.renew_cg(immediate_compute=True, check_validity=True)
answers["fine"] = dy.exp(dy.inputVector([0, 1])).value()
dy.renew_cg()
