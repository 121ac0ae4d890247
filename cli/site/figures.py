"""
Figures of pages: Mermaid's script, which draws them, becomes a part of the site.

The theme loads it from the internet unless a page has it already. npm brings the script
of one release and checks its digest.
"""

from __future__ import annotations

import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

MERMAID = "mermaid@11.17.2"
"""Package of npm, of the major release that the theme expects."""
SCRIPT = "mermaid.min.js"
_MEMBER = f"package/dist/{SCRIPT}"
_FENCE = "```mermaid\n"


class NoScriptError(Exception):
    """npm is missing or failed: figures need the internet."""


def add_figure_script(folder: Path) -> None:
    """Copy the script into *folder*, and refer to it in each page that has a figure."""
    pages = {page: page.read_text(encoding="utf-8") for page in folder.rglob("*.md")}
    drawn = {page: text for page, text in pages.items() if _FENCE in text}
    if not drawn:
        return
    (folder / SCRIPT).write_bytes(_script())
    for page, text in drawn.items():
        up = "../" * len(page.relative_to(folder).parent.parts)
        tag = f'\n<script src="{up}{SCRIPT}"></script>\n'
        page.write_text(text + tag, encoding="utf-8")


def _script() -> bytes:
    npm = shutil.which("npm")
    if npm is None:
        raise NoScriptError("npm is not installed")
    with tempfile.TemporaryDirectory(prefix="rmqc-mermaid-") as folder:
        command = [npm, "pack", MERMAID, "--prefer-offline", "--silent"]
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise NoScriptError(f"npm pack {MERMAID} ended with {done.returncode}")
        with tarfile.open(Path(folder, done.stdout.split()[-1])) as package:
            member = package.extractfile(_MEMBER)
            assert member is not None
            return member.read()
