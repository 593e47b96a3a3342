"""What GitHub runs for us: whoever installs or builds anything holds no token that writes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FETCH = "actions/checkout@", "actions/setup-", "actions/cache@"


def jobs() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Each job's name, content and permissions, those of its workflow if it has none."""
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        for name, job in workflow["jobs"].items():
            yield f"{path.stem} {name}", job, job.get("permissions", workflow["permissions"])


JOBS = {name: (job, granted) for name, job, granted in jobs()}
WRITING = {name for name, (_, granted) in JOBS.items() if "write" in granted.values()}


def test_the_site_alone_writes_and_in_a_job_of_its_own():
    assert {"site build", "site publish", "test test"} <= JOBS.keys()
    assert {"site publish"} == WRITING
    assert JOBS["site publish"][1] == {"contents": "write"}
    assert JOBS["site publish"][0]["needs"] == "build"


@pytest.mark.parametrize("name", sorted(WRITING))
def test_a_job_that_may_write_fetches_installs_and_builds_nothing(name):
    steps = JOBS[name][0]["steps"]
    assert not [step for step in steps if step.get("uses", "").startswith(FETCH)]
    commands = [line.split()[0] for step in steps for line in step.get("run", "").splitlines()]
    assert set(commands) == {"cd", "git"}


@pytest.mark.parametrize("name", sorted(JOBS.keys() - WRITING))
def test_all_other_jobs_read_the_contents_alone_and_keep_no_token(name):
    job, granted = JOBS[name]
    assert granted == {"contents": "read"}
    assert "github.token" not in str(job)
    assert "secrets." not in str(job)
    checkouts = [s for s in job["steps"] if s.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)
