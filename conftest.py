"""Pytest's settings for the whole tree.

Child processes and notebook kernels import the tree's package, not an installed copy; the option `--all`; and the
table of the programs compared with TensorFlow, in the summary.
"""

import json
import os
from pathlib import Path

import pytest

ROOT = str(Path(__file__).resolve().parent)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--all`, for what is left out by default."""
    parser.addoption("--all", action="store_true", help="run the programs listed in tests/fidelity/later.txt too")


def pytest_configure() -> None:
    """Put the tree before an installed copy, in this process's children too."""
    entries = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    if ROOT not in entries:
        os.environ["PYTHONPATH"] = os.pathsep.join([ROOT, *entries])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The fidelity table, of this process's tests or of all workers'."""
    reports = [report for kind in ("passed", "failed", "xfailed") for report in terminalreporter.getreports(kind)]
    rows = [
        json.loads(value)
        for report in sorted(reports, key=lambda report: report.nodeid)
        for name, value in report.user_properties
        if name == "fidelity"
    ]
    if not rows:
        return
    terminalreporter.section("the programs compared with TensorFlow 1.15")
    heading = f"{'program':<32} {'status':<9} {'lines':>9} {'nodes':>13} {'extra':>5}  {'s':>5}"
    terminalreporter.write_line(heading)
    for row in rows:
        terminalreporter.write(row["text"])
    total = {key: sum(row[key] for row in rows) for key in rows[0] if key != "text"}
    terminalreporter.write_line(
        f"{total['equal']} of {len(rows)} programs equal; lines {total['lines_ok']}/{total['lines']}; "
        f"nodes {total['nodes_ok']}/{total['nodes']} ({total['extra_nodes']} extra)"
    )
