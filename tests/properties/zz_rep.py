from hypothesis import settings, reproduce_failure
import tests.properties.test_engine_machine as t
import tests.properties._model as m
def test_rep(dsn):
    with t.Bench(dsn) as bench:
        class Machine(t.EngineMachine):
            pass
        Machine.bench = bench
        Machine = reproduce_failure('6.170.15', b'AXicRVK5UQRBDGzNzu13kMBVnYOBSeEQgObOwSUGUiAAsAiCSLAwqSIDTELAOPfolnaL3ZqpnR6puyUt3MyLGxzwnY/mG5/gnXfmVXAP8w4NH8QYukVCxRQ7oe1PSudnABteD/BHETiEVyIdlykf4jZJQQfh1UPa0KoAkVS+A5bHJ/KLw7EmBNGGJnpSmc9J2Lo3L4kneMFdak8KJ+2AtvsKW6FYycsliU4tKGt2z6Rmn2kwuvBPgBc5z4p5px3pn6kRjuwmw0fJ1yw8okvu0l+ktlEDD+WA9wfxCB1kAL+ioeT+JsyFGIOHtckNP1mK0mb22Uu7vo8eTrq256g1h5MdLnfLoIuKHFVXw+sqaxo0SY5XiuLV5UnWSFVuw0CMQMfvHK4yZrExeUTbHuO/8T6GZ2FtGZ3o2R874Hx2/AF0P0qm')(Machine)
        t.run_state_machine_as_test(Machine, settings=settings(t._COMMON, max_examples=40, stateful_step_count=50, database=None))
