"""System calls by name: their numbers on x86-64 and aarch64, and a way to make them.

Python offers no function for most of what isolation needs, and a seccomp filter needs numbers.
The numbers are the kernel's own (asm/unistd_64.h and asm-generic/unistd.h), and never change.
"""

import ctypes
import functools
import os
import platform
import re
import sys
from typing import Final

HARMLESS: Final = """
# read and write
read 0 63, write 1 64, close 3 57, lseek 8 62, pread64 17 67, pwrite64 18 68, readv 19 65,
writev 20 66, preadv 295 69, pwritev 296 70, preadv2 327 286, pwritev2 328 287, dup 32 23,
dup2 33 -, dup3 292 24, pipe 22 -, pipe2 293 59, close_range 436 436, sendfile 40 71,
copy_file_range 326 285, fsync 74 82, fdatasync 75 83, flock 73 32, fallocate 285 47,
fadvise64 221 223,
# files
open 2 -, openat 257 56, creat 85 -, fstat 5 80, stat 4 -, lstat 6 -, newfstatat 262 79,
statx 332 291, access 21 -, faccessat 269 48, faccessat2 439 439, statfs 137 43,
fstatfs 138 44, getdents 78 -, getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50,
mkdir 83 -, mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, rename 82 -,
renameat 264 38, renameat2 316 276, symlink 88 -, symlinkat 266 36, readlink 89 -,
readlinkat 267 78, truncate 76 45, ftruncate 77 46, umask 95 166,
# memory
mmap 9 222, mprotect 10 226, munmap 11 215, brk 12 214, mremap 25 216, msync 26 227,
mincore 27 232, madvise 28 233,
# signals
rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136,
rt_sigtimedwait 128 137, rt_sigsuspend 130 133, sigaltstack 131 132, pause 34 -,
# time
nanosleep 35 101, clock_nanosleep 230 115, clock_gettime 228 113, clock_getres 229 114,
gettimeofday 96 169, time 201 -, times 100 153, getitimer 36 102, setitimer 38 103, alarm 37 -,
# threads
futex 202 98, futex_waitv 449 449, set_tid_address 218 96, set_robust_list 273 99,
get_robust_list 274 100, rseq 334 293, membarrier 324 283, sched_yield 24 124,
sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120,
sched_get_priority_max 146 125, sched_get_priority_min 147 126, getcpu 309 168,
restart_syscall 219 128,
# itself
exit 60 93, exit_group 231 94, wait4 61 260, waitid 247 95, getpid 39 172, gettid 186 178,
getppid 110 173, getpgrp 111 -, getpgid 121 155, getsid 124 156, getuid 102 174,
getgid 104 176, geteuid 107 175, getegid 108 177, getresuid 118 148, getresgid 120 150,
getgroups 115 158, getrlimit 97 163, getrusage 98 165, getpriority 140 141, uname 63 160,
sysinfo 99 179, getrandom 318 278,
# waiting
select 23 -, poll 7 -, ppoll 271 73, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20,
epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -,
eventfd2 290 19,
# sockets (a connected pair is all that can be made)
sendto 44 206, recvfrom 45 207, shutdown 48 210, getsockname 51 204, getpeername 52 205,
getsockopt 55 209,
"""

# Allowed or not, depending on their arguments (see the filter).
JUDGED: Final = """
ioctl 16 29, fcntl 72 25, prctl 157 167, prlimit64 302 261, socketpair 53 199, kill 62 129,
tgkill 234 131, clone 56 220, clone3 435 435, fork 57 -, vfork 58 -,
"""

# Permissions, times and attributes of files: code may set them, without effect. Landlock does not
# stop an ordinary user's process from changing them elsewhere, and a refusal would make
# shutil.copy fail in the task's own folder.
SHAMMED: Final = """
chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, utime 132 -, utimes 235 -,
futimesat 261 -, utimensat 280 88, getxattr 191 8, lgetxattr 192 9, fgetxattr 193 10,
listxattr 194 11, llistxattr 195 12, flistxattr 196 13,
"""

OURS: Final = """
capset 126 91, mount 165 40, umount2 166 39, pivot_root 155 41, mount_setattr 442 442,
landlock_create_ruleset 444 444, landlock_add_rule 445 445, landlock_restrict_self 446 446,
"""

MACHINES: Final = {"x86_64": 1, "aarch64": 2}
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS = 1, 4, 38, 40


def column() -> int | None:
    """Return the column of the tables for this machine; None if there is none."""
    return MACHINES.get(platform.machine()) if sys.platform == "linux" else None


def numbers(table: str, which: int) -> dict[str, int]:
    """Return a table's calls and their numbers in column `which`, without those it lacks."""
    rows = re.findall(r"(\w+) (\d+|-) (\d+|-),", table)
    return {row[0]: int(row[which]) for row in rows if row[which] != "-"}


@functools.cache
def own_numbers() -> dict[str, int]:
    """Return every call named above with its number on this machine."""
    which = column()
    if which is None:
        raise OSError("no system call numbers are known for this kind of machine")
    return numbers(HARMLESS + JUDGED + SHAMMED + OURS, which)


@functools.cache
def libc() -> ctypes.PyDLL:
    """Return the C library; the interpreter stays locked during a call, as forking requires."""
    return ctypes.PyDLL(None, use_errno=True)


def checked(what: str, result: int) -> int:
    """Return `result`; raise OSError, named by `what`, if it is below zero."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def word(value: object) -> object:
    """Return an argument as a whole machine word: variadic calls take nothing narrower safely."""
    return ctypes.c_long(value) if isinstance(value, int) else value


def call(name: str, *arguments: object) -> int:
    """Make a system call by name; raises OSError if it fails."""
    number = ctypes.c_long(own_numbers()[name])
    return checked(name, int(libc().syscall(number, *map(word, arguments))))


def prctl(option: int, *arguments: object) -> int:
    """Set or query a property of this process; raises OSError if it fails."""
    padded = [*arguments, 0, 0, 0, 0][:4]
    return checked(f"prctl {option}", int(libc().prctl(option, *map(word, padded))))
