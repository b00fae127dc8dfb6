"""Faces: other systems in their own words, held against what these systems answered."""

from __future__ import annotations

import functools
import importlib
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "faces"))

import asked as asked_of
import calls
import claims
import conformance
from asked import SYSTEMS, Program, System, execute, on_face, programs
from conformance import Result
from covering import each
from spellings import LINES, REFUSED, asked, show

import minigrad as mg
import viz

MODULES = [module for system in SYSTEMS for module in conformance.modules(system)]
PROGRAMS = [program for system in SYSTEMS for program in programs(system)]
RESULTS: dict[str, list[Result]] = {}


explained = functools.cache(conformance.explained)  # which reads a file


def results() -> dict[str, list[Result]]:
    """Every program once, for all that is held against it."""
    if not RESULTS:
        RESULTS.update({system: list(conformance.compared(system)) for system in SYSTEMS})
    return RESULTS


@each((program,) for program in PROGRAMS)
def test_a_program_answers_as_the_system_does(program: Program) -> None:
    """Apart from what is explained; an explanation that is no longer needed goes, too."""
    (result,) = [r for r in results()[program.system] if r.program.name == program.name]
    assert result.count
    assert result.differ == [*explained(program.system).get(program.name, {})]


@pytest.mark.parametrize("system", SYSTEMS)
def test_there_are_programs_and_kept_answers_for_each(system: str) -> None:
    names = {program.name for program in programs(system)}
    assert len(names) >= 20
    assert {*conformance.kept(system)["answers"]} == names
    assert {*conformance.explained(system)} <= names


@pytest.mark.parametrize("heir", conformance.HEIRS)
def test_the_page_tells_of_an_heir_what_it_answers_otherwise(heir: str) -> None:
    system = conformance.HEIRS[heir].module
    assert {*conformance.kept(heir)["answers"]} == {*conformance.kept(system)["answers"]}
    told = conformance.inherited(heir, conformance.HEIRS[heir])
    assert "`truth` (if x)" in told  # which raises there, as it does here
    assert told in conformance.PAGE.read_text("utf-8")


def test_a_program_that_needs_more_is_asked_only_where_that_is() -> None:
    for needs, there in {
        "": True,
        "# needs json\n": True,
        "# needs no_such_module\n": False,
    }.items():
        program = Program("torch", "one", f"import torch\n{needs}answers = {{}}\n")
        assert asked_of.here(program) is there


def test_a_wrong_answer_is_found() -> None:
    right = {"y": [1.0, 2.0], "kind": "RuntimeError", "none": None, "flag": True}
    for wrong in ({"y": [1.0, 2.1]}, {"y": [1.0]}, {"kind": "no error"}, {"none": 0}, {"flag": 1}):
        assert conformance.differences(right | wrong, right) == [*wrong]
    assert conformance.differences(right, right | {"more": 1}) == ["more"]
    assert conformance.differences(right | {"y": [1.00001, 2.0]}, right) == []


def test_the_page_and_the_readme_say_what_was_found() -> None:
    """`python tests/faces/conformance.py` writes them."""
    assert conformance.PAGE.read_text("utf-8") == conformance.page(results())
    readme = conformance.README.read_text("utf-8")
    assert readme == conformance.written(readme, results())
    assert len(conformance.ROW.findall(readme)) == 2 * len(SYSTEMS)


@pytest.mark.parametrize("code", [0, 1])
def test_a_system_gets_an_environment_of_its_own(
    monkeypatch: Any, tmp_path: Path, code: int
) -> None:
    """Made once; where its wheels cannot be had, nothing is taken for it."""
    python = conformance.python_in(tmp_path / "fast")
    installs: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        installs.append(command)
        return subprocess.CompletedProcess(command, code, "", "no wheel")

    monkeypatch.setattr(conformance, "OWN", tmp_path)
    monkeypatch.setitem(SYSTEMS, "fast", System("Fast", "fast", "", ("fast",), own=("fast==1",)))
    monkeypatch.setattr(conformance.subprocess, "run", run)
    for _ in range(2):
        if code:
            with pytest.raises(conformance.NotHere, match=r"fast==1 could not .* no wheel"):
                conformance.python_of("fast")
        else:
            assert conformance.python_of("fast") == python
    assert Path(python).exists()
    assert len(installs) == 1 + code
    assert {"fast==1", python} <= {*installs[0]}


def test_a_system_that_nothing_holds_is_not_asked(monkeypatch: Any) -> None:
    monkeypatch.setitem(SYSTEMS, "gone", System("Gone", "gone", "", ("gone-framework",)))
    with pytest.raises(conformance.NotHere, match="Gone is not installed"):
        conformance.ask("gone")


def test_who_is_asked_needs_nothing_of_ours() -> None:
    """What asks may run in an environment that holds NumPy and the system alone."""
    code = "import asked, sys; print({'minigrad', 'viz'} & {*sys.modules})"
    folder = str(conformance.HERE)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "set()"


# ---- What the notes print -----------------------------------------------------------------------


@pytest.mark.parametrize(("example", "system", "lines", "holds"), calls.CALLS)
def test_a_call_of_the_notes_is_accepted(example: str, system: str, lines: str, holds: str) -> None:
    source = on_face(calls.IMPORTS[system] + lines, SYSTEMS[system])
    place: dict[str, Any] = {"__name__": f"{system}_{example}"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", mg.TraceWarning)
        execute(source, f"<{example} {system}>", place)
    assert eval(holds, place)


def test_each_example_of_the_notes_has_its_calls() -> None:
    """E18 is a bank of questions and calls nothing."""
    assert {example for example, *_ in calls.CALLS} == {f"E{n}" for n in range(1, 18)}


NAMING = {"C28", "C29", "C31", "C36", "C69", "C70", "C71", "C72", "C73", "C83", "C84"}


@pytest.mark.parametrize(("claim", "says", "system", "stem", "holds"), claims.CLAIMS)
def test_a_sentence_of_the_notes_holds(
    claim: str, says: str, system: str, stem: str, holds: str
) -> None:
    """Of the real system and of its face, in the system's own words."""
    (program,) = [found for found in PROGRAMS if (found.system, found.name) == (system, stem)]
    theirs = conformance.kept(system)["answers"][stem]
    for found in (theirs, conformance.answers_of_face(program)):
        assert eval(holds, {"a": found}), f"{claim}: {says}"


def test_every_claim_that_names_one_of_these_systems_has_its_program() -> None:
    assert {claim for claim, *_ in claims.CLAIMS} >= NAMING


# ---- Names --------------------------------------------------------------------------------------


@each(MODULES)
def test_every_name_is_there_and_any_other_is_refused_in_words(module: Any) -> None:
    known = dir(module)
    assert known
    for name in known:
        assert getattr(module, name) is not None
    with pytest.raises(mg.MissingNameError) as caught:
        module.no_such_name  # noqa: B018
    place = conformance.face_name(module)
    assert all(f"dir({place})" in sentence for sentence in caught.value.pair)
    with pytest.raises(mg.MissingNameError, match=f"the nearest is {known[-1]}"):
        getattr(module, f"{known[-1]}_")
    assert not hasattr(module, "__wrapped__")


@each(MODULES)
def test_what_is_refused_is_not_there_and_says_what_is(module: Any) -> None:
    for name, word in module.face.lacks.items():
        if name not in dir(module):
            with pytest.raises(mg.MissingNameError, match="Remedy: write"):
                getattr(module, name)
        assert word.ours


def test_minigrad_loads_no_face() -> None:
    code = "import minigrad, sys; minigrad.nn; print([m for m in sys.modules if 'faces' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_function_that_cannot_be_rewritten_says_which_line_is_why() -> None:
    tf: Any = importlib.import_module("minigrad.faces.tensorflow")

    def of_rows(x: Any) -> Any:
        def rows() -> Any:
            yield x * 2.0

        for v in rows():
            if v > 0.0:
                return v
        return x

    def walrus(x: Any) -> Any:
        while (y := x * 2.0) < 10.0:
            x = y
        return x

    with pytest.raises(TypeError, match=r"of_rows was traced as it is.*no generators") as found:
        tf.function(of_rows)(tf.constant(1.0))
    assert "yield x * 2.0" in str(found.value)
    with pytest.raises(TypeError, match=r"walrus was traced as it is.*assignment with :=") as found:
        tf.function(walrus)(tf.constant(1.0))
    assert "while (y := x * 2.0) < 10.0:" in str(found.value)
    assert float(tf.function(walrus)(1.0)) == 8, "Python decides, and nothing stands in its way"


# ---- PyTorch ------------------------------------------------------------------------------------

torch: Any = importlib.import_module("minigrad.faces.torch")
FOLLOWED = [
    *("fw.split(a, 2, 1)", "fw.max(a, 1)", "fw.take(a, t([0, 1]))", "fw.squeeze(a, dim=0)"),
    *("a.max(1)", "a.repeat(2, 1)", "a.squeeze(0)"),
]


@each(LINES)
def test_a_line_of_pytorch_is_answered_or_refused(line: str) -> None:
    """What `mg` refuses because NumPy reads it otherwise, the face does not."""
    refused = line in REFUSED and line not in FOLLOWED
    if refused or LINES[line] == "refused":
        with pytest.raises((mg.GraphError, TypeError)):
            asked(line, torch, torch.nn.functional, torch.tensor)
    else:
        assert show(asked(line, torch, torch.nn.functional, torch.tensor)) == LINES[line]


def test_a_trace_says_what_of_an_input_does_not_fit_it() -> None:
    row = torch.ones(1, 2)
    trace = torch.jit.trace(lambda x: x * 2, row)
    with pytest.raises(mg.FeedError, match=r"example with 2 axes .* shape \(2,\) has 1"):
        trace(torch.ones(2))
    with pytest.raises(mg.FeedError, match=r"convert it first"):
        trace(torch.ones(1, 2, dtype=torch.int64))
    with pytest.warns(mg.TraceWarning, match="was 2 for the example"):
        rows = torch.jit.trace(lambda x: sum(row for row in x), torch.ones(2, 2))
    with pytest.raises(mg.FeedError, match=r"an axis of length 2 part by part.* length is 3"):
        rows(torch.ones(3, 2))
    with pytest.raises(mg.ShapeError, match=r"Reshape: 6 elements of shape \(3, 2\)"):
        torch.jit.trace(lambda x: x.view(2, 1), row)(torch.ones(3, 2))


def test_a_trace_with_a_loop_of_the_graph_is_made_again_unless_python_would_decide_otherwise() -> (
    None
):
    steps = torch.nn.GRU(2, 3)

    def f(x: Any) -> Any:
        return steps(x)[0] * (2.0 if x.sum() > 0 else 1.0)

    with pytest.warns(mg.TraceWarning):
        trace = torch.jit.trace(f, torch.ones(4, 1, 2))
    more = torch.ones(6, 3, 2)
    np.testing.assert_allclose(trace(more).detach().numpy(), f(more).detach().numpy(), 1e-6)
    with pytest.raises(mg.FeedError, match=r"Python would decide otherwise"):
        trace(-torch.ones(4, 5, 2))


def test_inputs_that_a_trace_is_checked_with_are_compared() -> None:
    example, others = torch.ones(1), [(-torch.ones(1),)]
    differ = pytest.raises(mg.TraceError, match=r"gives -2, the graph gives -1.*torch\.jit\.script")
    with pytest.warns(mg.TraceWarning), differ:
        torch.jit.trace(lambda x: x if x > 0 else x * 2, example, check_inputs=others)
    with pytest.raises(mg.MissingNameError, match=r"torch\.jit\.trace\(model, x\)"):
        torch.jit.trace_module(torch.nn.Linear(1, 1), {"other": torch.ones(1, 1)})


def test_a_file_holds_tensors_by_name_and_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(mg.MissingNameError, match="state_dict"):
        torch.save(torch.nn.Linear(2, 2), tmp_path / "model.pt")
    torch.save({"w": torch.ones(2)}, tmp_path / "w.pt")
    assert torch.load(tmp_path / "w.pt")["w"].tolist() == [1, 1]
    (tmp_path / "pickled.pt").write_bytes(b"\x80\x04N.")
    with pytest.raises(ValueError, match="pickle"):
        torch.load(tmp_path / "pickled.pt")


def test_a_loaded_graph_loses_no_gradient_in_silence(tmp_path: Path) -> None:
    x = torch.ones(1, 2, requires_grad=True)
    torch.jit.save(torch.jit.trace(lambda x: x * 2, x.detach()), tmp_path / "m.pt")
    loaded = torch.jit.load(tmp_path / "m.pt")
    with pytest.raises(RuntimeError, match=r"torch\.no_grad"):
        loaded(x)
    with torch.no_grad():
        assert loaded(x).tolist() == [[2, 2]]


def test_an_array_is_not_handed_out_where_a_gradient_may_be_wanted() -> None:
    layer, x = torch.nn.Linear(2, 1), torch.ones(1, 2)
    for y in (layer(x), torch.relu(layer(x)), torch.ones(2, requires_grad=True)):
        with pytest.raises(RuntimeError, match=r"x\.detach\(\)\.numpy\(\)"):
            y.numpy()
        assert y.detach().numpy().shape == y.shape
    with torch.no_grad():
        assert layer(x).numpy().shape == (1, 1)


def test_a_node_says_which_nodes_it_reads() -> None:
    a = torch.tensor(0.0, requires_grad=True)
    node = ((a + 3) - a * 2).grad_fn
    assert (node.name(), [n.name() for n, _ in node.next_functions]) == ("Sub", ["Add", "Mul"])
    (leaf, at), constant = node.next_functions[0][0].next_functions
    assert (leaf.name(), at, constant) == ("AccumulateGrad", 0, (None, 0))
    assert a.grad_fn is None
    assert (torch.tensor(2.0) + 3).grad_fn is None


def test_a_graph_of_tensorflow_1_lists_its_operations() -> None:
    tf1: Any = importlib.import_module("minigrad.faces.tensorflow1")
    with tf1.Graph().as_default():
        d = tf1.placeholder(tf1.float32, name="a") + 3
        assert tf1.get_default_graph() is d.graph
        names = [op.name for op in tf1.get_default_graph().get_operations()]
    assert names == ["a", "Constant", "Add"]
    with mg.Graph() as plain:
        assert tf1.get_default_graph() is plain
        assert tf1.get_default_graph().get_operations() == []


def test_an_accelerator_that_is_not_there_is_refused() -> None:
    for line in (lambda: torch.zeros(2, device="cuda"), lambda: torch.device("cuda", 0)):
        with pytest.raises(mg.ArgumentError, match="everything is on the processor"):
            line()


# ---- TensorFlow 2 -------------------------------------------------------------------------------

tf: Any = importlib.import_module("minigrad.faces.tensorflow")


def test_a_variable_is_assigned_in_a_graph_and_read_behind_it() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        v.assign(v * 2.0)
        return v + 0.5

    assert [step(tf.constant(1.0)).numpy() for _ in range(2)] == [4.5, 10.5]
    assert v.numpy() == 10

    @tf.function
    def outer(x: Any) -> Any:
        step(x)
        return v * 1.0

    assert outer(tf.constant(0.0)).numpy() == v.numpy() == 20


def test_an_assignment_in_a_branch_is_refused_and_nothing_changes() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def step(x: Any) -> Any:
        if x > 0:
            v.assign(x)
        return x

    with pytest.raises(mg.GraphError, match="inside a branch or a loop"):
        step(tf.constant(3.0))
    assert v.numpy() == 1


def test_what_is_printed_while_tracing_is_printed_once(capfd: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def f(x: Any) -> Any:
        print("tracing with", x)
        tf.print("x is", x)
        return x

    f(tf.constant([1.0, 2.5]))
    f(tf.constant([3.0, 4.0]))
    out = capfd.readouterr().out
    assert out.count("tracing with Tensor(") == 1
    assert out.count("x is") == 2
    tf.print("eager", tf.constant([1.0, 2.5]), 3)
    assert capfd.readouterr().err == "eager [1 2.5] 3\n"


def test_data_types_that_do_not_go_together_are_refused_in_graphs_as_well() -> None:
    v = tf.Variable(1.0)
    for f in (lambda x: x + 1.5, lambda x: v * x, lambda x: tf.sqrt(x)):
        with pytest.raises(TypeError, match=r"tf\.cast"):
            tf.function(f)(tf.constant(2))
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"tf\.cast"):
            f(tf.constant(2))


def test_nothing_is_recorded_without_a_tape_and_tensors_of_mg_are_as_before() -> None:
    v, x = tf.Variable(2.0), mg.tensor(2.0, requires_grad=True)
    assert (v * v).creator is None
    (x * x).backward()
    assert x.grad.item() == 4
    assert (mg.tensor([1]) + mg.tensor([1.5])).dtype == mg.float32


def test_drawings_know_tensors_and_functions_of_the_face() -> None:
    v = tf.Variable([1.0, 2.0])
    with tf.GradientTape():
        y = tf.reduce_sum(v * v)
    assert "Mul(v, v)" in str(viz.draw(y))

    @tf.function
    def f(x: Any) -> Any:
        if tf.reduce_sum(x) > 0:
            return x * 2
        return x - 1

    with mg.record() as log:
        f(tf.constant([1.0]))
        f(tf.constant([1.0, 2.0]))
    assert "Cond(Greater, x)" in str(viz.draw(f))
    assert f.traces == 2
    assert viz.traces(f, log).sheet
    (film,) = viz.step(f, tf.constant([1.0])).films
    assert film.results["output", "0"].tolist() == [2]


def test_random_numbers_in_a_loop_of_a_graph_are_refused() -> None:
    @tf.function
    def walk(n: Any) -> Any:
        x = tf.constant(0.0)
        for _ in tf.range(n):
            x += tf.random.normal([])
        return x

    with pytest.raises(mg.ControlFlowError, match="drawn again"):
        walk(tf.constant(3))


def test_the_variables_of_a_first_call_are_made_once_and_others_changed_once() -> None:
    made, count = [], tf.Variable(0)

    @tf.function
    def f(x: Any) -> Any:
        count.assign_add(1)
        if not made:
            made.append(tf.Variable([5.0]))
        made[0].assign_add(x)
        return made[0] * 1.0

    assert f(tf.constant([1.0])).numpy().tolist() == [6]
    assert (count.numpy(), len(made), f.experimental_get_tracing_count()) == (1, 1, 2)


# ---- JAX ----------------------------------------------------------------------------------------

jax: Any = importlib.import_module("minigrad.faces.jax")


@pytest.mark.parametrize("call", [lambda f: f, jax.jit], ids=["plain", "jit"])
def test_no_gradient_of_what_is_not_one_number_nor_by_whole_numbers(call: Any) -> None:
    square = call(jax.grad(lambda x: x * x))
    assert square(3.0).item() == 6
    with pytest.raises(TypeError, match="start from a single number"):
        square(jax.numpy.ones(2))
    with pytest.raises(TypeError, match="floating-point"):
        square(3)


def test_a_gradient_through_a_compiled_function_is_an_array_of_jax() -> None:
    x = jax.numpy.arange(3.0)
    for f in (lambda x: (x**2).sum(), jax.jit(lambda x: (x**2).sum())):
        slope = jax.grad(f)(x)
        assert isinstance(slope, jax.Array)
        with pytest.raises(TypeError, match=r"x\.at"):
            slope[0] = 5.0
        assert slope.tolist() == [0, 2, 4]
    twice = jax.grad(lambda x: jax.grad(jax.jit(lambda x: (x**3).sum()))(x).sum())(x)
    assert twice.tolist() == [0, 6, 12]


@pytest.mark.parametrize("call", [lambda f: f, jax.jit], ids=["plain", "jit"])
def test_a_carry_of_another_type_is_told_with_its_place_and_its_line(call: Any) -> None:
    lax, jnp = jax.lax, jax.numpy
    xs = jnp.ones(2)
    doubts = {
        r"scan: carry\['n'\] is int32\[\] before a step and float32\[\] after": lambda: lax.scan(
            lambda c, x: ({"n": c["n"] + x}, x), {"n": jnp.zeros((), "int32")}, xs
        ),
        r"fori_loop: carry is float32\[\] before a step and float32\[2\] after": lambda: (
            lax.fori_loop(0, 3, lambda i, c: c + xs, 0.0)
        ),
        r"while_loop: carry is tuple\[2\] before a step and list\[2\] after": lambda: (
            lax.while_loop(lambda c: c[0] < 1, lambda c: [*c], (0, 1))
        ),
        r"while_loop: the condition must return a single bool, but it returned int32\[\]": lambda: (
            lax.while_loop(lambda c: 1 - c, lambda c: c + 1, 0)
        ),
        r"cond: branch 0 returns float32\[2\], and branch 1 returns float32\[3\]": lambda: lax.cond(
            True, lambda: xs, lambda: jnp.ones(3)
        ),
        r"switch: .*branch 2 returns int32\[\]": lambda: lax.switch(
            0, [lambda: 1.0, lambda: 2.0, lambda: 3]
        ),
    }
    for said, doubt in doubts.items():
        with pytest.raises(TypeError, match=said) as caught:
            call(doubt)()
        assert "test_faces.py, line" in str(caught.value)
        assert "解决办法" in caught.value.pair[1]  # type: ignore[attr-defined]


def test_a_number_that_begins_a_loop_takes_the_type_of_the_step() -> None:
    lax, jnp = jax.lax, jax.numpy
    halves = jnp.ones(2, "float16")
    for start, xs, kind in [
        (0, jnp.ones(2), "float32"),
        (0.0, halves, "float16"),
        (0, halves, "float16"),
    ]:
        last, _ = lax.scan(lambda c, x: (c + x, x), start, xs)
        assert (last.item(), last.dtype.name) == (2, kind)
    assert jax.grad(lambda w: lax.fori_loop(0, 3, lambda i, c: c + w, 0))(2.0).item() == 3


def test_the_first_argument_may_be_static() -> None:
    f = jax.jit(lambda n, x: sum(x[i] for i in range(n)), static_argnums=0)
    assert [f(n, jax.numpy.ones(3)).item() for n in (1, 3)] == [1, 3]


def test_an_update_of_a_traced_array_keeps_the_array() -> None:
    x = jax.numpy.arange(3.0)
    f = jax.jit(lambda x, v: x.at[1:].set(v))
    assert f(x, 7.0).tolist() == [0, 7, 7]
    assert x.tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="in place"):
        x[0] = 1.0


# ---- Theano -------------------------------------------------------------------------------------

theano: Any = importlib.import_module("minigrad.faces.theano")
T: Any = theano.tensor


def test_what_a_loop_of_unknown_length_does_not_keep_is_refused() -> None:
    n, x = T.lscalar("n"), T.dscalar("x")
    found, _ = theano.scan(lambda x: x * 2, outputs_info=x, n_steps=n)
    assert theano.function([x, n], found[-1])(1, 5) == 32
    for line in (lambda: found[0], lambda: found.sum(), lambda: found + 1):
        with pytest.raises(mg.MissingNameError, match=r"outputs\[-1\]"):
            line()


def test_a_loop_updates_nothing() -> None:
    w = theano.shared(0.0)
    with pytest.raises(mg.MissingNameError, match="updates"):
        theano.scan(lambda x: (x, {w: w + 1}), sequences=T.dvector())
    assert theano.scan(lambda x: (x, {}), sequences=T.dvector())[1] == {}


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        (lambda v, i: v[i : i + 3], [2, 3, 4]),
        (lambda v, i: v[2 * i + 1 : 2 * (i + 1)], [5]),
        (lambda v, i: v[i - 2 : i + i - i], [0, 1]),
        (lambda v, i: v[i:i], []),
        (lambda v, i: v[i : 2 * i], None),
        (lambda v, i: v[i:], None),
        (lambda v, i: v[i * i : i * i + 1], None),
    ],
)
def test_between_two_variables_stands_what_has_one_length(cut: Any, expected: Any) -> None:
    v, i = T.lvector("v"), T.lscalar("i")
    if expected is None:
        with pytest.raises(mg.MissingNameError, match="arange"):
            cut(v, i)
    else:
        assert theano.function([v, i], cut(v, i))(range(10), 2).tolist() == expected


def test_a_convolution_turns_its_kernel_round() -> None:
    x, k = np.zeros((1, 1, 5, 5)), np.arange(9.0).reshape(1, 1, 3, 3)
    x[0, 0, 2, 2] = 1  # so the kernel itself comes out, and its mirror image where it is not turned
    for turned, expected in ((True, k), (False, k[:, :, ::-1, ::-1])):
        y = T.nnet.conv2d(T.constant(x), T.constant(k), filter_flip=turned)
        assert (y.eval() == expected).all()
    same = T.nnet.conv2d(T.constant(x), T.constant(k), border_mode="half")
    assert same.eval().shape == (1, 1, 5, 5)


def test_constants_of_a_gradient_may_depend_on_each_other() -> None:
    x = T.dscalar("x")
    a = x * x
    b = a * x
    cost = a * 3 + b * 5 + x
    for held, expected in (([], 3 * 4 + 5 * 12 + 1), ([b], 13), ([a], 5 * 4 + 1), ([a, b], 1)):
        assert T.grad(cost, x, consider_constant=held).eval({x: 2}) == expected


def test_a_function_that_fails_has_updated_nothing() -> None:
    w, v = theano.shared(1.0), T.dvector()
    f = theano.function([v], v + np.ones(2), updates=[(w, w + 1)])
    with pytest.raises(ValueError, match="do not fit"):
        f([1, 2, 3])
    with pytest.raises(TypeError):
        f([[1]])
    assert w.get_value() == 1


# ---- DyNet --------------------------------------------------------------------------------------

dy: Any = importlib.import_module("minigrad.faces.dynet")


@pytest.mark.parametrize(("setting", "products"), [(0, 6), (1, 3)])
def test_what_is_alike_runs_as_one_if_so_set(setting: int, products: int) -> None:
    """Sentences of one, two and three words: a product for each word, or for each place."""
    m = dy.ParameterCollection()
    W = m.add_parameters((2, 2), init="identity")
    dy.dynet_config.set(autobatch=setting)
    try:
        dy.renew_cg()
        outputs = []
        for words in (1, 2, 3):
            h = dy.inputVector([words, 1])
            for _ in range(words):
                h = dy.tanh(W * h)
            outputs.append(dy.sum_elems(h))
        with mg.record() as log:
            dy.esum(outputs).value()
    finally:
        dy.dynet_config.set()
    ran = [event for event in log.of_kind("run") if event.op.name == "MatMul"]
    assert len(ran) == products


def test_nothing_of_dynet_is_computed_before_a_value_is_asked_for() -> None:
    dy.renew_cg()
    with mg.record() as log:
        y = dy.tanh(dy.inputVector([1, 2]))
    assert not log.of_kind("run")
    with mg.record() as log:
        y.value()
        y.value()
    assert [event.op.name for event in log.of_kind("run")] == ["Tanh"]


def test_a_graph_may_compute_at_once_and_refuse_what_is_not_finite() -> None:
    dy.renew_cg(immediate_compute=True, check_validity=True)
    try:
        with mg.record() as log:
            dy.tanh(dy.inputVector([1, 2]))
        assert [event.op.name for event in log.of_kind("run")] == ["Tanh"]
        with pytest.raises(RuntimeError, match="Log: the result is NaN or infinite in 1 place"):
            dy.log(dy.inputVector([0, 1]))
    finally:
        dy.renew_cg()


def test_a_builder_refuses_dropout_in_words() -> None:
    builder = dy.LSTMBuilder(1, 2, 3, dy.ParameterCollection())
    builder.set_dropout(0.0)
    builder.disable_dropout()
    with pytest.raises(mg.ArgumentError, match=r"dy\.dropout\(x, 0\.5\)"):
        builder.set_dropout(0.5)


def test_an_operand_of_a_graph_that_was_replaced_is_refused() -> None:
    """Where DyNet itself may crash."""
    dy.renew_cg()
    x = dy.scalarInput(1)
    dy.renew_cg()
    for use in (lambda: x + 1, lambda: dy.tanh(x), lambda: dy.scalarInput(1) * x, x.gradient):
        with pytest.raises(RuntimeError, match=r"dy\.renew_cg\(\) has replaced"):
            use()
    with pytest.raises(RuntimeError, match=r"dy\.renew_cg\(\) has replaced"):
        x.set(2)


def test_settings_come_from_the_command_line_and_are_taken_out_of_it() -> None:
    arguments = ["train.py", "--dynet-autobatch", "1", "words.txt", "--dynet-mem", "512"]
    try:
        dy.dynet_config.from_arguments(arguments)
        assert dy.dynet_config.get()["autobatch"] == 1
    finally:
        dy.dynet_config.set()
    assert arguments == ["train.py", "words.txt"]
    params = dy.DynetParams()
    params.set_random_seed(7)
    drawn = []
    for _ in range(2):
        params.init()
        drawn.append(dy.random_normal(3).value())
    assert drawn[0] == drawn[1]


def test_a_trainer_sees_parameters_that_come_after_it() -> None:
    m = dy.ParameterCollection()
    trainer = dy.AdamTrainer(m, alpha=0.5)
    for count in (1, 2):
        m.add_parameters(1, init=1.0)
        dy.renew_cg()
        dy.squared_norm(dy.concatenate(m.parameters_list())).backward()
        trainer.update()
        assert all(p.as_array()[0] < 1 for p in m.parameters_list())
        assert len(m.parameters_list()) == count
    trainer.learning_rate = 0.0
    before = m.parameters_list()[0].as_array()
    dy.renew_cg()
    dy.squared_norm(m.parameters_list()[0]).backward()
    trainer.update()
    assert (m.parameters_list()[0].as_array() == before).all()


def test_a_file_of_other_parameters_is_refused(tmp_path: Path) -> None:
    one, other = dy.ParameterCollection(), dy.ParameterCollection()
    one.add_parameters((2, 3))
    other.add_parameters((3, 2))
    one.save(tmp_path / "model")
    with pytest.raises(mg.FormatError, match=r"dimensions \{3,2\}"):
        other.populate(tmp_path / "model")


# ---- CNTK ---------------------------------------------------------------------------------------

C: Any = importlib.import_module("minigrad.faces.cntk")
LENGTHS = [4, 1, 7, 2]
SENTENCES = [np.sin(np.arange(2.0 * n) + n).reshape(n, 2) for n in LENGTHS]


def test_every_program_of_a_system_without_a_wheel_cites_where_its_answers_stand() -> None:
    for system, about in SYSTEMS.items():
        for program in programs(system) if not about.wheels else ():
            head = program.source.partition("import cntk")[0]
            assert "https://github.com/microsoft/CNTK/blob/" in head
            assert conformance.documented(program), program.name


@pytest.mark.parametrize("block", [C.layers.LSTM, C.layers.GRU, C.layers.RNNStep])
@pytest.mark.parametrize("down", [False, True])
def test_a_sequence_in_a_minibatch_gives_what_it_gives_alone(block: Any, down: bool) -> None:
    x = C.sequence.input_variable(2, needs_gradient=True)
    net = C.layers.Recurrence(block(3, init=C.normal(0.5, seed=1)), go_backwards=down)(x)
    loss = C.reduce_sum(C.square(C.sequence.softmax(net) + C.sequence.past_value(net)))
    together, slopes = net.eval({x: SENTENCES}), loss.grad({x: SENTENCES})
    sums = loss.grad({x: SENTENCES}, wrt=loss.parameters)
    alone = [loss.grad({x: [one]}, wrt=loss.parameters) for one in SENTENCES]
    for i, one in enumerate(SENTENCES):
        assert together[i] == pytest.approx(net.eval({x: [one]})[0], abs=1e-6)
        assert slopes[i] == pytest.approx(loss.grad({x: [one]})[0], abs=1e-5)
    for p in loss.parameters:
        assert sums[p] == pytest.approx(sum(found[p] for found in alone), abs=1e-4)


def test_going_backwards_is_going_forwards_in_a_mirror() -> None:
    x = C.sequence.input_variable(2)
    step = C.layers.GRU(3, init=C.normal(0.5, seed=2))
    ahead, back = (C.layers.Recurrence(step, go_backwards=down)(x) for down in (False, True))
    mirrored = ahead.eval({x: [one[::-1] for one in SENTENCES]})
    for found, expected in zip(back.eval({x: SENTENCES}), mirrored, strict=True):
        assert found == pytest.approx(expected[::-1], abs=1e-6)


def test_a_rate_for_the_mean_of_a_minibatch_and_one_for_each_sample() -> None:
    batch, taken = [[1.0], [2.0], [3.0]], {}
    for unit in (C.UnitType.minibatch, C.UnitType.sample):
        x, w = C.input_variable(1), C.parameter(1, init=1)
        loss = C.reduce_sum(x * w)
        rate = C.learners.learning_rate_schedule(0.1, unit)
        trainer = C.Trainer(loss, loss, C.learners.sgd([w], rate))
        trainer.train_minibatch({x: batch})
        taken[unit.value] = w.value.item()
        assert trainer.previous_minibatch_sample_count == 3
        assert trainer.previous_minibatch_loss_average == pytest.approx(2)
    assert taken == {"minibatch": pytest.approx(0.8), "sample": pytest.approx(0.4)}


def test_data_that_do_not_fit_are_refused_in_words() -> None:
    x, y = C.sequence.input_variable(2, name="words"), C.sequence.input_variable(2)
    z, batch = C.input_variable(2), C.input_variable(3)
    with pytest.raises(mg.FeedError, match=r"data for words have shape \(3, 5\)"):
        (x * 2).eval({x: [np.ones((3, 5))]})
    with pytest.raises(mg.FeedError, match=r"lengths \[3\] and \[4\]"):
        (x + y).eval({x: [np.ones((3, 2))], y: [np.ones((4, 2))]})
    with pytest.raises(mg.ShapeError, match="broadcast_as"):
        x + z
    with pytest.raises(mg.ShapeError, match="has no sequence axis"):
        C.sequence.last(z)
    with pytest.raises(mg.ShapeError, match="do not fit together"):
        z + batch
    with pytest.raises(TypeError, match="element_select"):
        bool(C.greater(z, 0))


def test_sequences_of_an_axis_of_their_own_may_have_other_lengths() -> None:
    x = C.sequence.input_variable(2)
    other = C.sequence.input_variable(2, sequence_axis=C.Axis("other"))
    found = C.sequence.reduce_sum(x) + C.sequence.reduce_sum(other)
    data = {x: SENTENCES, other: SENTENCES[::-1]}
    sums = [one.sum(0) + two.sum(0) for one, two in zip(SENTENCES, SENTENCES[::-1], strict=True)]
    assert found.eval(data) == pytest.approx(np.array(sums), abs=1e-5)


def test_dropout_drops_in_a_step_of_a_trainer_and_nowhere_else() -> None:
    x, w = C.input_variable(1000), C.parameter(1000, init=1)
    loss = C.reduce_sum(C.dropout(x * w, 0.25))
    ones = {x: np.ones((1, 1000))}
    assert loss.eval(ones).tolist() == [1000]
    trainer = C.Trainer(loss, loss, C.sgd([w], C.learning_rate_schedule(1.0, C.UnitType.sample)))
    trainer.train_minibatch(ones)
    steps = {round(float(1 - value), 5) for value in w.value}
    assert steps == {0.0, round(1 / 0.75, 5)}
    kept = float(np.mean(w.value < 1))
    assert kept == pytest.approx(0.75, abs=0.06)
    assert trainer.previous_minibatch_loss_average == pytest.approx(kept * 1000 / 0.75, rel=1e-5)
    assert trainer.test_minibatch(ones) == pytest.approx(float(w.value.sum()), rel=1e-5)


def test_options_hold_for_the_layers_that_are_made_inside() -> None:
    x = C.input_variable(2)
    with C.layers.default_options(init=2, activation=C.relu):
        with C.layers.default_options(bias=False):
            inner = C.layers.Dense(1)
        outer, own = C.layers.Dense(1, init=-3), C.layers.Dense(1, activation=None, init=-1)
    after = C.layers.Dense(1, init=-1)
    found = [layer(x).eval({x: [[1.0, 1.0]]}).item() for layer in (inner, outer, own, after)]
    assert found == [4, 0, -2, -2]
    assert (inner.b, outer.b.value.tolist()) == (None, [0])


def test_a_python_function_of_functions_is_one() -> None:
    @C.Function
    def doubled(x: Any) -> Any:
        return x * 2

    x = C.input_variable(1)
    model = C.layers.Sequential([doubled, C.ops.square])
    assert model(x).eval({x: [[3.0]]}).tolist() == [[36]]


def test_theano_numbers_have_the_type_of_floatx(monkeypatch: pytest.MonkeyPatch) -> None:
    """0.1 fits no float32 exactly; Theano makes it one only where floatX says so."""
    from minigrad.faces import theano

    assert theano.tensor.as_tensor_variable(0.1).dtype == "float64"
    assert theano.tensor.as_tensor_variable(0.5).dtype == "float32"
    monkeypatch.setattr(theano.config, "floatX", "float32")
    assert theano.tensor.as_tensor_variable(0.1).dtype == "float32"
