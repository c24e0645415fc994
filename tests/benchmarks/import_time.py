"""How long `import tfsandbox` takes: the best of several new processes, beside numpy's own share.

    python tests/benchmarks/import_time.py [REPEATS]

The aim is under 0.25 s. No test asserts a time: a loaded machine has its own.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
AIM = 0.25
CODE = "import sys, time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def seconds(module: str, repeats: int) -> float:
    """The shortest import of a module in `repeats` new processes, in seconds."""
    times = []
    for _ in range(repeats):
        command = [sys.executable, "-c", CODE.format(module)]
        times.append(float(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout))
    return min(times)


def main() -> int:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    taken = seconds("tfsandbox", repeats)
    print(f"import numpy      {seconds('numpy', repeats):.3f} s")
    print(f"import tfsandbox  {taken:.3f} s (aim: {AIM} s), numpy included; best of {repeats}")
    return 0 if taken < AIM else 1


if __name__ == "__main__":
    sys.exit(main())
