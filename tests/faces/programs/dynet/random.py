"""What is drawn is drawn once for an expression; its mean and spread are what was asked for."""

import dynet as dy
import numpy as np

dy.renew_cg()
x = dy.random_normal(2000)
u = dy.random_uniform(2000, 1.0, 3.0)
mask = dy.dropout(dy.ones(2000), 0.25)
same = mask.value(), mask.value()
answers = {
    "dimension": [x.dim(), u.dim()],
    "normal": bool(abs(np.mean(x.npvalue())) < 0.2 and abs(np.std(x.npvalue()) - 1) < 0.2),
    "uniform": bool(np.min(u.npvalue()) >= 1 and np.max(u.npvalue()) <= 3),
    "dropped": bool(abs(np.mean(mask.npvalue() == 0) - 0.25) < 0.1),
    "scaled": round(float(np.max(mask.npvalue())), 5),
    "once": same[0] == same[1],
    "noise": dy.noise(dy.zeros(3), 0.0).value(),
}
