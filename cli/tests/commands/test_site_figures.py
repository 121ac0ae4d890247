"""The script of the site's figures, from a package of npm."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import pytest

from cli.site.figures import MERMAID, SCRIPT, NoScriptError, add_figure_script

NPM = """\
#!/bin/sh
test "$1 $2" = "pack {package}" || exit 1
cp {folder}/package.tgz . && echo package.tgz
"""


def pages_in(folder: Path) -> Path:
    """Make a folder with one page of figures, one of these below it, one without."""
    docs = folder / "docs"
    (docs / "below").mkdir(parents=True)
    figure = "# Figure\n\n```mermaid\nflowchart\n  a --> b\n```\n"
    (docs / "figure.md").write_text(figure, encoding="utf-8")
    (docs / "below" / "figure.md").write_text(figure, encoding="utf-8")
    (docs / "text.md").write_text("# Text\n", encoding="utf-8")
    return docs


def test_pages_with_figures_load_the_script_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = pages_in(tmp_path)
    with tarfile.open(tmp_path / "package.tgz", "w:gz") as package:
        member = tarfile.TarInfo(f"package/dist/{SCRIPT}")
        member.size = 5
        package.addfile(member, io.BytesIO(b"draw;"))
    npm = tmp_path / "npm"
    npm.write_text(NPM.format(package=MERMAID, folder=tmp_path), encoding="utf-8")
    npm.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(npm))
    add_figure_script(docs)
    assert (docs / SCRIPT).read_bytes() == b"draw;"
    assert '\n<script src="mermaid.min.js">' in (docs / "figure.md").read_text()
    below = (docs / "below" / "figure.md").read_text()
    assert '\n<script src="../mermaid.min.js">' in below
    assert (docs / "text.md").read_text() == "# Text\n"


@pytest.mark.parametrize(
    ("npm", "reason"),
    [
        (None, "npm is not installed"),
        (shutil.which("false"), f"npm pack {MERMAID} ended with 1"),
    ],
)
def test_without_the_package_pages_stay_as_they_are(
    npm: str | None, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = pages_in(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _: npm)
    with pytest.raises(NoScriptError, match=reason):
        add_figure_script(docs)
    assert "<script" not in (docs / "figure.md").read_text()
