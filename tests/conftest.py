"""What every test may use."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("quick", max_examples=50, deadline=None)
settings.register_profile(
    "thorough", max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell runs the tests in its background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what tests start must heed Ctrl+C all the same


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files with what was seen")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):  # type: ignore[no-untyped-def]
    """Where nothing may be skipped (CI), a skip for missing data or hosts is a failure."""
    report = yield
    if report.skipped and os.environ.get("JP_NO_SKIPS") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what tests have recorded as their `summary`, such as the result of a conformance suite."""
    reports = [report for reports in terminalreporter.stats.values() for report in reports]
    recorded = {
        (report.nodeid.split("::")[0], line)
        for report in reports
        if isinstance(report, pytest.TestReport)
        for name, line in report.user_properties
        if name == "summary"
    }
    for file in sorted({file for file, _ in recorded}):
        terminalreporter.section(file)
        for line in sorted(str(line) for of, line in recorded if of == file):
            terminalreporter.write_line(line)
