"""`harness serve`: the published site and the settlement API over HTTP."""

import signal
import socket
from collections.abc import Callable
from typing import Final

import click
import uvicorn

from harness.api.app import create_app
from harness.api.site import HOME
from harness.cli.wire import open_ledger
from harness.clock import SystemClock
from harness.errors import UsageError
from harness.settings import Settings

BACKLOG: Final = 128
GRACE_SECONDS: Final = 10
"""What is being answered when the server is stopped may take this long."""


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8400, show_default=True, help="0: any free one.")
@click.pass_obj
def serve(load: Callable[[], Settings], /, host: str, port: int) -> int:
    """Serve the site and the settlement API until it is stopped.

    The site, at /standards/, is what the last publish wrote to REPORTS/site; everybody may read it. What the API
    answers is at /openapi.json; its calls need a token of `harness tokens create`. Put TLS in front of both:
    cron/nginx.conf and cron/Caddyfile are examples. /healthz says whether the process answers, /readyz whether the
    ledger can be served.
    """
    settings = load()
    ledger, site = open_ledger(settings), settings.reports / "site"
    with _listen(host, port) as listening:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listening.getsockname()[1]}"
        click.echo(f"settlement API at {address}\nsite of {site} at {address}{HOME}")
        config = uvicorn.Config(
            create_app(ledger, SystemClock(), site),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        # The server ends what it is answering, then raises the signal again: that it was asked to stop is no failure.
        signal.signal(signal.SIGTERM, lambda _number, _frame: None)
        uvicorn.Server(config).run(sockets=[listening])
    ledger.engine.dispose()
    return 0


def _listen(host: str, port: int) -> socket.socket:
    """A socket that calls can already reach. Raises UsageError where it cannot be had."""
    listening = None
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
    except OSError as error:
        if listening is not None:
            listening.close()
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}. Name another --port") from None
    return listening
