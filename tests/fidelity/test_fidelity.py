"""Each program of this folder gives what TensorFlow 1.15 gave: the same printed lines and the same graphs.

The table of all programs stands in pytest's summary (conftest.py of the tree prints it).
"""

import argparse
import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.fidelity import oracle

HERE = Path(__file__).parent
SHOWN = 10  # differences of each kind in a failure's text


def later() -> set[str]:
    """The programs that need not be equal yet."""
    lines = (HERE / "later.txt").read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def programs() -> list[str]:
    return [oracle.stem(path) for path in oracle.program_paths([])]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "program" in metafunc.fixturenames:
        left_out = set() if metafunc.config.getoption("--all") else later()
        metafunc.parametrize("program", [name for name in programs() if name not in left_out])


def test_program_is_equal(program: str, record_property: Any) -> None:
    options = argparse.Namespace(golden=oracle.GOLDEN, timeout=120)
    row = oracle.check_program(str(Path(oracle.PROGRAMS) / f"{program}.py"), options)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        oracle.print_row(row)
    keys = ("equal", "lines_ok", "lines", "nodes_ok", "nodes", "extra_nodes")
    record_property("fidelity", json.dumps({"text": text.getvalue(), **{key: row[key] for key in keys}}))
    if not row["equal"] and program in later():
        pytest.xfail("its operations come later")
    assert row["equal"], failure(row)


def failure(row: dict[str, Any]) -> str:
    lines = [f"{row['program']}: {row['status']}", str(row["error"] or "")]
    for d in row["line_differences"][:SHOWN]:
        lines.append(f"line: {d['what']}: {d['actual']!r}, expected {d['expected']!r}")
    for d in row["node_differences"][:SHOWN]:
        lines.append(f"node: {d['graph']}/{d['node']} ({d['op']}): {d['what']}")
    if row["error"]:
        lines.append(row.get("stderr", ""))
    return "\n".join(line for line in lines if line)


def test_every_program_has_its_golden() -> None:
    for name in programs():
        golden = json.loads(Path(oracle.golden_path(oracle.GOLDEN, name)).read_text(encoding="utf-8"))
        assert golden["program_sha256"] == oracle.source_digest(str(Path(oracle.PROGRAMS) / f"{name}.py")), name


def test_later_names_programs_that_there_are() -> None:
    assert later() <= set(programs())
