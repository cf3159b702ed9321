import os
from hypothesis import settings
import tests.properties.test_engine_machine as t
import tests.properties._model as m
if os.environ.get("DROP"):
    import tests.properties._checks as ch; m.KNOWN = t.KNOWN = m.KNOWN - {os.environ["DROP"]}
def test_hunt(dsn):
    ph = [t.Phase.generate] + ([t.Phase.shrink] if os.environ.get("SHRINK") else [])
    t.drive(dsn, settings(t._COMMON, max_examples=int(os.environ.get("EX", "100")), stateful_step_count=int(os.environ.get("ST","40")), phases=ph, database=None))
