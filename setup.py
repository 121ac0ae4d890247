"""
Packages of the distribution: all that tests and commands need, below one name.

The repository has its packages at the top. An installation has them in the folder
``rocketmq_conformance/packages``; see docs/decisions/0009.
"""

import tomllib
from pathlib import Path

from setuptools import find_namespace_packages, setup

NAME = "rocketmq_conformance"
WITHIN = f"{NAME}.packages"

settings = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
folders = find_namespace_packages(
    include=settings["tool"]["distribution"]["packages"],
    exclude=["*.tests", "*.tests.*"],
)
setup(
    packages=[NAME, *(f"{WITHIN}.{folder}" for folder in folders)],
    package_dir={
        NAME: NAME,
        **{f"{WITHIN}.{folder}": folder.replace(".", "/") for folder in folders},
    },
)
