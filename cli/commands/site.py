"""``rmqc site``: the specification, results and guides as a site."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import click

from cli.options.exit_codes import WrongValueError


@click.command()
@click.option(
    "-o",
    "--output",
    "out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
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

    The guides are those of a checkout: an installation does not have them.
    """
    from cli.site.build import SiteError, build_site
    from cli.site.links import Repository

    try:
        build_site(out.resolve(), Repository(repository.rstrip("/")))
    except SiteError as error:
        raise WrongValueError(str(error)) from None
    click.echo(f"wrote {out / 'index.html'}")
    click.echo(
        f"its search needs a server: python3 -m http.server -d {quote(str(out))}"
    )
