"""What a hub is told: kernels by ipc with short names, one thread of BLAS, room for each user."""

from __future__ import annotations

import os
import runpy
from types import SimpleNamespace
from typing import Any
from unittest import mock

import yaml
from lessons import ROOT

DEPLOY = ROOT / "docs" / "deploy"
IPC = "--KernelManager.transport=ipc"


def config() -> Any:
    """What JupyterHub makes of the file."""
    found = SimpleNamespace(JupyterHub=SimpleNamespace(), Spawner=SimpleNamespace())
    runpy.run_path(str(DEPLOY / "jupyterhub_config.py"), {"get_config": lambda: found})
    return found


def test_kernels_of_the_hub_are_reached_by_ipc_under_short_names() -> None:
    spawner = config().Spawner
    assert IPC in spawner.args
    user = SimpleNamespace(user=SimpleNamespace(name="a-student-with-a-long-name"))
    with mock.patch.dict(os.environ, HOME="/home"):
        folder = spawner.environment["JUPYTER_RUNTIME_DIR"](user)
    assert len(f"{folder}/kernel-{'0' * 36}-ipc-5") < 100


def test_one_machine_and_many_tell_a_server_the_same() -> None:
    one, text = config().Spawner, (DEPLOY / "values.yaml").read_text("utf-8")
    many = yaml.safe_load(text)["singleuser"]
    docker = (DEPLOY / "Dockerfile").read_text("utf-8")
    assert IPC in many["cmd"][-1]
    assert many["cmd"][-1] in docker
    assert (one.mem_limit, one.mem_guarantee) == (
        many["memory"]["limit"],
        many["memory"]["guarantee"],
    )
    assert one.default_url == many["defaultUrl"]
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        assert one.environment[name] == many["extraEnv"][name] == "1"
        assert f"{name}=1" in docker
    assert many["extraEnv"]["JUPYTER_RUNTIME_DIR"] in docker
