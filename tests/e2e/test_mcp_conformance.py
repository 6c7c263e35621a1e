"""The protocol's own conformance suite for clients, run against ours scenario by scenario.

The suite would start all clients at once, which takes longer than it waits for the last of them. The result is
printed at the end of the test run.
"""

import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support import mcp_packages

pytestmark = pytest.mark.e2e

PACKAGE = "@modelcontextprotocol/conformance"
CLIENT = Path(__file__).parent / "mcp_conformance.py"

SCENARIOS = {
    "2025-11-25": (
        "initialize",
        "tools_call",
        "elicitation-sep1034-client-defaults",
        "sse-retry",
        "json-schema-2020-12-preservation",
    ),
    "2026-07-28": (
        "tools_call",
        "request-metadata",
        "sep-2322-client-request-state",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
        "json-schema-2020-12-preservation",
    ),
}
"""What is run of each revision of the protocol."""

NOT_OFFERED = "auth/"
"""Scenarios about OAuth: a server that wants a token is given the one of the user's environment."""

RecordProperty = Callable[[str, object], None]


@pytest.mark.parametrize(
    ("revision", "scenario"),
    [(revision, scenario) for revision, scenarios in SCENARIOS.items() for scenario in scenarios],
)
def test_our_client_conforms(
    revision: str, scenario: str, tmp_path: Path, record_property: RecordProperty
) -> None:
    suite = mcp_packages.node_program(PACKAGE)
    client = shlex.join([sys.executable, str(CLIENT)])
    choice = ["--scenario", scenario, "--spec-version", revision, "--command", client]
    limits = ["--timeout", "60000", "--output-dir", str(tmp_path)]
    ran = subprocess.run(
        [*suite, "client", *choice, *limits],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    (report,) = tmp_path.rglob("checks.json")
    checks: list[Any] = json.loads(report.read_text(encoding="utf-8"))
    results = Counter(check["status"] for check in checks)
    passed, scored = results["SUCCESS"], results.total() - results["INFO"] - results["SKIPPED"]
    record_property("summary", f"{revision}  {scenario:36}  {passed:2} of {scored:2} checks passed")
    assert ran.returncode == 0, ran.stdout
    assert passed == scored > 0, ran.stdout


@pytest.mark.parametrize("revision", SCENARIOS)
def test_nothing_that_is_required_is_left_out(revision: str, record_property: RecordProperty) -> None:
    script = Path(mcp_packages.node_program(PACKAGE)[-1])
    written = (script.parents[1] / "requirements" / f"{revision}.yaml").read_text(encoding="utf-8")
    required = set(yaml.safe_load(written)["client"])
    about_oauth = {name for name in required if name.startswith(NOT_OFFERED)}
    record_property(
        "summary", f"{revision}  {len(about_oauth)} scenarios about OAuth are not run: not offered"
    )
    assert required - about_oauth <= set(SCENARIOS[revision])
