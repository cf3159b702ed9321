import collections, time
from hypothesis import settings
import tests.properties.test_engine_machine as t
def test_stats(dsn):
    c = collections.Counter(); tm = collections.Counter()
    B=t.Bench
    for name in ('submit','submit_many','claim','settle','heartbeat','release','expire','promote','reap_cancelled','tidy','delete_finished','park','verb','look','clear','lanes'):
        f=getattr(B,name)
        def w(self,*a,_f=f,_n=name,**k):
            s=time.perf_counter()
            try: return _f(self,*a,**k)
            finally:
                key=_n if _n!='verb' else a[0]
                c[key]+=1; tm[key]+=time.perf_counter()-s
        setattr(B,name,w)
    s=time.perf_counter()
    jobs=[]
    chk=t.EngineMachine._check_the_end
    def end(self):
        chk(self); jobs.append((len(self.model.jobs), self.model.tried.total(), sum(self.model.tried[x] for x in self.model.tried if x.outcome=='EXPIRED'), collections.Counter(j.state for j in self.model.jobs.values())))
    t.EngineMachine._check_the_end=end
    t.drive(dsn, settings(t._COMMON, max_examples=15, stateful_step_count=40, phases=[t.Phase.generate], database=None))
    print(time.perf_counter()-s)
    for k in c: print(k,c[k],round(tm[k],2),'%.1f ms'%(1000*tm[k]/c[k]))
    for j in jobs: print(j)
