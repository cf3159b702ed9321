from tests.services.egress.conftest import authority, egress, http, names, opened

__all__ = ["authority", "egress", "http", "names", "opened"]
