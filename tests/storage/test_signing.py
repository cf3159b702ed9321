"""The key that signs links, and what it signs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from forebay.errors import ConfigError, InvalidField
from forebay.settings import Settings
from forebay.storage.signing import FileLink, Signer, open_signer

GRANT = FileLink(file_id=2**63 - 1, owner_id=7, expires_at=4102444800, inline=True)


def test_a_token_says_what_was_signed() -> None:
    signer = Signer(b"k" * 32)
    assert signer.read(signer.sign(GRANT)) == GRANT


def test_another_key_does_not_fit() -> None:
    with pytest.raises(InvalidField, match=r"^token: is not a valid link$"):
        Signer(b"l" * 32).read(Signer(b"k" * 32).sign(GRANT))


def test_the_settings_have_the_key(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data", signing_key=SecretStr("s" * 32))
    assert Signer(b"s" * 32).read(open_signer(settings).sign(GRANT)) == GRANT
    assert not (tmp_path / "data").exists()
    with pytest.raises(ValidationError, match="signing_key"):
        Settings(signing_key=SecretStr("short"))


def test_a_key_is_made_once_and_is_nobody_elses(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    token = open_signer(settings).sign(GRANT)
    kept = tmp_path / "data" / "signing.key"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert open_signer(settings).read(token) == GRANT
    assert [each.name for each in (tmp_path / "data").iterdir()] == ["signing.key"]
    kept.write_text("")
    with pytest.raises(ConfigError, match="is not a key: delete it to create a new one"):
        open_signer(settings)


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(
        ConfigError, match=r"^cannot store a key in .*/data: File exists; fix that, or set FOREBAY_SIGNING_KEY$"
    ):
        open_signer(Settings(data_dir=tmp_path / "data"))


_ALL_AT_ONCE = """
import sys
from pathlib import Path
from forebay.settings import Settings
from forebay.storage.signing import FileLink, open_signer
print("ready", flush=True)
sys.stdin.read()
print(open_signer(Settings(data_dir=Path(sys.argv[1]))).sign(FileLink(1, 1, 1, inline=False)))
"""


def test_many_who_come_first_have_one_key(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _ALL_AT_ONCE, str(tmp_path / "data")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    children = [subprocess.Popen(command, **pipes) for _ in range(6)]  # type: ignore[call-overload]
    pairs = [(child, child.stdin, child.stdout) for child in children if child.stdin and child.stdout]
    for _, _, heard in pairs:
        assert heard.readline() == "ready\n"
    for _, told, _ in pairs:
        told.close()
    tokens = [heard.read() for _, _, heard in pairs]
    for child, _, heard in pairs:
        assert child.wait() == 0
        heard.close()
    assert (len(tokens), len(set(tokens))) == (6, 1)
    assert [each.name for each in (tmp_path / "data").iterdir()] == ["signing.key"]
