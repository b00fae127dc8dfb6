"""A hub for a class on one machine: jupyterhub --config docs/deploy/jupyterhub_config.py

Each user is a user of the system. Who may log in, and over which address, is yours to say.
"""

import os

c = get_config()  # noqa: F821 - JupyterHub gives it

c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # behind a proxy that speaks TLS
c.Spawner.default_url = "/lab/tree/index.ipynb"
c.Spawner.notebook_dir = "~/lessons"  # a copy of OUT/class of `python tasks.py kit OUT`
c.Spawner.args = [
    # Kernels talk through sockets in a folder. Over TCP two that start together may take one port.
    "--KernelManager.transport=ipc",
    "--MappingKernelManager.cull_idle_timeout=1800",
    "--ServerApp.shutdown_no_activity_timeout=3600",
]
c.Spawner.environment = {
    # Short, as the name of a socket may have about 100 letters; and the user's own.
    "JUPYTER_RUNTIME_DIR": lambda spawner: os.path.expanduser(f"~{spawner.user.name}/.jr"),
    "OMP_NUM_THREADS": "1",  # threads of BLAS that wait for each other spin: one user, one core
    "OPENBLAS_NUM_THREADS": "1",
}
c.Spawner.mem_limit = "1G"  # a lesson takes about 240 MiB, and JupyterLab's server 100 MiB
c.Spawner.mem_guarantee = "384M"
c.Spawner.cpu_guarantee = 0.1
c.JupyterHub.concurrent_spawn_limit = 10
c.Spawner.start_timeout = c.Spawner.http_timeout = 120  # a whole class logs in at once
