"""The calls that the source notes print, example by example, in the form they have there.

A row: the example, the system, the lines, and what must hold after them. The lines stand after the
system's import, `import torch`, with the face in place of the system.
"""

from __future__ import annotations

IMPORTS = {
    "torch": "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n",
    "jax": "import jax\nimport jax.numpy as jnp\n",
    "cntk": "import cntk as C\nimport numpy as np\n",
    "dynet": "import dynet as dy\n",
    "tensorflow": "import tensorflow as tf\n",
    "tensorflow1": "import numpy as np\nimport tensorflow.compat.v1 as tf\n",
    "theano": "import numpy as np\nimport theano\nimport theano.tensor as T\n",
}
BRANCH = """
def f(x):
    if x.sum() > 0:
        return 2 * x
    else:
        return x - 1
"""
CALLS = [
    (
        "E1",
        "torch",
        "x = torch.tensor(2.0, requires_grad=True)\ny = x*x + 3\ny.backward()",
        "y.item() == 7 and x.grad.item() == 4",
    ),
    (
        "E4",
        "torch",
        "x = torch.randn(64, 784)\nlinear = nn.Linear(784, 10)\noutput = linear(x)",
        "output.shape == (64, 10)",
    ),
    (
        "E5",
        "torch",
        "W, b = torch.tensor([[1., -2.], [3., 4.]]), torch.tensor([.5, -1.])\ny = torch.relu(torch.matmul(W, torch.ones(2)) + b)",
        "y.tolist() == [0, 6]",
    ),
    (
        "E7",
        "torch",
        "y = nn.ReLU()(nn.Conv2d(1, 4, 3)(torch.zeros(1, 1, 16, 16)))",
        "y.shape == (1, 4, 14, 14)",
    ),
    (
        "E8",
        "torch",
        "scores = nn.Linear(196, 3)(F.relu(nn.Conv2d(1, 1, 3)(torch.randn(2, 1, 16, 16))).flatten(1))\np = F.softmax(scores, dim=1)",
        "bool((abs(p.sum(1) - 1) < 1e-5).all())",
    ),
    ("E10", "torch", BRANCH, "f(torch.tensor([-3.0])).item() == -4"),
    ("E11", "torch", "x = torch.tensor([1.0, 2.0])\nprint(x)", "x.tolist() == [1, 2]"),
    (
        "E12",
        "torch",
        "rnn = nn.RNN(4, 5)\nsizes = [rnn(torch.zeros(n, 1, 4))[0].shape for n in (3, 7, 12)]",
        "sizes == [(3, 1, 5), (7, 1, 5), (12, 1, 5)]",
    ),
    (
        "E13",
        "torch",
        "net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Conv2d(2, 2, 3), nn.Flatten(), nn.Linear(288, 3))\nscores = net(torch.zeros(1, 1, 16, 16))\nloss = nn.CrossEntropyLoss()(scores, torch.tensor([1]))\nloss.backward()",
        "scores.shape == (1, 3)",
    ),
    (
        "E14",
        "torch",
        "head = nn.Linear(4, 2)\nparts = {torch.Tensor: lambda x: x.mean(dim=(0, 1)), list: lambda x: torch.stack(x).sum(0)}\nfound = [head(parts[type(x)](x)) for x in (torch.zeros(3, 3, 4), [torch.zeros(4)] * 2)]",
        "[x.shape for x in found] == [(2,), (2,)]",
    ),
    (
        "E15",
        "torch",
        "cell = nn.RNNCell(2, 3)\nh = torch.zeros(1, 3)\nfor x in torch.ones(4, 1, 2):\n    h = cell(x, h)",
        "h.shape == (1, 3)",
    ),
    (
        "E16",
        "torch",
        BRANCH + "t = torch.jit.trace(f, torch.tensor([1.0]))\ns = torch.jit.script(f)",
        "(t(torch.tensor([-3.0])).item(), s(torch.tensor([-3.0])).item()) == (-6, -4)",
    ),
    (
        "E16",
        "torch",
        "import os, tempfile\nmodel = torch.jit.trace(nn.Linear(2, 2), torch.zeros(1, 2))\nwith tempfile.TemporaryDirectory() as folder:\n    torch.jit.save(model, os.path.join(folder, 'm.pt'))\n    again = torch.jit.load(os.path.join(folder, 'm.pt'))",
        "bool((again(torch.ones(1, 2)) == model(torch.ones(1, 2))).all())",
    ),
    (
        "E17",
        "torch",
        "built = [nn.Linear(2, 1)(torch.ones(1, 2)) for _ in range(3)]",
        "len({id(y.creator) for y in built}) == 3",
    ),
    (
        "E2",
        "tensorflow1",
        "x = tf.placeholder(tf.float32)\ny = x*x + 3\nwith tf.Session() as sess:\n    found = [sess.run(y, feed_dict={x: n}) for n in (2, 3)]",
        "found == [7, 12]",
    ),
    (
        "E3",
        "tensorflow1",
        "x = tf.placeholder(tf.float32, [None, 784])\nW = tf.Variable(tf.random_normal([784, 10]))\nb = tf.Variable(tf.zeros([10]))\ny = tf.matmul(x, W) + b\ninput_data = np.zeros((5, 784))\nwith tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n    result = sess.run(y, feed_dict={x: input_data})",
        "result.shape == (5, 10) and not result.any()",
    ),
    (
        "E5",
        "tensorflow1",
        "y = tf.nn.relu(tf.matmul(tf.constant([[1., -2.], [3., 4.]]), tf.ones([2, 1])) + [[.5], [-1.]])\nwith tf.Session() as sess:\n    found = sess.run(y)",
        "found.tolist() == [[0], [6]]",
    ),
    (
        "E6",
        "tensorflow1",
        "x = tf.placeholder(tf.float32, [None, 16, 16, 1])\nfor _ in range(7):\n    x = tf.nn.conv2d(x, tf.ones([3, 3, 1, 1]), strides=[1, 1, 1, 1], padding='VALID')",
        "x.shape == (None, 2, 2, 1)",
    ),
    (
        "E9",
        "tensorflow1",
        "y = tf.nn.relu(tf.nn.conv2d(tf.zeros([1, 8, 8, 1]), tf.ones([3, 3, 1, 2]), strides=[1, 1, 1, 1], padding='SAME'))",
        "y.shape == (1, 8, 8, 2)",
    ),
    (
        "E10",
        "tensorflow1",
        "x = tf.placeholder(tf.float32, [None])\ny = tf.cond(tf.reduce_sum(x) > 0, lambda: 2 * x, lambda: x - 1)\nwith tf.Session() as sess:\n    found = sess.run(y, feed_dict={x: [-3.0]})",
        "found.tolist() == [-4]",
    ),
    (
        "E11",
        "tensorflow1",
        "x = tf.constant([1.0, 2.0])\ny = tf.Print(x, [x], 'x: ')\nwith tf.Session() as sess:\n    found = sess.run(y)",
        "found.tolist() == [1, 2]",
    ),
    (
        "E12",
        "tensorflow1",
        "x = tf.placeholder(tf.float32, [None, None, 4])\ncell = tf.nn.rnn_cell.BasicRNNCell(5)\noutputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)\nwith tf.Session() as sess:\n    sess.run(tf.global_variables_initializer())\n    found = [sess.run(outputs, {x: np.ones((2, n, 4))}).shape for n in (3, 7, 12)]",
        "found == [(2, 3, 5), (2, 7, 5), (2, 12, 5)]",
    ),
    (
        "E17",
        "tensorflow1",
        "x = tf.placeholder(tf.float32)\ny = x * 2\nwith tf.Session() as sess:\n    found = [sess.run(y, {x: n}) for n in range(1000)]",
        "found[-1] == 1998",
    ),
    (
        "E1",
        "tensorflow",
        "x = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n    y = x*x + 3\ngrad = tape.gradient(y, x)",
        "float(y) == 7 and float(grad) == 4",
    ),
    (
        "E2",
        "tensorflow",
        "@tf.function\ndef f(x):\n    return x*x + 3\nfound = [float(f(tf.constant(n))) for n in (2.0, 3.0)]",
        "found == [7, 12] and f.experimental_get_tracing_count() == 1",
    ),
    (
        "E5",
        "tensorflow",
        "y = tf.nn.relu(tf.matmul(tf.constant([[1., -2.], [3., 4.]]), tf.ones([2, 1])) + [[.5], [-1.]])",
        "y.numpy().tolist() == [[0], [6]]",
    ),
    (
        "E9",
        "tensorflow",
        "y = tf.nn.relu(tf.nn.conv2d(tf.zeros([1, 8, 8, 1]), tf.ones([3, 3, 1, 2]), strides=1, padding='SAME'))",
        "y.shape == (1, 8, 8, 2)",
    ),
    (
        "E10",
        "tensorflow",
        "y = tf.cond(tf.reduce_sum(tf.constant([-3.0])) > 0, lambda: 2, lambda: 3)",
        "int(y) == 3",
    ),
    (
        "E10",
        "tensorflow",
        "@tf.function" + BRANCH.replace("x.sum()", "tf.reduce_sum(x)"),
        "f(tf.constant([-3.0])).numpy().tolist() == [-4]",
    ),
    (
        "E11",
        "tensorflow",
        "x = tf.constant([1.0, 2.0])\nprint(x)\ntf.print(x)",
        "x.numpy().tolist() == [1, 2]",
    ),
    (
        "E16",
        "tensorflow",
        "@tf.function\ndef f(x):\n    return x * 2\ncounts = []\nfor x in (tf.ones([2]), tf.zeros([2]), tf.ones([3])):\n    f(x)\n    counts.append(f.experimental_get_tracing_count())",
        "counts == [1, 1, 2]",
    ),
    (
        "E16",
        "tensorflow",
        "@tf.function\ndef f(x):\n    return type(x).__name__\ntf.config.run_functions_eagerly(True)\nfound = f(tf.constant(1.0))\ntf.config.run_functions_eagerly(False)",
        "found.endswith('Tensor') and not tf.config.functions_run_eagerly()",
    ),
    (
        "E17",
        "tensorflow",
        "@tf.function\ndef f(x):\n    return x * 2\nfound = [float(f(tf.constant(float(n)))) for n in range(1000)]",
        "found[-1] == 1998 and f.experimental_get_tracing_count() == 1",
    ),
    (
        "E1",
        "jax",
        "y, slope = jax.value_and_grad(lambda x: x*x + 3)(2.0)",
        "(float(y), float(slope)) == (7, 4)",
    ),
    (
        "E10",
        "jax",
        "f = jax.jit(lambda x: jax.lax.cond(x.sum() > 0, lambda x: 2 * x, lambda x: x - 1, x))",
        "f(jnp.array([-3.0])).tolist() == [-4]",
    ),
    (
        "E4",
        "jax",
        "x = jax.random.normal(jax.random.PRNGKey(0), (64, 784))\nW, b = jnp.zeros((784, 10)), jnp.zeros(10)\noutput = jax.jit(lambda x: x @ W + b)(x)",
        "output.shape == (64, 10)",
    ),
    (
        "E12",
        "jax",
        "cell = lambda h, x: (jnp.tanh(x @ jnp.ones((4, 5)) + h), h)\nfound = [jax.lax.scan(cell, jnp.zeros(5), jnp.ones((n, 4)))[1].shape for n in (3, 7, 12)]",
        "found == [(3, 5), (7, 5), (12, 5)]",
    ),
    (
        "E15",
        "jax",
        "halved = jax.lax.while_loop(lambda x: x > 1, lambda x: x / 2, 10.0)",
        "float(halved) == 0.625",
    ),
    (
        "E16",
        "jax",
        "graph = jax.make_jaxpr(jax.grad(lambda x: jnp.sin(x) * x))(2.0)",
        "'cos' in str(graph)",
    ),
    (
        "E1",
        "theano",
        "x = T.dscalar('x')\ny = x*x + 3\nf = theano.function([x], [y, T.grad(y, x)])",
        "f(2) == [7, 4]",
    ),
    (
        "E2",
        "theano",
        "x = T.scalar('x')\ny = x*x + 3\nf = theano.function([x], y)",
        "(f(2), f(3), y.eval({x: 2})) == (7, 12, 7)",
    ),
    (
        "E3",
        "theano",
        "x = T.matrix('x')\nW = theano.shared(np.random.randn(784, 10))\nb = theano.shared(np.zeros(10))\ny = T.dot(x, W) + b\nf = theano.function([x], y)\nresult = f(np.zeros((5, 784)))",
        "result.shape == (5, 10) and not result.any()",
    ),
    (
        "E5",
        "theano",
        "W, x, b = T.dmatrix(), T.dvector(), T.dvector()\ny = T.maximum(T.dot(W, x) + b, 0)\ngW, gb = T.grad(y.sum(), [W, b])\nfound = theano.function([W, x, b], [y, gW, gb])([[1, -2], [3, 4]], [1, 1], [.5, -1])",
        "[a.tolist() for a in found] == [[0, 6], [[0, 0], [1, 1]], [0, 1]]",
    ),
    (
        "E6",
        "theano",
        "x = T.tensor4('x')\nk = theano.shared(np.ones((1, 1, 3, 3)))\nfor _ in range(7):\n    x = T.nnet.conv2d(x, k)",
        "x.ndim == 4",
    ),
    (
        "E10",
        "theano",
        "from theano.ifelse import ifelse\nx = T.vector('x')\ny = ifelse(T.gt(x.sum(), 0), 2 * x, x - 1)\nz = T.switch(x > 0, 2 * x, x - 1)\nf = theano.function([x], [y, z])",
        "[a.tolist() for a in f([-3])] == [[-4], [-4]]",
    ),
    (
        "E11",
        "theano",
        "x = T.vector('x')\ny = theano.printing.Print('x')(x)\nf = theano.function([x], y)",
        "f([1, 2]).tolist() == [1, 2]",
    ),
    (
        "E12",
        "theano",
        "x, W, U = T.matrix('x'), theano.shared(np.ones((4, 5))), theano.shared(np.ones((5, 5)))\nh, updates = theano.scan(lambda x_t, h: T.tanh(T.dot(x_t, W) + T.dot(h, U)), sequences=x, outputs_info=T.zeros((5,)))\nf = theano.function([x], h, updates=updates)",
        "[f(np.ones((n, 4))).shape for n in (3, 7, 12)] == [(3, 5), (7, 5), (12, 5)]",
    ),
    (
        "E17",
        "theano",
        "x, runs = T.scalar('x'), theano.shared(0)\nf = theano.function([x], x * 2, updates=[(runs, runs + 1)])\nfound = [f(n) for n in range(1000)]",
        "(found[-1], runs.get_value()) == (1998, 1000)",
    ),
    (
        "E1",
        "dynet",
        "dy.renew_cg()\nx = dy.scalarInput(2.0)\ny = x*x + 3\nfound = y.value()\ny.backward(full=True)",
        "found == 7 and x.gradient().tolist() == [4]",
    ),
    (
        "E5",
        "dynet",
        "dy.renew_cg()\nW = dy.inputTensor([[1., -2.], [3., 4.]])\nb, x = dy.inputVector([.5, -1.]), dy.inputVector([1., 1.])\ny = dy.rectify(W * x + b)",
        "y.value() == [0, 6]",
    ),
    (
        "E12",
        "dynet",
        "m = dy.ParameterCollection()\nrnn = dy.LSTMBuilder(1, 4, 5, m)\nsizes = []\nfor n in (3, 7, 12):\n    dy.renew_cg()\n    sizes.append(len(rnn.initial_state().transduce([dy.zeros(4)] * n)))",
        "sizes == [3, 7, 12]",
    ),
    (
        "E13",
        "dynet",
        "m = dy.ParameterCollection()\nf, g = m.add_parameters((3, 3, 1, 2)), m.add_parameters((3, 3, 2, 2))\nW = m.add_parameters((3, 288))\ndef scores(image):\n    h = dy.conv2d(dy.rectify(dy.conv2d(image, f, [1, 1])), g, [1, 1])\n    return W * dy.reshape(h, (288,))\nfound = []\nfor train in (True, False):\n    dy.renew_cg()\n    y = scores(dy.ones((16, 16, 1)))\n    found.append((dy.pickneglogsoftmax(y, 1) if train else dy.softmax(y)).dim())",
        "found == [((1,), 1), ((3,), 1)]",
    ),
    (
        "E15",
        "dynet",
        "m = dy.ParameterCollection()\nW, E = m.add_parameters((2, 4)), m.add_lookup_parameters((4, 2))\ndef encode(tree):\n    if isinstance(tree, int):\n        return E[tree]\n    return dy.tanh(W * dy.concatenate([encode(branch) for branch in tree]))\ndy.renew_cg()\nroots = [encode(tree) for tree in (((0, 1), 2), (0, (1, (2, 3))), 3)]\ndy.sum_elems(dy.esum(roots)).backward()",
        "W.grad_as_array().any() and E.grad_as_array().all()",
    ),
    (
        "E17",
        "dynet",
        "from dynet import dynet_config\ndynet_config.set(autobatch=1)\nfirst = dy.renew_cg()\nloss = dy.esum([dy.square(dy.scalarInput(n)) for n in range(1000)])\nfound = loss.value()\ndynet_config.set()\nsecond = dy.renew_cg()",
        "abs(found - 332833500) < 100 and first is not second",
    ),
    (
        "E2",
        "cntk",
        "x = C.input_variable(1, needs_gradient=True)\ny = x*x + 3\nfound = [y.eval({x: [[n]]}) for n in (2, 3)]\nslope = y.grad({x: [[2]]})",
        "[f.tolist() for f in found] == [[[7]], [[12]]] and slope.tolist() == [[4]]",
    ),
    (
        "E3",
        "cntk",
        "x = C.input_variable(784)\nW = C.parameter((784, 10), init=C.normal(1.0))\nb = C.parameter(10)\ny = C.times(x, W) + b\nresult = y.eval({x: np.zeros((5, 784))})",
        "result.shape == (5, 10) and not result.any()",
    ),
    (
        "E5",
        "cntk",
        "W, b = C.parameter(init=np.array([[1., 3.], [-2., 4.]])), C.parameter(init=np.array([.5, -1.]))\nx = C.input_variable(2)\ny = C.relu(C.times(x, W) + b)\nfound = y.eval({x: [[1., 1.]]})\ngrads = y.grad({x: [[1., 1.]]}, wrt=[W, b])",
        "found.tolist() == [[0, 6]] and grads[W].tolist() == [[0, 1], [0, 1]] and grads[b].tolist() == [0, 1]",
    ),
    (
        "E6",
        "cntk",
        "x = C.input_variable((1, 16, 16))\nsmall, same = x, x\nfor _ in range(7):\n    small = C.layers.Convolution2D((3, 3), 1)(small)\nfor _ in range(10):\n    same = C.layers.Convolution2D((3, 3), 1, pad=True)(same)",
        "small.shape == (1, 2, 2) and same.shape == (1, 16, 16)",
    ),
    (
        "E8",
        "cntk",
        "model = C.layers.Sequential([C.layers.Convolution2D((3, 3), 1, activation=C.relu), C.layers.Dense(3)])\nx = C.input_variable((1, 16, 16))\np = C.softmax(model(x)).eval({x: np.ones((2, 1, 16, 16))})",
        "bool((abs(p.sum(1) - 1) < 1e-5).all())",
    ),
    (
        "E10",
        "cntk",
        "x = C.input_variable(1)\ny = C.element_select(C.greater(C.reduce_sum(x), 0), 2 * x, x - 1)\nfound = y.eval({x: [[-3.0], [3.0]]})",
        "found.tolist() == [[-4], [6]]",
    ),
    (
        "E12",
        "cntk",
        "x = C.sequence.input_variable(4)\nnet = C.layers.Recurrence(C.layers.LSTM(5))(x)\nlast = C.sequence.last(net)\nbatch = [np.ones((n, 4)) for n in (3, 7, 12)]\nfound = [y.shape for y in net.eval({x: batch})]",
        "found == [(3, 5), (7, 5), (12, 5)] and last.eval({x: batch}).shape == (3, 5)",
    ),
    (
        "E15",
        "cntk",
        "x, t = C.sequence.input_variable(2), C.input_variable(3)\nz = C.layers.Dense(3)(C.layers.Fold(C.layers.RNNStep(4))(x))\nloss = C.cross_entropy_with_softmax(z, t)\ntrainer = C.Trainer(z, (loss, C.classification_error(z, t)), [C.learners.sgd(z.parameters, 0.1)])\nbatch = {x: [np.ones((n, 2)) for n in (2, 9)], t: np.eye(3)[[0, 2]]}\nlosses = []\nfor _ in range(20):\n    trainer.train_minibatch(batch)\n    losses.append(trainer.previous_minibatch_loss_average)",
        "losses[-1] < losses[0]",
    ),
    (
        "E17",
        "cntk",
        "x = C.input_variable(1)\ny = x * 2\nfound = [y.eval({x: [[n]]}) for n in range(1000)]",
        "found[-1].tolist() == [[1998]]",
    ),
]
