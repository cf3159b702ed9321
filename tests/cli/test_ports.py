"""The port of the API: one that was chosen is kept or refused, the default gives way and says so."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

import pytest

from forebay.cli._ports import choose_port
from forebay.errors import InvalidField
from forebay.settings import Settings


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


def test_a_chosen_port_that_is_taken_is_an_error_that_names_the_program(taken: int) -> None:
    with pytest.raises(InvalidField) as refused:
        choose_port(Settings(api_port=taken))
    assert str(refused.value).startswith(
        f"FOREBAY_API_PORT: 127.0.0.1:{taken} cannot be used: Address already in use by "
    )
    hint = "Stop that program, or choose another port with FOREBAY_API_PORT or --port"
    assert str(refused.value).endswith(f"(process {os.getpid()}). {hint}")


def test_the_default_gives_way_and_says_so(taken: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FOREBAY_API_PORT", raising=False)

    class OtherDefault(Settings):
        api_port: int = taken

    port, told = choose_port(OtherDefault())
    assert port != taken
    assert told.startswith(f"Port {taken} is in use by ")
    assert f"the API uses {port}" in told


def test_a_free_port_is_used(taken: int) -> None:
    assert choose_port(Settings(api_port=0))[1] == ""
    assert choose_port(Settings(api_port=0))[0] != taken
