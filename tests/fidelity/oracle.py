"""Compare tfsandbox with TensorFlow 1.x, program by program and node by node.

Two commands:

    python oracle.py record [PROGRAM...]
        Run each program on the TensorFlow 1.15 of this interpreter and write
        golden/NAME.json: the printed lines, the exit status and every node of
        the program's graphs.

    python oracle.py check [--json FILE] [PROGRAM...]
        Run each program on tfsandbox and compare it with its golden.

Without PROGRAM both work on every file in programs/.  A PROGRAM is a path, a
file name or the beginning of one ("07", "07_reductions", "07_reductions.py").
README.md tells the rest.

Only the standard library and numpy are needed here.  TensorFlow or tfsandbox
are imported in the child process that runs one program, never in this one.
"""
import argparse
import concurrent.futures
import contextlib
import difflib
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
import types

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
GOLDEN = os.path.join(HERE, "golden")

RTOL, ATOL = 2e-5, 2e-6      # of printed numbers; a program can loosen them
SMALL_TENSOR = 64            # up to so many elements a Const is kept in full
KEPT_DIFFERENCES = 200       # of each kind and program, in the --json report

# Attributes that say nothing about what the graph computes.
IGNORED_ATTRS = {"_output_shapes"}

DTYPES = {
    1: "float32", 2: "float64", 3: "int32", 4: "uint8", 5: "int16", 6: "int8",
    7: "string", 8: "complex64", 9: "int64", 10: "bool", 11: "qint8",
    12: "quint8", 13: "qint32", 14: "bfloat16", 15: "qint16", 16: "quint16",
    17: "uint16", 18: "complex128", 19: "float16", 20: "resource",
    21: "variant", 22: "uint32", 23: "uint64",
}

# Where a TensorProto keeps the elements that are not in tensor_content.
VALUE_FIELDS = {
    "float32": "float_val", "float64": "double_val", "int32": "int_val",
    "uint8": "int_val", "int16": "int_val", "int8": "int_val",
    "uint16": "int_val", "string": "string_val", "int64": "int64_val",
    "bool": "bool_val", "complex64": "scomplex_val",
    "complex128": "dcomplex_val", "float16": "half_val",
    "bfloat16": "half_val", "uint32": "uint32_val", "uint64": "uint64_val",
}


# ------------------------------------------------------------------ graphs
#
# A graph becomes plain JSON.  The functions below read any object that looks
# like a GraphDef, so they serve protobuf messages and look-alikes.

def dtype_name(value):
    """The name of a DataType, given as its number or as an object with .name."""
    if not isinstance(value, (int, np.integer)):
        number = getattr(value, "as_datatype_enum", None)
        if number is None:
            return str(getattr(value, "name", value)).lower().replace("dt_", "")
        value = number
    value = int(value)
    if value > 100:
        return DTYPES.get(value - 100, "dtype%d" % (value - 100)) + "_ref"
    return DTYPES.get(value, "dtype%d" % value)


def text(value):
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def float_number(value):
    """A float32 attribute as the shortest decimal that names it."""
    value = np.float32(value)
    return json_float(float(str(value)))


def json_float(value):
    """JSON has no nan and no infinities: they are written as strings."""
    return value if math.isfinite(value) else str(value)


UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}")


def plain_text(value):
    """A string of a graph; one made unique by a random UUID loses it."""
    return UUID.sub("UUID", text(value))


def shape_record(shape):
    if getattr(shape, "unknown_rank", False):
        return "unknown"
    sizes = [int(dim.size) for dim in shape.dim]
    return [None if size < 0 else size for size in sizes]


def tensor_elements(proto, dtype, count):
    """The elements of a TensorProto as a flat list or array."""
    content = getattr(proto, "tensor_content", b"")
    if dtype == "string":
        values = [bytes(v) if isinstance(v, (bytes, bytearray)) else
                  str(v).encode("utf-8") for v in proto.string_val]
        return values + values[-1:] * (count - len(values))
    if content:
        if dtype == "bfloat16":
            halves = np.frombuffer(bytes(content), "<u2").astype("<u4") << 16
            return halves.view("<f4")
        return np.frombuffer(bytes(content), np.dtype(dtype).newbyteorder("<"))
    values = list(getattr(proto, VALUE_FIELDS[dtype]))
    if dtype.startswith("complex"):
        values = [complex(re_, im) for re_, im in zip(values[::2], values[1::2])]
    if not values:
        values = [0]
    if dtype == "float16":
        values = np.array(values, np.uint16).view(np.float16)
    elif dtype == "bfloat16":
        values = (np.array(values, np.uint32) << 16).view(np.float32)
    else:
        values = np.array(values, dtype)
    # Trailing equal elements may be left out of the message.
    return np.concatenate([values, np.repeat(values[-1:], count - len(values))])


def plain_elements(values, dtype):
    if dtype == "string":
        return [plain_text(v) for v in values]
    if dtype.startswith("complex"):
        return [[json_float(float(v.real)), json_float(float(v.imag))]
                for v in values]
    if dtype in ("float32", "float16", "bfloat16"):
        return [json_float(float(str(v))) for v in values]
    if dtype == "float64":
        return [json_float(float(v)) for v in values]
    if dtype == "bool":
        return [bool(v) for v in values]
    return [int(v) for v in values]


def nested(flat, shape):
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return flat
    step = int(np.prod(shape[1:]))
    return [nested(flat[i * step:(i + 1) * step], shape[1:])
            for i in range(shape[0])]


def tensor_record(proto):
    dtype = dtype_name(proto.dtype)
    shape = [int(dim.size) for dim in proto.tensor_shape.dim]
    record = {"dtype": dtype, "shape": shape}
    count = int(np.prod(shape)) if shape else 1
    if count == 0:
        return record
    values = tensor_elements(proto, dtype, count)
    if count <= SMALL_TENSOR:
        record["value"] = nested(plain_elements(values, dtype), shape)
    elif dtype == "string":
        joined = b"".join(b"%d:%s" % (len(v), v) for v in values)
        record["sha256"] = hashlib.sha256(joined).hexdigest()
    else:
        kept = "float32" if dtype == "bfloat16" else dtype
        array = np.ascontiguousarray(values, np.dtype(kept).newbyteorder("<"))
        record["sha256"] = hashlib.sha256(array.tobytes()).hexdigest()
    return record


def function_name(name):
    """The name of a function without the number or the digest it ends with."""
    name = re.sub(r"^__(inference|forward|backward)_", "", text(name))
    name = re.sub(r"_(?=[a-z]*[A-Z0-9])[0-9A-Za-z]{11}$", "", name)
    return re.sub(r"(_\d+)+$", "", name)




ATTR_KINDS = ("s", "i", "f", "b", "type", "shape", "tensor", "func", "list",
              "placeholder")


def attr_kind(attr):
    if hasattr(attr, "WhichOneof"):
        return attr.WhichOneof("value")
    for kind in ATTR_KINDS:
        if getattr(attr, kind, None) is not None:
            return kind
    return None


def attr_record(attr):
    """An AttrValue as {"kind": value}."""
    kind = attr_kind(attr)
    readers = {
        "s": plain_text, "i": int, "f": float_number, "b": bool, "type": dtype_name,
        "shape": shape_record, "tensor": tensor_record, "placeholder": text,
        "func": lambda f: function_name(f.name),
    }
    if kind is None:
        return {}
    if kind == "list":
        for part in ("s", "i", "f", "b", "type", "shape", "tensor", "func"):
            values = getattr(attr.list, part, None)
            if values is not None and len(values):
                return {"list(%s)" % part: [readers[part](v) for v in values]}
        return {"list": []}
    return {kind: readers[kind](getattr(attr, kind))}


def node_record(node):
    record = {"name": text(node.name), "op": text(node.op),
              "input": [text(name) for name in node.input]}
    if getattr(node, "device", ""):
        record["device"] = text(node.device)
    names = sorted(text(name) for name in node.attr)
    record["attr"] = {name: attr_record(node.attr[name]) for name in names
                      if name not in IGNORED_ATTRS}
    return record


def graph_records(tf, module):
    """The default graph and every other tf.Graph the program has a name for."""
    graphs = {"default": tf.get_default_graph()}
    for name in sorted(vars(module)):
        value = vars(module)[name]
        if isinstance(value, tf.Graph) and not any(value is graph for graph
                                                   in graphs.values()):
            graphs[name] = value
    return {name: [node_record(node) for node in graph.as_graph_def().node]
            for name, graph in graphs.items()}


# ----------------------------------------------------------------- engines

def use_tensorflow():
    """Let `import tensorflow` give TensorFlow 1.15, and nothing younger."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    import tensorflow
    if not tensorflow.__version__.startswith("1.15."):
        raise ImportError("goldens are recorded with TensorFlow 1.15, this is " +
                          tensorflow.__version__)
    return tensorflow


def use_tfsandbox():
    """Let `import tensorflow` give tfsandbox."""
    import tfsandbox
    # The goldens record TensorFlow's own remove_training_nodes, which removes
    # CheckNumerics and Identity and no more. The sandbox's removes all that
    # only training needs, so here it is told to do by default what TensorFlow
    # does. Nothing else differs from how a program runs.
    tfsandbox.install_as_tensorflow(pruning="tensorflow")
    return __import__("tensorflow")


def last_line(error):
    """What a traceback would end with, on one line."""
    lines = traceback.format_exception_only(type(error), error)
    return " ".join(" ".join(lines).split())[:500]


def run_program(engine, program, report_path):
    """Body of the child process: run one program, then report its graphs."""
    report = {"error": None, "graphs": {}, "graph_error": None, "versions": {}}
    status, tf, module = 0, None, types.ModuleType("__main__")
    module.__file__ = os.path.basename(program)
    module.__builtins__ = __builtins__
    sys.argv = [module.__file__]
    try:
        tf = use_tensorflow() if engine == "tensorflow" else use_tfsandbox()
        with open(program, encoding="utf-8") as source:
            code = compile(source.read(), module.__file__, "exec")
        sys.modules["__main__"] = module
        exec(code, vars(module))
    except SystemExit as error:
        if error.code is not None:
            status = error.code if isinstance(error.code, int) else 1
    except BaseException as error:
        status = 1
        report["error"] = last_line(error)
        traceback.print_exc()
    sys.stdout.flush()
    if tf is not None:
        report["versions"] = {"tensorflow": str(getattr(tf, "__version__", "?")),
                              "numpy": np.__version__}
        try:
            report["graphs"] = graph_records(tf, module)
        except Exception as error:
            report["graph_error"] = last_line(error)
            traceback.print_exc()
    with open(report_path, "w", encoding="utf-8") as out:
        json.dump(report, out)
    sys.stderr.flush()
    sys.exit(status)


def run_child(engine, program, timeout):
    """Run one program in a process of its own."""
    env = dict(os.environ, PYTHONHASHSEED="0", PYTHONIOENCODING="utf-8")
    # The child works in an empty folder: let relative entries still be found.
    env["PYTHONPATH"] = os.pathsep.join(
        os.path.abspath(entry) for entry in [os.getcwd()] +
        env.get("PYTHONPATH", "").split(os.pathsep) if entry)
    with tempfile.TemporaryDirectory() as folder:
        report_path = os.path.join(folder, "report.json")
        work = os.path.join(folder, "work")
        os.mkdir(work)
        command = [sys.executable, os.path.abspath(__file__), "_run", engine,
                   os.path.abspath(program), report_path]
        started = time.time()
        result = {"error": None, "graphs": {}, "graph_error": None,
                  "versions": {}, "timeout": False}
        with open(os.path.join(folder, "out"), "w+b") as out, \
                open(os.path.join(folder, "err"), "w+b") as err:
            child = subprocess.Popen(command, stdout=out, stderr=err, cwd=work,
                                     env=env, stdin=subprocess.DEVNULL)
            try:
                status = child.wait(timeout)
            except subprocess.TimeoutExpired:
                child.kill()
                status = child.wait()
                result["timeout"] = True
            out.seek(0)
            err.seek(0)
            stdout = out.read().decode("utf-8", "replace")
            stderr = err.read().decode("utf-8", "replace")
        with contextlib.suppress(OSError, ValueError):
            with open(report_path, encoding="utf-8") as report:
                result.update(json.load(report))
    result.update(exit_status=status, stdout=stdout.splitlines(),
                  stderr=stderr[-4000:], seconds=round(time.time() - started, 2))
    if result["timeout"]:
        result["error"] = "no end after %g s" % timeout
    elif status and not result["error"]:
        ended = ("killed by signal %d" % -status if status < 0 else
                 "exit status %d" % status)
        lines = [line for line in stderr.splitlines() if line.strip()]
        result["error"] = ": ".join([ended] + lines[-1:])[:500]
    return result


# ------------------------------------------------------------------ record

def program_paths(names):
    """The programs that the command line means, all of them by default."""
    known = sorted(name for name in os.listdir(PROGRAMS) if name.endswith(".py"))
    if not names:
        return [os.path.join(PROGRAMS, name) for name in known]
    paths = []
    for name in names:
        if os.path.isfile(name):
            paths.append(os.path.abspath(name))
            continue
        found = [k for k in known if k.startswith(os.path.basename(name))]
        if not found:
            sys.exit("no such program: %s" % name)
        paths += [os.path.join(PROGRAMS, k) for k in found]
    return paths


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def golden_path(folder, program):
    return os.path.join(folder, stem(program) + ".json")


def source_digest(program):
    with open(program, "rb") as source:
        return hashlib.sha256(source.read()).hexdigest()


def write_golden(path, golden):
    """JSON with one printed line and one node a line, to make diffs readable."""
    graphs = golden.pop("graphs")
    dump = lambda value: json.dumps(value, ensure_ascii=False, allow_nan=False)
    with open(path, "w", encoding="utf-8") as out:
        out.write("{\n")
        for key, value in golden.items():
            if isinstance(value, list):
                rows = ",\n".join("  " + dump(row) for row in value)
                out.write(' %s: [\n%s\n ],\n' % (dump(key), rows))
            else:
                out.write(" %s: %s,\n" % (dump(key), dump(value)))
        out.write(' "graphs": {\n')
        out.write(",\n".join(
            "  %s: [\n%s\n  ]" % (dump(name), ",\n".join("   " + dump(node)
                                                      for node in nodes))
            for name, nodes in graphs.items()))
        out.write("\n }\n}\n")


def in_parallel(jobs, work, items):
    """work(item) for every item, in order, on `jobs` threads."""
    with concurrent.futures.ThreadPoolExecutor(max(1, jobs)) as pool:
        yield from zip(items, pool.map(work, items))


def record(options):
    os.makedirs(options.golden, exist_ok=True)
    failed = 0
    paths = program_paths(options.program)
    work = lambda path: run_child("tensorflow", path, options.timeout)
    for path, result in in_parallel(options.jobs, work, paths):
        nodes = sum(len(graph) for graph in result["graphs"].values())
        print("%-34s %4d lines %6d nodes  exit %s  %.1f s" % (
            stem(path), len(result["stdout"]), nodes, result["exit_status"],
            result["seconds"]), flush=True)
        problem = result["graph_error"] or (
            result["error"] if result["exit_status"] else None)
        if problem:
            failed += 1
            print("    not recorded: %s" % problem)
            continue
        write_golden(golden_path(options.golden, path), {
            "program": os.path.basename(path),
            "program_sha256": source_digest(path),
            "recorded_with": result["versions"],
            "exit_status": result["exit_status"],
            "stdout": result["stdout"],
            "graphs": result["graphs"]})
    if failed:
        print("%d programs failed and were not recorded" % failed)
    return 1 if failed else 0


# ------------------------------------------------------------------- check

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
                    r"|inf|nan)j?(?!\w)(?!\.\w)")


def split_numbers(line):
    """A printed line as its text, numbers cut out, and the numbers.

    Spaces that only align columns do not count: numpy's depend on the digits.
    """
    numbers = NUMBER.findall(line)
    words = NUMBER.sub("#", line)
    words = re.sub(r"\s*([\[\](),])\s*", r"\1", words)
    return " ".join(words.split()), numbers


def is_integer(token):
    return re.fullmatch(r"[-+]?\d+", token) is not None


def close(expected, actual, rtol, atol):
    if is_integer(expected) or is_integer(actual):
        return (is_integer(expected) and is_integer(actual) and
                int(expected) == int(actual))
    if expected.endswith("j") != actual.endswith("j"):
        return False
    x, y = float(expected.rstrip("j")), float(actual.rstrip("j"))
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    if math.isinf(x) or math.isinf(y):
        return x == y
    return abs(x - y) <= atol + rtol * abs(x)


def line_difference(expected, actual, rtol, atol):
    """None, or what is different between two printed lines."""
    words, numbers = split_numbers(expected)
    other_words, other_numbers = split_numbers(actual)
    if words != other_words or len(numbers) != len(other_numbers):
        return "text"
    for x, y in zip(numbers, other_numbers):
        if not close(x, y, rtol, atol):
            return "number %s, expected %s" % (y, x)
    return None


def compare_lines(golden, actual, rtol, atol):
    """(equal lines, list of differences) of two outputs."""
    pairs = []
    if len(golden) == len(actual):
        pairs = list(zip(golden, actual))
    else:      # a line came or went: pair the others by what is exact in them
        exact = lambda lines: [split_numbers(line)[0] + " " + " ".join(filter(
            is_integer, split_numbers(line)[1])) for line in lines]
        matcher = difflib.SequenceMatcher(None, exact(golden), exact(actual),
                                          autojunk=False)
        for tag, a0, a1, b0, b1 in matcher.get_opcodes():
            longer = max(a1 - a0, b1 - b0)
            left = golden[a0:a1] + [None] * (longer - (a1 - a0))
            right = actual[b0:b1] + [None] * (longer - (b1 - b0))
            pairs += zip(left, right)
    equal, differences = 0, []
    for expected, line in pairs:
        if expected is None:
            what = "extra line"
        elif line is None:
            what = "missing line"
        else:
            what = line_difference(expected, line, rtol, atol)
        if what is None:
            equal += 1
        else:
            differences.append({"what": what, "expected": expected,
                                "actual": line})
    return equal, differences


def split_inputs(names):
    """Data inputs in their order, control inputs as a set."""
    return ([name for name in names if not name.startswith("^")],
            sorted(name for name in names if name.startswith("^")))


def normal_attr(name, value):
    if name == "_class":
        return {kind: sorted(items) for kind, items in value.items()}
    return value


def node_difference(expected, actual):
    """None, or the first difference of two nodes of one name."""
    if expected["op"] != actual["op"]:
        return "op %s, expected %s" % (actual["op"], expected["op"])
    if split_inputs(expected["input"]) != split_inputs(actual["input"]):
        return "inputs %s, expected %s" % (actual["input"], expected["input"])
    for name in sorted(set(expected["attr"]) | set(actual["attr"])):
        want, have = expected["attr"].get(name), actual["attr"].get(name)
        if want is None:
            return "attr %s is extra: %s" % (name, json.dumps(have))
        if have is None:
            return "attr %s is missing, expected %s" % (name, json.dumps(want))
        if normal_attr(name, want) != normal_attr(name, have):
            return "attr %s %s, expected %s" % (name, json.dumps(have),
                                                json.dumps(want))
    return None


def compare_graphs(golden, actual):
    """(equal nodes, golden's nodes, extra nodes, list of differences)."""
    equal = total = extra = 0
    differences = []
    for graph in list(golden) + [name for name in actual if name not in golden]:
        expected = {node["name"]: node for node in golden.get(graph, [])}
        nodes = {node["name"]: node for node in actual.get(graph, [])}
        total += len(expected)
        for name, node in expected.items():
            if name not in nodes:
                what = "missing"
            else:
                what = node_difference(node, nodes[name])
            if what is None:
                equal += 1
            else:
                differences.append({"graph": graph, "node": name,
                                    "op": node["op"], "what": what})
        for name, node in nodes.items():
            if name not in expected:
                extra += 1
                differences.append({"graph": graph, "node": name,
                                    "op": node["op"], "what": "extra"})
    return equal, total, extra, differences


def tolerance(program):
    """rtol and atol of a program: its header may ask for looser ones."""
    with open(program, encoding="utf-8") as source:
        for line in source:
            found = re.match(r"#\s*tolerance:\s*(\S+)\s+(\S+)", line)
            if found:
                return float(found.group(1)), float(found.group(2))
    return RTOL, ATOL


def check_program(program, options):
    path = golden_path(options.golden, program)
    row = {"program": stem(program), "status": "no golden", "equal": False,
           "lines_ok": 0, "lines": 0, "extra_lines": 0, "nodes_ok": 0,
           "nodes": 0, "extra_nodes": 0, "error": None, "seconds": 0,
           "line_differences": [], "node_differences": []}
    if not os.path.exists(path):
        return row
    with open(path, encoding="utf-8") as source:
        golden = json.load(source)
    result = run_child("tfsandbox", program, options.timeout)
    rtol, atol = tolerance(program)
    lines_ok, line_differences = compare_lines(golden["stdout"],
                                               result["stdout"], rtol, atol)
    nodes_ok, nodes, extra, node_differences = compare_graphs(
        golden["graphs"], result["graphs"])
    row.update(
        status="ok", seconds=result["seconds"], lines_ok=lines_ok,
        lines=len(golden["stdout"]), nodes_ok=nodes_ok, nodes=nodes,
        extra_lines=sum(d["expected"] is None for d in line_differences),
        extra_nodes=extra, line_differences=line_differences,
        node_differences=node_differences, stderr=result["stderr"])
    if result["timeout"]:
        row.update(status="timeout", error=result["error"])
    elif result["exit_status"] != golden["exit_status"]:
        row.update(status="crash", error=result["error"] or
                   "exit status %s, expected %s" % (result["exit_status"],
                                                    golden["exit_status"]))
    elif result["graph_error"]:
        row.update(status="no graph", error=result["graph_error"])
    elif golden["program_sha256"] != source_digest(program):
        row.update(status="stale", error="the program is newer than its golden: "
                   "record it again")
    elif line_differences or node_differences:
        row["status"] = "differs"
    row["equal"] = row["status"] == "ok"
    return row


def brief(value, width=110):
    value = " ".join(str(value).split())
    return value if len(value) <= width else value[:width - 3] + "..."


def first_differences(row):
    if row["error"]:
        yield row["error"]
    if row["line_differences"]:
        first = row["line_differences"][0]
        if first["what"] == "extra line":
            yield "line: extra %r" % first["actual"]
        elif first["what"] == "missing line":
            yield "line: missing %r" % first["expected"]
        elif first["what"] == "text":
            yield "line: %r, expected %r" % (brief(first["actual"], 50),
                                             brief(first["expected"], 50))
        else:
            yield "line: %s in %r" % (first["what"],
                                      brief(first["expected"], 40))
    if row["node_differences"]:
        first = row["node_differences"][0]
        where = "" if first["graph"] == "default" else first["graph"] + "/"
        yield "node: %s%s (%s): %s" % (where, first["node"], first["op"],
                                       first["what"])


def print_row(row):
    print("%-32s %-9s %4d/%-4d %6d/%-6d %5d  %5.1f" % (
        row["program"], row["status"], row["lines_ok"], row["lines"],
        row["nodes_ok"], row["nodes"], row["extra_nodes"], row["seconds"]))
    for difference in first_differences(row):
        print("      " + brief(difference, 150))
    sys.stdout.flush()


def check(options):
    paths = program_paths(options.program)
    print("%-32s %-9s %9s %13s %5s  %5s" % ("program", "status", "lines",
                                            "nodes", "extra", "s"))
    rows = []
    started = time.time()
    for _, row in in_parallel(options.jobs,
                              lambda path: check_program(path, options), paths):
        print_row(row)
        rows.append(row)
    keys = ("lines_ok", "lines", "extra_lines", "nodes_ok", "nodes",
            "extra_nodes")
    totals = {key: sum(row[key] for row in rows) for key in keys}
    totals["programs"] = len(rows)
    totals["programs_equal"] = sum(row["equal"] for row in rows)
    totals["crashes"] = sum(row["status"] in ("crash", "timeout")
                            for row in rows)
    totals["seconds"] = round(time.time() - started, 1)
    print("%d of %d programs equal, %d crashed; lines %d/%d (%d extra); "
          "nodes %d/%d (%d extra); %.0f s" % (
              totals["programs_equal"], totals["programs"], totals["crashes"],
              totals["lines_ok"], totals["lines"], totals["extra_lines"],
              totals["nodes_ok"], totals["nodes"], totals["extra_nodes"],
              totals["seconds"]))
    if options.json:
        for row in rows:
            for key in ("line_differences", "node_differences"):
                row[key] = row[key][:KEPT_DIFFERENCES]
            if row["equal"]:
                row.pop("stderr", None)
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump({"totals": totals, "programs": rows}, out, indent=1)
    return 0 if rows and totals["programs_equal"] == len(rows) else 1


def main():
    if sys.argv[1:2] == ["_run"]:
        run_program(*sys.argv[2:5])
    parser = argparse.ArgumentParser(
        description="Compare tfsandbox with TensorFlow 1.x.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, function, summary in [
            ("record", record, "write the goldens with TensorFlow 1.15"),
            ("check", check, "compare tfsandbox with the goldens")]:
        command = commands.add_parser(name, help=summary)
        command.set_defaults(function=function)
        command.add_argument("program", nargs="*",
                             help="path, name or beginning of a name")
        command.add_argument("--golden", default=GOLDEN, metavar="DIR",
                             help="folder of the goldens")
        command.add_argument("--jobs", type=int, default=os.cpu_count() or 1,
                             help="programs to run at a time")
        command.add_argument("--timeout", type=float, default=60, metavar="S",
                             help="seconds that one program may take")
        if name == "check":
            command.add_argument("--json", metavar="FILE",
                                 help="write all differences there")
    options = parser.parse_args()
    options.golden = os.path.abspath(options.golden)
    sys.exit(options.function(options))


if __name__ == "__main__":
    main()
