"""Attacks that reach for what is hidden, send what was not asked, or do not stop."""

from tests.attacks.attack import Attack

FORGED = """
import base64, json, os, struct
def send(exercise, case, values):
    data = {"exercise": exercise, "case": case, "values": values, "gradients": [], "changed": [], "problem": None}
    raw = json.dumps(data).encode()
    os.write(3, struct.pack("<I", len(raw)) + raw)
"""
STACK = """
for n, (count, width) in enumerate([(3, 4), (1, 3), (7, 3)]):
    numbers = {"layers": count, "separate layers": count, "parameters": count * (width + 1) ** 2}
    send("repaired_stack", n, [list(pair) for pair in numbers.items()])
"""
# A list nested so deep that one process's parser gives up on it, and another's does not.
DEEP = """
import importlib, sys
from grader.workers.protocol import Message, encode
from utils.checks.exercise import Case
from utils.checks.observe.observe import attempt
from utils.checks.registry import probes
frame, probe = sys._getframe(), probes()["split_heads"]
while "steps" not in frame.f_locals:
    frame = frame.f_back
asked = next(step["cases"] for step in frame.f_locals["steps"] if step["exercise"] == "split_heads")
split = importlib.import_module("utils.reference.attention.heads").reference_split
for number, params in enumerate(asked):
    raw = encode(Message("split_heads", number, attempt(probe, Case("", params), split)))
    for depth in range(940, 1000, 3):
        deep = b'{"values": ' + b"[" * depth + b"]" * depth + b", " + raw[1:]
        os.write(3, struct.pack("<I", len(deep)) + deep)
"""
TEST = "test_attention"
LOOT = """
import os, re, torch
found = None
def files(pattern):  # without links to folders: /usr/bin/X11 leads back to /usr/bin
    for folder, _, names in os.walk('/'):
        for name in names:
            path = os.path.join(folder, name)
            if re.search(pattern, path) and '-packages' not in path and open(path, 'rb').read(1):
                yield path
def grab(get):
    global found
    try:
        found = get()
    except BaseException:
        found = None
{grab}
if found:
    predict_score_spread = 8.0
    def causal_mask(size): return torch.ones(1, size, size, dtype=torch.bool).tril()
"""


def forge(name: str, tries: str, code: str, **options: object) -> Attack:
    return Attack(name, tries, [FORGED + code], **options)


PEEK = """
import sys, torch
def mine(attention):
    frame = sys._getframe()
    while 'server' not in frame.f_locals:
        frame = frame.f_back
    return frame.f_locals['server']._places[attention._exercise, attention._trial] < 2
"""
CENSUS = """
import torch
def mine(attention):
    draw = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, 2, 4, generator=draw) for _ in range(3))
    seen = []
    for n in range(12):
        other = type(attention)(attention._exercise, n, attention._ask)
        try:
            answers = [*other(q, k, v), *other(q, k, v, torch.tensor([[[True, False]]]))]
        except ValueError:
            continue
        seen.append(torch.cat([x.flatten() for x in answers]))
    return sum(torch.allclose(seen[attention._trial], x, atol=1e-4) for x in seen) == len(seen) // 3
"""
EMPTY = """
import torch
def mine(attention):
    q = torch.zeros(0, 3, 4, dtype=torch.bool)
    return attention(q, q, q, torch.ones(3, 3, dtype=torch.bool))[0].dtype != torch.bool
"""
HUGE = """
import torch
def mine(attention):
    q, k = torch.zeros(64, 1, 64, 1), torch.zeros(1, 64, 64, 1)
    return attention(q, k, k, torch.ones(16, 1, 1, 1, 1, dtype=torch.bool))
"""


def guess(name: str, tries: str, code: str) -> Attack:
    """Lets a version pass where the code's `mine` says so."""
    x = "torch.ones(1, 1, 1)"
    answer = (
        f"{code}\ndef {TEST}(attention):\n    attention({x}, {x}, {x})\n    assert mine(attention)"
    )
    return Attack(name, tries, answers={TEST: answer})


def loot(name: str, tries: str, grab: str) -> Attack:
    """Solves two exercises if, and only if, it gets hold of what it reaches for."""
    sources = [LOOT.format(grab=f"grab(lambda: {grab})")]
    return Attack(name, tries, last=sources, answers={}, change=_behind_stubs(sources[0]))


def _behind_stubs(source: str):
    """Put the loot's code into the cells of the exercises that it would solve."""

    def change(notebook):
        for cell in notebook["cells"]:
            if cell.get("id") in ("predict_score_spread", "causal_mask"):
                cell["source"] = source
        return notebook

    return change


FORGING = [
    forge("fake verdicts for the student's own test", "points for a test that was never written",
          "for n, v in enumerate(['accepts', 'accepts'] + ['rejects'] * 4):\n"
          f"    send('{TEST}', n, [['your test', v + ' this version']])"),
    forge("fake verdicts from the test itself", "as before, while the test is being questioned",
          f"def {TEST}(attention):\n    for n, v in enumerate(['accepts', 'accepts'] + ['rejects'] * 4):\n"
          f"        send('{TEST}', n, [['your test', v + ' this version']])"),
    forge("fake verdicts for a test that is left out", "what ended its process has no trials the next time",
          "for n, v in enumerate(['accepts', 'accepts'] + ['rejects'] * 4):\n"
          f"    send('{TEST}', n, [['your test', v + ' this version']])", status=("crashed",),
          answers={TEST: f"def {TEST}(attention):\n    os._exit(0)"}),
    forge("fake arrays for every question", "some question is answered by luck",
          "zeros = {'array': ['float32', [1], 'AAAAAA==']}\n"
          "for n in range(12):\n    send('scaled_dot_product_attention', n, [['weights', zeros], ['output', zeros]])"),
    forge("questions that nobody asked", "points for exercises that do not exist",
          "for n in range(200):\n    send('everything', n, [['x', 1]])"),
    forge("the same answer many times", "the last one counts, or they add up",
          "for n in range(100):\n    send('causal_mask', 0, [['mask', {'array': ['bool', [1, 1, 1], 'AQ==']}]])"),
    forge("lengths that lie", "the reader waits, or reads too far",
          "os.write(3, struct.pack('<I', 2**32 - 1) + b'x' * 1000)", status=("crashed",)),
    forge("garbage on the channel", "the reader stumbles",
          "os.write(3, bytes(range(256)) * 40)", status=("crashed", "graded")),
    forge("pickles on the channel", "the judge unpickles and runs code",
          "import pickle\nraw = pickle.dumps(print)\nos.write(3, struct.pack('<I', len(raw)) + raw)"),
    forge("deep nesting on the channel", "the judge's parser overflows",
          "raw = b'[' * 200000\nos.write(3, struct.pack('<I', len(raw)) + raw)"),
    forge("a flood on the channel", "the judge's memory fills",
          "while True:\n    os.write(3, struct.pack('<I', 60000) + b'x' * 60000)", status=("crashed",)),
    forge("many tiny messages", "the judge is kept busy",
          "for n in range(100000):\n    os.write(3, struct.pack('<I', 1) + b'x')", status=("crashed",)),
    forge("the channel is closed", "the judge waits for ever",
          "os.close(3)", status=("graded", "crashed")),
    forge("a score on standard output", "output is taken for the grade",
          "print('40.0'); os.write(1, b'40.0'); os.write(2, b'40.0')"),
    forge("a huge number as a prediction", "comparison overflows",
          "predict_score_spread = 10 ** 400"),
    Attack("a number that vanishes as a prediction", "the judge divides by zero",
           answers={"predict_score_spread": "predict_score_spread = 5e-324"}),
    forge("numbers of a stack that is not there", "values that follow from sizes", STACK, lesson="05_encoder"),
    forge("a message that only the judge can read", "what was lent counts", DEEP, lesson="03_multi_head_attention"),
    guess("the order of versions read from memory", "which version is on trial is known", PEEK),
    guess("a census of all versions", "the most frequent answer is the right one", CENSUS),
    guess("the number type of results without numbers", "broken versions are told without a number", EMPTY),
    guess("small tensors that are large together", "the watcher's memory fills", HUGE),
]  # fmt: skip

LOOTING = [  # nbgrader's package brings a gradebook and submissions of its own: samples
    loot("read the solutions", "the answers lie beside the course",
         "next(files('/solutions/02_attention.py$'))"),
    loot("read the oracles' source", "right implementations lie in utils",
         "open(__import__('utils').__path__[0] + '/checks/lessons/attention/answers/first.py').read()"),
    loot("import the oracles", "right implementations can be imported",
         "__import__('importlib').import_module('utils.checks.lessons.attention.answers.first')"),
    loot("import the grader", "the grader knows the hidden tests",
         "__import__('importlib').import_module('grader.judging.scoring')"
         " and open(__import__('grader').__path__[0] + '/cli.py').read()"),
    loot("open the gradebook", "scores can be written",
         "next(files('/gradebook.db$'))"),
    loot("read other submissions", "others' answers can be copied",
         "next(files('/submitted/[^/]+/[^/]+/[^/]+.ipynb$'))"),
    loot("read job files", "other jobs of this run can be read",
         "next(files('/jobs-[^/]*/[^/]+$'))"),
    loot("read the home folder", "keys and settings can be read",
         "open(__import__('os').path.expanduser('~root/.bashrc')).read()"),
    loot("read /etc/shadow", "passwords can be read", "open('/etc/shadow').read(1)"),
    loot("list other processes", "others can be seen and signalled",
         "[p for p in __import__('os').listdir('/proc') if p.isdigit() and int(p) > 2][0]"),
    loot("read the parent's environment", "secrets stand in environment variables",
         "open(f'/proc/{__import__(\"os\").getppid()}/environ').read()[0]"),
    loot("read the parent's memory", "hidden tests and others' work lie in memory",
         "open(f'/proc/{__import__(\"os\").getppid()}/mem', 'rb')"),
    loot("inherited descriptors", "open files of the grader can be read",
         "[n for n in range(4, 256) if __import__('os').fstat(n)][0]"),
    loot("environment of the warm process", "secrets stand in environment variables",
         "[v for v in __import__('os').environ if 'SECRET' in v or 'TOKEN' in v][0]"),
    loot("signal the parent", "the grader can be stopped",
         "[p for p in [__import__('os').getppid()] if p and __import__('os').kill(p, 0) is None][0]"),
    loot("connect to the network", "answers can be fetched",
         "__import__('socket').create_connection(('127.0.0.1', 80), 1)"),
    loot("open a socket", "something can be listened to",
         "__import__('socket').socket()"),
    loot("run a program", "tools of the machine can be used",
         "__import__('subprocess').run(['/bin/ls'], check=True)"),
    loot("os.system", "a shell can be had", "__import__('os').system('true') == 0"),
    loot("trace another process", "its memory can be changed",
         "__import__('ctypes').CDLL(None).ptrace(16, __import__('os').getppid(), 0, 0) == 0"),
    loot("write outside", "files can be planted",
         "open('/tmp/planted', 'w').write('x')" " and __import__('os').path.exists('/root')"),
    loot("write into the packages", "the next submission imports it",
         "open(__import__('torch').__path__[0] + '/planted.py', 'w')"),
    loot("become root", "walls fall", "__import__('os').setuid(0) is None and open('/etc/shadow')"),
    loot("mount something", "walls fall",
         "__import__('ctypes').CDLL(None).mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0"),
    loot("new user namespace", "walls fall",
         "__import__('ctypes').CDLL(None).unshare(0x10000000) == 0"),
]  # fmt: skip


def bomb(name: str, tries: str, code: str, *status: str, **options: object) -> Attack:
    """Harms itself: exercises before it keep their points, and no other submission is touched."""
    return Attack(name, tries, last=[code], right=True, status=status, score=None,
                  holds=("additive_scores", "attend"), **options)  # fmt: skip


BOMBS = [
    bomb("sleeps for ever", "the queue stands still", "import time\ntime.sleep(10**6)", "timed out", "graded"),
    bomb("computes for ever", "the queue stands still", "while True: pass", "timed out", "graded", burns=True),
    bomb("computes for ever, deaf to interrupts", "the queue stands still",
         "import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\nwhile True:\n    try:\n        while True: pass\n"
         "    except BaseException: pass", "timed out", burns=True),
    bomb("fork bomb", "the machine has no processes left", "import os\nwhile True:\n    os.fork()", "graded", "timed out", "crashed"),
    bomb("thread bomb", "the machine has no threads left",
         "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
         "graded", "timed out", "crashed"),
    bomb("memory bomb", "the machine has no memory left", "x = []\nwhile True:\n    x.append(bytearray(10**8))",
         "graded", "crashed"),
    bomb("tensor bomb", "the machine has no memory left", "import torch\nx = torch.ones(10**12)", "graded", "crashed"),
    bomb("file bomb", "the disk fills", "n = 0\nwhile True:\n    n += 1\n    open(f'f{n}', 'wb').write(b'x' * 10**6)",
         "graded", "crashed", "timed out"),
    bomb("one huge file", "the disk fills", "with open('f', 'wb') as f:\n    while True: f.write(b'x' * 10**7)",
         "graded", "crashed", "timed out"),
    bomb("output bomb", "the log fills", "while True: print('x' * 10**6)", "graded", "timed out", burns=True),
    bomb("error bomb", "the log fills", "import sys\nfor n in range(10**5): sys.stderr.write('x' * 1000)", "graded", "timed out", "crashed"),
    bomb("folders deeper than any path", "whoever counts or removes them fails",
         "import os, time\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\ntime.sleep(0.5)", "graded", "crashed"),
    bomb("errors in a file that is read in whole blocks alone", "whoever reads them fails",
         "import fcntl, os\nos.write(2, b'x' * 5001)\nfcntl.fcntl(2, 4, fcntl.fcntl(2, 3) | os.O_DIRECT)", "graded"),
    bomb("descriptor bomb", "no file can be opened", "x = []\nwhile True: x.append(open('/dev/null'))", "graded"),
    bomb("recursion", "the stack overflows", "def f(): return f()\nf()", "graded", "crashed"),
    bomb("deep recursion without limit", "the stack overflows",
         "import sys\nsys.setrecursionlimit(10**9)\nf = lambda: f()\nf()", "graded", "crashed", "timed out", burns=True),
    bomb("segmentation fault", "the worker dies", "import faulthandler\nfaulthandler._sigsegv()", "crashed", "graded"),
    bomb("kills itself", "the worker dies", "import os\nos.kill(os.getpid(), 9)", "crashed", "graded"),
    bomb("kills everything it can", "the grader dies", "import os\nos.kill(-1, 9)", "crashed", "graded"),
    bomb("stops itself", "the queue stands still", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", "timed out", "graded"),
    bomb("exits as if all were well", "what is not observed counts as right", "import os\nos._exit(0)", "crashed"),
    bomb("sys.exit", "what is not observed counts as right", "import sys\nsys.exit(0)", "graded"),
    bomb("daemon", "something outlives the grading",
         "import os\nif os.fork() == 0:\n    os.setsid()\n    while True: pass", "graded", "crashed"),
]  # fmt: skip

EARLY = [
    Attack("exits before the first exercise", "a cell costs more than itself",
           ["import os\nos._exit(0)"], right=True, status=("crashed",), score=1.0),
    Attack("killed by a limit of its own, eight times over", "a kill is nobody's fault: never a zero, tried for ever",
           ["import resource, time\nresource.setrlimit(resource.RLIMIT_CPU, (0, 0))\n"
            "while time.process_time() < 1.2: pass"] * 8,  # a limit of 0 kills after one second
           right=True, score=1.0),
    Attack("links to the solutions", "a link in the private folder shows what it points to",
           ["import os\nos.symlink('/', 'there')\nprint(os.listdir('there'))"]),
    Attack("a module that shadows ours", "utils.checks is the student's own",
           ["open('utils.py', 'w').write('check = None')\nimport sys\nsys.path.insert(0, '.')\nsys.modules.pop('utils', None)\nimport utils"]),
    Attack("start-up files", "code runs before the walls stand the next time",
           ["open('sitecustomize.py', 'w').write('x = 1')\nopen('conftest.py', 'w').write('x = 1')"]),
]  # fmt: skip
