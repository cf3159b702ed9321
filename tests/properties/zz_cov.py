import collections, time
from hypothesis import settings
import tests.properties.test_engine_machine as t
import tests.properties._model as m
def test_cov(dsn):
    c = collections.Counter()
    M=m.Model
    so=M._start_own
    def start_own(self, job, now):
        c['own start']+=1
        if 0 in job.items: c['own restart']+=1
        if any(x.job==job.id and x.n==0 for x in self.letters): c['own restart with letter']+=1
        return so(self, job, now)
    M._start_own=start_own
    ca=M.cancel
    def cancel(self, j, now):
        if j in self.jobs and any(e.job==j and 0 in e.ns for e in self.leases.values()): c['cancel with own leased']+=1
        r=ca(self,j,now); c['cancel',r]+=1; return r
    M.cancel=cancel
    for name in ('pause','resume','pause_item','resume_item','cancel_item','reprocess','replace','expire','release','delete_finished'):
        f=getattr(M,name)
        def w(self,*a,_f=f,_n=name,**k):
            r=_f(self,*a,**k)
            c[_n, r if not isinstance(r,tuple) or len(r)==1 else tuple(x>0 for x in r)] +=1
            return r
        setattr(M,name,w)
    st=M.settle
    def settle(self,w,reports,now,**k):
        r=st(self,w,reports,now,**k)
        c['settled']+=r.settled; c['stale']+=len(r.stale)
        return r
    M.settle=settle
    s=time.perf_counter()
    t.drive(dsn, settings(t._COMMON, max_examples=60, stateful_step_count=50, phases=[t.Phase.generate], database=None))
    print(time.perf_counter()-s)
    for k in sorted(c, key=str): print(k,c[k])
