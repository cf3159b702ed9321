"""Runs untrusted programs and functions in a process with limits, and in a sandbox if the kernel allows one.

program.py      run_program: yt-dlp, ffmpeg …        process.py    one guarded process, as its owner sees it
guard.py        starts, watches and kills it         launch.py     the last steps into the sandbox
availability.py which sandbox this machine allows    mounts.py       which files are visible in the sandbox
bubblewrap.py   sandbox with bwrap                   namespaces.py sandbox with system calls
seccomp.py      the filter of system calls           accounts.py   unused user ids for sandboxes
serving.py, child.py   runs functions, call by call  codec.py, failures.py   what they may send back
"""
