"""What makes graders that are killed quick to start: import it where they are copied from.

All of them share one warm fork server, which a grader that is killed does not take along. What a
killed grader's own fork server does is tested where fork servers are.
"""

from unittest import mock

from grader.sandbox import Limits
from grader.workers.pool import FORK_SERVER, Job, Pool
from tests.fork_server import Shared

SERVER = Shared(Limits(), isolate=True, program=FORK_SERVER)

mock.patch.object(Pool, "_new_server", lambda _pool: SERVER).start()
with Pool(1, Limits()) as pool:
    list(pool.run([Job(0, b"[]")]))  # until it is warm
