"""The system calls that a task may make, as a program for the kernel's seccomp filter.

All others fail with EPERM, so code that only tries one goes on: no new program, no socket but a
connected pair, no other process's memory or signals, no mount, no namespace.
A filter is a list of instructions (code, jump if true, jump if false, value) of classic BPF.
Source: the kernel's documentation, userspace-api/seccomp_filter.
"""

import ctypes
import errno
import functools
import signal
import struct

from grader.sandbox.walls import syscalls

Instruction = tuple[int, int, int, int]
Program = list[Instruction]

LOAD, EQUAL, ANY_SET, MASK, RETURN, AT_LEAST = 0x20, 0x15, 0x45, 0x54, 0x06, 0x35
ALLOW, FAIL = 0x7FFF0000, 0x00050000
MACHINE_AT, NUMBER_AT, ARGUMENTS_AT = 4, 0, 16
AUDIT_MACHINE = {1: 0xC000003E, 2: 0xC00000B7}  # x86-64, aarch64
X32 = 0x40000000
PR_SET_SECCOMP, MODE_FILTER = 22, 2

NEW_NAMESPACES, AS_THREAD = 0x7E020000, 0x00010000
TERMINAL_AND_DESCRIPTOR = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
DUPLICATE_FLAGS_LOCKS_SIZE = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032, 1034)
NAMES_AND_QUESTIONS = (3, 15, 16, 39, 0x53564D41)
AF_UNIX, SOCK_STREAM, SOCKET_FLAGS = 1, 1, 0o2004000


def argument(position: int, half: int = 0) -> Instruction:
    """Load the low half of an argument, or the high one (both machines are little-endian)."""
    return (LOAD, 0, 0, ARGUMENTS_AT + 8 * position + 4 * half)


def answer(error: int) -> Instruction:
    """Skip the call and say that it failed with `error` (0: that it succeeded)."""
    return (RETURN, 0, 0, FAIL | error)


YES: Instruction = (RETURN, 0, 0, ALLOW)
NO: Instruction = answer(errno.EPERM)


def one_of(position: int, values: tuple[int, ...]) -> Program:
    """Allow the call if the argument at `position` is one of `values`."""
    tests = [test for value in values for test in ((EQUAL, 0, 1, value), YES)]
    return [argument(position), *tests, NO]


def new_task(forks: bool) -> Program:
    """Allow threads always, processes if `forks`, namespaces never."""
    head: Program = [argument(0), (ANY_SET, 0, 1, NEW_NAMESPACES), NO]
    return [*head, YES] if forks else [*head, (ANY_SET, 1, 0, AS_THREAD), NO, YES]


def stream_pair() -> Program:
    """Allow a connected pair of stream sockets (asyncio needs one), nothing with an address."""
    family: Program = [argument(0), (EQUAL, 1, 0, AF_UNIX), NO]
    kind: Program = [argument(1), (MASK, 0, 0, ~SOCKET_FLAGS & 0xFFFFFFFF)]
    return [*family, *kind, (EQUAL, 1, 0, SOCK_STREAM), NO, YES]


def questions_of_limits() -> Program:
    """Allow a process to ask for its limits, not to set them: no new ones are handed over.

    Who may lower the limit on computing has the kernel kill the process, as a lack of memory would.
    """
    pid: Program = [argument(0), (EQUAL, 1, 0, 0), NO]
    new_low: Program = [argument(2), (EQUAL, 1, 0, 0), NO]
    new_high: Program = [argument(2, half=1), (EQUAL, 1, 0, 0), NO]
    return [*pid, *new_low, *new_high, YES]


def signals(own_pid: int | None, position: int) -> Program:
    """Allow signals to the process `own_pid` and its group, or to all where ids are its own.

    The first process of a namespace cannot kill itself. Elsewhere it may not either: whoever is
    killed is tried again, as the machine may lack memory.

    Args:
        own_pid: None where ids are the process's own.
        position: of the call's argument that holds the signal.

    """
    if own_pid is None:
        return [YES]
    deadly: Program = [argument(position), (EQUAL, 0, 1, signal.SIGKILL), NO]
    return [*deadly, *one_of(0, (0, own_pid))]


def judged(forks: bool, own_pid: int | None) -> dict[str, Program]:
    """Return the rules for the calls whose arguments matter.

    `own_pid`: the process that may be signalled, besides its group; None: any that can be seen.
    """
    fork: Program = [YES] if forks else [NO]
    return {
        "kill": signals(own_pid, 1),
        "tgkill": signals(own_pid, 2),
        "clone": new_task(forks),
        "clone3": [answer(errno.ENOSYS)],  # its flags lie in memory; the C library then uses clone
        "fork": fork,
        "vfork": fork,
        "ioctl": one_of(1, TERMINAL_AND_DESCRIPTOR),
        "fcntl": one_of(1, DUPLICATE_FLAGS_LOCKS_SIZE),  # no F_SETOWN: it sends signals
        "prctl": one_of(0, NAMES_AND_QUESTIONS),
        "prlimit64": questions_of_limits(),
        "socketpair": stream_pair(),
    }


def when(number: int, then: Program) -> Program:
    """Run `then` for the system call `number`, else skip it."""
    return [(EQUAL, 0, len(then), number), *then]


@functools.lru_cache(maxsize=8)
def program(forks: bool, own_pid: int | None, which: int | None = None) -> bytes:
    """Build the filter for the kernel, for this machine or for column `which` of the tables."""
    machine = which or syscalls.column() or 0
    rules: Program = [(LOAD, 0, 0, MACHINE_AT), (EQUAL, 1, 0, AUDIT_MACHINE[machine]), NO]
    rules += [(LOAD, 0, 0, NUMBER_AT), (AT_LEAST, 0, 1, X32), NO]
    for number in syscalls.numbers(syscalls.HARMLESS, machine).values():
        rules += when(number, [YES])
    for number in syscalls.numbers(syscalls.SHAMMED, machine).values():
        rules += when(number, [answer(0)])
    by_name = judged(forks, own_pid)
    for name, number in syscalls.numbers(syscalls.JUDGED, machine).items():
        rules += when(number, by_name[name])
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in [*rules, NO])


def install(filter_program: bytes) -> None:
    """Hold this process and its future threads and children to the filter; needs no_new_privs."""
    code = ctypes.create_string_buffer(filter_program, len(filter_program))
    head = struct.pack("HP", len(filter_program) // 8, ctypes.addressof(code))
    syscalls.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.c_char_p(head))
