"""`forebay api`, when it cannot begin."""

from __future__ import annotations

import socket

import pytest

from forebay.cli import api
from forebay.errors import ForebayError
from tests.cli._run import Cli


def test_a_port_that_is_taken_is_named(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = cli.run("api", "--port", str(port))
    assert refused.code == 2
    assert f"FOREBAY_API_PORT: 127.0.0.1:{port} cannot be used: Address already in use" in refused.err


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "is_installed", lambda: False)
    with pytest.raises(ForebayError, match="the API is not installed: pip install 'forebay\\[api\\]'"):
        api.require()
