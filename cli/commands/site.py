"""``rmqc site``: the specification, results and guides as a site."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from cli.options.common import LocalPath
from cli.options.exit_codes import WrongValueError
from cli.options.extras import missing_extra

DOCS = Path(__file__).parents[2] / "docs"
EXTRAS = "audit,site"


@click.command()
@click.option(
    "-o",
    "--output",
    "out",
    required=True,
    type=LocalPath(file_okay=False, path_type=Path),
    help="Folder of the site; its content is replaced.",
)
@click.option(
    "--repository",
    default="",
    metavar="URL",
    help="Address of this project's files at a revision, for links to tests.",
)
def site(out: Path, repository: str) -> None:
    """Build the site: specification with search, results, performance and guides.

    It needs a checkout that is installed with pip install -e '.[audit,site]', as
    tox -e site does. npm brings the script that draws the figures. Without npm they
    need the internet.
    """
    if not (DOCS / "architecture.md").is_file():
        raise WrongValueError(
            "rmqc site needs a checkout, installed by pip install -e '.[audit,site]'"
            " or tox -e site: other installations have no docs"
        )
    try:
        from cli.site.build import build_site
        from cli.site.links import Repository

        reason = build_site(out.resolve(), Repository(repository.rstrip("/")))
    except ModuleNotFoundError as error:
        raise (missing_extra(error, EXTRAS) or error) from error
    click.echo(f"wrote {out / 'index.html'}")
    if reason is not None:
        click.echo(f"its figures need the internet: {reason}", err=True)
    click.echo(
        f"its search needs a server: python3 -m http.server -d {quote(str(out))}"
    )
