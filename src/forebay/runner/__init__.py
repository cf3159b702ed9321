"""Untrusted programs and functions: run in a process with limits, in a sandbox where the kernel allows one.

program.py      run_program: yt-dlp, ffmpeg …        process.py    one guarded process as its owner sees it
guard.py        starts, watches and kills it         launch.py     the last steps into the sandbox
availability.py which sandbox this machine allows    view.py       what of this machine is seen in it
bubblewrap.py   by bwrap                             namespaces.py by the kernel's own calls
seccomp.py      the filter of system calls           accounts.py   user ids that nobody else has
serving.py, child.py   functions, call after call    codec.py, failures.py   what they may send back
"""
