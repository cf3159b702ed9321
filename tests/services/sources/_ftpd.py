"""A real FTP server in a process of its own: pyftpdlib brings modules whose warnings are none of ours.

Arguments: folder, password, port (0: any), certificate (or -), options among: implicit, plain (no MLSD and MLST).
"""

from __future__ import annotations

import os
import sys

from pyftpdlib.authorizers import DummyAuthorizer  # type: ignore[import-untyped]
from pyftpdlib.handlers import FTPHandler, TLS_FTPHandler  # type: ignore[import-untyped]
from pyftpdlib.servers import FTPServer  # type: ignore[import-untyped]

folder, password, port, certificate, *options = sys.argv[1:]


class Authorizer(DummyAuthorizer):  # type: ignore[misc]
    def get_home_dir(self, username: str) -> str:
        """Where the folder leads when somebody logs in, if it is a symbolic link."""
        return os.path.realpath(folder)


known = Authorizer()
known.add_user("ann", password, folder, perm="elradfmwMT")
known.add_anonymous(folder)


class Handler(FTPHandler if certificate == "-" else TLS_FTPHandler):  # type: ignore[misc]
    authorizer = known
    use_sendfile = False
    max_login_attempts = 1
    auth_failed_timeout = 0
    if certificate != "-":
        certfile = certificate
        tls_control_required = tls_data_required = True
    if "plain" in options:
        proto_cmds = {
            name: told for name, told in FTPHandler.proto_cmds.items() if name not in ("MLSD", "MLST", "EPSV")
        }
        _extra_feats: list[str] = []

        def ftp_FEAT(self, line: str) -> None:  # noqa: N802 - as it is called
            self.respond("500 Unknown command")

    if "implicit" in options:

        def handle(self) -> None:
            self.secure_connection(self.get_ssl_context())

        def handle_ssl_established(self) -> None:
            super().handle()


server = FTPServer(("127.0.0.1", int(port)), Handler)
print(server.address[1], flush=True)  # noqa: T201
server.serve_forever()
