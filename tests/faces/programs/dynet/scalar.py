"""y = x * x + 3 at x = 2; the gradient of an input is 0 unless the way back was full."""

import dynet as dy

dy.renew_cg()
x = dy.scalarInput(2)
y = x * x + 3
answers = {"y": y.value()}
y.backward()
answers["plain"] = x.gradient()
y.backward(full=True)
answers["full"] = x.gradient()
answers["of itself"] = y.gradient()
