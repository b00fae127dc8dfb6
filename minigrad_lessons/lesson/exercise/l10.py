"""L10: the longest path from each node to the end, and which worker runs what when."""

from __future__ import annotations

from types import ModuleType

from minigrad.compiler.schedule.schedule import list_schedule
from minigrad_lessons.lesson.exercise.graphs import diamonds
from minigrad_lessons.lesson.exercise.property import Names, Property
from minigrad_lessons.lesson.exercise.shrinking import Program, Rng

JOBS = ("wash", "cut", "cook", "bake", "eat", "rest")


def random_jobs(rng: Rng, most: int) -> tuple[str, str]:
    """Return the jobs that each job waits for, and how many seconds each takes."""
    names = JOBS[: rng.length(most, 1)]
    waits = {name: rng.sample(names[:i], 2) if i else [] for i, name in enumerate(names)}
    return (f"waits = {waits}", f"seconds = { ({name: (1 + rng.below(6)) / 2 for name in names}) }")


def rank_program(rng: Rng) -> Program:
    return (*random_jobs(rng, 5), "rank = ranks(waits, seconds)")


def chain(n: int) -> Program:
    waits = {f"job {i}": [f"job {i - 1}"] if i else [] for i in range(n)}
    given = f"waits = {waits}", f"seconds = {dict.fromkeys(waits, 2)}"
    return (*given, "rank = ranks(waits, seconds)")


FORK = "n = len(waits); waits |= {n: [n - 1], n + 1: [n - 1], n + 2: [n, n + 1]}"
ALL = ("seconds = dict.fromkeys(waits, 1)", "rank = ranks(waits, seconds)")
CORE = Property(
    rank_program,
    always=(chain(5), chain(9), diamonds("waits = {0: []}", FORK, *ALL)),
    lines=2_300_000,  # enough for three loops over 80 nodes
)


def schedule_program(rng: Rng) -> Program:
    return schedule_lines(*random_jobs(rng, 6), 1 + rng.below(3))


def schedule_lines(waits: str, seconds: str, workers: int) -> Program:
    return (
        *(waits, seconds, "rank = ranks(waits, seconds)"),
        f"workers = {workers}",
        "plan = list_schedule(waits, seconds, workers, rank)",
    )


def schedule_facts(made: Names, engine: ModuleType) -> Names:
    """Return whether the plan is valid, and no longer than that of list scheduling."""
    waits, seconds, workers, given = (made[n] for n in ("waits", "seconds", "workers", "plan"))
    facts: Names = {f"{job!r} in plan": job in given for job in waits} | {"len(plan)": len(given)}
    slack = 1e-12 * max([1, *(end for _, _, end in given.values())])  # for rounding
    for job in (job for job in waits if job in given):
        worker, start, end = given[job]
        whole = hasattr(worker, "__index__")
        facts[f"plan[{job!r}][0] in range(workers)"] = whole and worker in range(workers)
        facts[f"plan[{job!r}][1] >= 0"] = bool(start >= -slack)
        facts[f"plan[{job!r}][2] - plan[{job!r}][1]"] = end - start
        for x in (x for x in waits[job] if x in given):
            facts[f"plan[{job!r}][1] >= plan[{x!r}][2]"] = bool(start >= given[x][2] - slack)
        for x in (x for x in waits if x < job and x in given):
            both = given[x][1] < end - slack and start < given[x][2] - slack
            facts[f"overlap({x!r}, {job!r})"] = bool(both and given[x][0] == worker)
    best = max(t.end for t in list_schedule({x: tuple(waits[x]) for x in waits}, seconds, workers))
    # What ends sooner is right, too.
    return facts | {"makespan": max([best, *(end for _, _, end in given.values())])}


NIGHT = {"load": [], "logs": [], "photos": [], "clean": ["load"]}
NIGHT |= {"train": ["clean", "photos"], "report": ["logs", "clean"], "sounds": []}
COSTS = ((3, 5, 2.5, 1, 2, 3, 1.5), (1.5, 3, 2, 1, 2.5, 5, 3), (5, 4, 3, 2, 2, 1, 4))
STRETCH = Property(
    schedule_program,
    always=tuple(
        schedule_lines(f"waits = {NIGHT}", f"seconds = {dict(zip(NIGHT, costs, strict=True))}", n)
        for costs in COSTS
        for n in (2, 3)
    ),
    look=schedule_facts,
    examples=150,
    lines=2_300_000,
)
