"""Pyodide's list of packages, its lock file, with wheels of ours in it."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Sequence
from email.parser import HeaderParser
from pathlib import Path
from typing import Any


def normal(name: str) -> str:
    """The name of a package as lists compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def entry(wheel: Path) -> dict[str, Any]:
    """What a lock file says of a wheel; what it depends on, without what is only an extra's."""
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        (metadata,) = (n for n in names if re.fullmatch(r"[^/]+\.dist-info/METADATA", n))
        said = HeaderParser().parsestr(file.read(metadata).decode())
    needs = [re.match(r"[\w.-]+", n) for n in said.get_all("Requires-Dist", ()) if "extra" not in n]
    tops = {n.partition("/")[0].removesuffix(".py") for n in names if n.endswith(".py")}
    return {
        "name": normal(said["Name"]),
        "version": said["Version"],
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": sorted(top for top in tops if top.isidentifier()),
        "depends": sorted({normal(need[0]) for need in needs if need}),
        "unvendored_tests": False,
    }


def locked(lock: dict[str, Any], base: str, wheels: list[Path]) -> dict[str, Any]:
    """A lock file with these wheels as well; what was there lies below the address `base`.

    Of two packages of one name ours is taken, and nobody depends on what neither has.
    """
    theirs = {
        normal(name): {**package, "file_name": base + package["file_name"]}
        for name, package in lock["packages"].items()
    }
    packages = theirs | {made["name"]: made for made in map(entry, wheels)}
    for package in packages.values():
        package["depends"] = [n for n in map(normal, package["depends"]) if n in packages]
    return {**lock, "packages": packages}


def put_off(lock: dict[str, Any], first: Sequence[str], later: Sequence[str]) -> dict[str, Any]:
    """Let none of the `first` packages bring one of the `later` ones along.

    Returns `files`, for each module that does not come with the first packages the wheels it takes,
    and `hashes`, for each of these wheels what its SHA-256 must be.
    """
    packages = lock["packages"]
    for name in first:
        packages[name]["depends"] = [n for n in packages[name]["depends"] if n not in later]
    at_once = needed(lock, *first)
    put = sorted(needed(lock, *later) - at_once)
    files = {
        module: sorted(packages[n]["file_name"] for n in needed(lock, name) - at_once)
        for name in put
        for module in packages[name]["imports"]
    }
    hashes = {packages[name]["file_name"]: packages[name]["sha256"] for name in put}
    return {"files": files, "hashes": hashes}


def needed(lock: dict[str, Any], *names: str) -> set[str]:
    """These packages and all that they depend on; KeyError names one that is missing."""
    found: set[str] = set()
    while names:
        found.update(names)
        more = {need for name in names for need in lock["packages"][name]["depends"]}
        names = tuple(more - found)
    return found
