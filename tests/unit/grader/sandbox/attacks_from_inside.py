"""What a hostile task tries, one function each; the standard library is enough to run it.

An attack returns what it got, and raises OSError where a wall held. `python attacks_from_inside.py`
runs them all with this interpreter's user and prints, as JSON, what each came to.
"""

import contextlib
import ctypes
import errno
import json
import mmap
import os
import platform
import resource
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grader.sandbox import Supervisor


@dataclass(frozen=True)
class Targets:
    """What an attack aims at: made by the trusted side, outside every wall."""

    folder: Path
    port: int
    pid: int
    unix: str
    abstract: str

    @property
    def secret(self) -> Path:
        return self.folder / "gradebook.txt"


Attack = Callable[[Targets], object]
ATTACKS: dict[str, Attack] = {}
SECRET = "the answers and the marks"


def attack(function: Attack) -> Attack:
    ATTACKS[function.__name__] = function
    return function


@attack
def connects_to_a_server(targets: Targets) -> object:
    with socket.socket() as client:
        client.connect(("127.0.0.1", targets.port))
        return client.getpeername()


@attack
def listens_on_a_port(_targets: Targets) -> object:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()


@attack
def sends_a_datagram(targets: Targets) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        return sender.sendto(b"x", ("127.0.0.1", targets.port))


@attack
def connects_to_a_unix_socket(targets: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(targets.unix)
        return "connected"


@attack
def connects_to_an_abstract_socket(targets: Targets) -> object:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(targets.abstract)
        return "connected"


@attack
def makes_a_datagram_pair(_targets: Targets) -> object:
    return [end.detach() for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)]


@attack
def reads_a_file_outside(targets: Targets) -> object:
    return targets.secret.read_text()


@attack
def reads_over_a_symbolic_link(targets: Targets) -> object:
    Path("link").symlink_to(targets.secret)
    return Path("link").read_text()


@attack
def climbs_out_with_dots(targets: Targets) -> object:
    return Path(*[".."] * 40, *targets.secret.parts[1:]).read_text()


@attack
def goes_through_a_process_root(targets: Targets) -> object:
    return Path(f"/proc/{targets.pid}/root{targets.secret}").read_text()


@attack
def lists_a_folder_outside(targets: Targets) -> object:
    return list(targets.folder.iterdir())


@attack
def reads_etc(_targets: Targets) -> object:
    return Path("/etc/passwd").read_text()


@attack
def lists_processes(_targets: Targets) -> object:
    return list(Path("/proc").iterdir())


@attack
def reads_the_parents_environment(targets: Targets) -> object:
    return Path(f"/proc/{targets.pid}/environ").read_bytes()


@attack
def reads_the_parents_memory(targets: Targets) -> object:
    return Path(f"/proc/{targets.pid}/maps").read_bytes()


@attack
def writes_a_file_outside(targets: Targets) -> object:
    return (targets.folder / "new.txt").write_text("mine")


@attack
def changes_a_file_outside(targets: Targets) -> object:
    with targets.secret.open("a") as stream:
        return stream.write("")


@attack
def cuts_a_file_outside(targets: Targets) -> object:
    return os.truncate(targets.secret, targets.secret.stat().st_size)


@attack
def renames_a_file_outside(targets: Targets) -> object:
    return targets.secret.rename(targets.secret)


@attack
def makes_a_folder_outside(targets: Targets) -> object:
    return (targets.folder / "new").mkdir()


@attack
def links_a_file_outside(targets: Targets) -> object:
    return os.link(targets.secret, targets.folder / "hard-link")


@attack
def writes_among_the_packages(_targets: Targets) -> object:
    file = Path(os.__file__).with_name(f"planted-{os.getpid()}.py")
    file.touch()
    file.unlink()
    return "planted"


@attack
def signals_the_parent(targets: Targets) -> object:
    return os.kill(targets.pid, 0)


@attack
def signals_every_process(_targets: Targets) -> object:
    return os.kill(1, 0) if os.getpid() != 1 else os.kill(2, 0)


@attack
def opens_a_descriptor_of_the_parent(_targets: Targets) -> object:
    found = [number for number in range(5, 200) if is_open(number)]
    return found or refuse()


@attack
def runs_a_program(_targets: Targets) -> object:
    return os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {})


@attack
def replaces_itself_by_a_program(_targets: Targets) -> object:
    return os.execv("/bin/true", ["true"])


@attack
def starts_a_process(_targets: Targets) -> object:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return os.waitpid(pid, 0)


@attack
def opens_too_many_files(_targets: Targets) -> object:
    return len([os.open(".", os.O_RDONLY) for _ in range(200)])


@attack
def takes_too_much_memory(_targets: Targets) -> object:
    with as_os_error():
        return len(bytearray(3 << 30))


@attack
def takes_too_much_shared_memory(_targets: Targets) -> object:
    with as_os_error():
        return len(mmap.mmap(-1, 3 << 30))


@attack
def writes_a_huge_file(_targets: Targets) -> object:
    with Path("huge").open("wb") as stream:
        return [stream.write(bytes(1 << 20)) for _ in range(20)]


@attack
def starts_too_many_threads(_targets: Targets) -> object:
    event = threading.Event()
    threading.stack_size(1 << 16)
    try:
        with as_os_error():
            for _ in range(200):
                threading.Thread(target=event.wait, daemon=True).start()
            return threading.active_count()
    finally:
        event.set()


@attack
def raises_its_own_limits(_targets: Targets) -> object:
    with as_os_error():
        return resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))


@attack
def becomes_root(_targets: Targets) -> object:
    return os.setuid(0)


def is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def refuse() -> None:
    raise PermissionError(errno.EPERM, "nothing was there")


@contextlib.contextmanager
def as_os_error() -> Iterator[None]:
    """Python reports some of the kernel's refusals as other errors."""
    try:
        yield
    except (MemoryError, RuntimeError, ValueError) as error:
        raise OSError(errno.EPERM, str(error)) from error


# Calls that a task has no business with: number on x86-64, number on aarch64. With these arguments
# the kernel itself would answer EINVAL, EFAULT or EBADF, never EPERM to root.
CALLS = {
    "ptrace": (101, 117),
    "setrlimit": (160, 164),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "open_by_handle_at": (304, 265),
    "memfd_create": (319, 279),
    "execveat": (322, 281),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "kexec_load": (246, 104),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "rt_sigqueueinfo": (129, 138),
    "tkill": (200, 130),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "seccomp": (317, 277),
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "sendmsg": (46, 211),
    "setxattr": (188, 5),
    "mknodat": (259, 33),
    "linkat": (265, 37),
    "setresuid": (117, 147),
    "capset": (126, 91),
    "chroot": (161, 51),
    "quotactl": (179, 60),
    "personality": (135, 92),
    "clone into a user namespace": (56, 220),
    "prctl PR_SET_PDEATHSIG": (157, 167),
    "fcntl F_SETOWN": (72, 25),
    "ioctl TIOCSTI": (16, 29),
}
FIRST_ARGUMENTS = {
    "clone into a user namespace": (0x10000000,),
    "prctl PR_SET_PDEATHSIG": (1, 0),
    "fcntl F_SETOWN": (0, 8, 1),
    "ioctl TIOCSTI": (0, 0x5412),
}


def bare_call(name: str) -> None:
    """Make one of CALLS; OSError says what the kernel answered."""
    number = CALLS[name][platform.machine() == "aarch64"]
    libc = ctypes.CDLL(None, use_errno=True)
    given = (*FIRST_ARGUMENTS.get(name, ()), -1, -1, -1, -1, -1)[:5]
    if libc.syscall(number, *map(ctypes.c_long, given)) < 0:
        raise OSError(ctypes.get_errno(), name)


def outcome(function: Attack, targets: Targets) -> str:
    """What came of an attack: "held: ..." or "got: ..."."""
    try:
        return f"got: {function(targets)}"
    except OSError as error:
        return f"held: {errno.errorcode.get(error.errno or 0, error)}"


def run(name: str, targets: Targets, supervisor: Supervisor) -> str:
    """Run one attack in a task; how the task ended if it said nothing."""
    number = supervisor.start(
        lambda channel: channel.send(outcome(ATTACKS[name], targets).encode())
    )
    ended = supervisor.poll()[number]
    return ended.messages[0].decode() if ended.messages else f"{ended.status}: {ended.stderr}"


@contextlib.contextmanager
def targets_in(folder: Path) -> Iterator[Targets]:
    """A secret file, and servers on a port, a Unix socket and an abstract socket."""
    path, name = str(folder / "socket"), f"\0isolation-{os.getpid()}"
    families = (socket.AF_INET, socket.AF_UNIX, socket.AF_UNIX)
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(socket.socket(family)) for family in families]
        for server, address in zip(servers, (("127.0.0.1", 0), path, name), strict=True):
            server.bind(address)
            server.listen(8)
        (folder / "gradebook.txt").write_text(SECRET)
        yield Targets(folder, servers[0].getsockname()[1], os.getpid(), path, name)


def without_namespaces(supervisor: Supervisor) -> Supervisor:
    """The same supervisor as it would be where the kernel grants no namespace."""
    drop_root = os.geteuid() == 0
    supervisor.walls = replace(supervisor.walls, namespaces=frozenset(), drop_root=drop_root)
    return supervisor


def without_landlock(supervisor: Supervisor) -> Supervisor:
    """The same supervisor as it would be where the kernel lacks Landlock."""
    supervisor.walls = replace(supervisor.walls, landlock=False)
    return supervisor


def main() -> None:
    kinds = (Supervisor(), without_namespaces(Supervisor()), without_landlock(Supervisor()))
    with tempfile.TemporaryDirectory() as folder, targets_in(Path(folder)) as targets:
        print(json.dumps([{name: run(name, targets, kind) for name in ATTACKS} for kind in kinds]))


if __name__ == "__main__":
    main()
