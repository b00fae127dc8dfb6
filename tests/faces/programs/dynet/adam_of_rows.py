"""Adam on a table: how many steps a row counts that is looked up for the first time."""

import dynet as dy
import numpy as np

m = dy.ParameterCollection()
E = m.add_lookup_parameters((2, 1), init=np.ones((2, 1)))
trainer = dy.AdamTrainer(m, alpha=0.1)
seen = []
for word in (0, 0, 1):
    dy.renew_cg()
    dy.squared_norm(E[word]).backward()
    trainer.update()
    seen.append(E.as_array())
answers = {"row of every step": [rows[0] for rows in seen], "late row": seen[-1][1]}
