"""remove_training_nodes on graphs recorded from TensorFlow 1.15 (pruning/models.py), and on small ones made here."""

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format

from tfsandbox.framework import graph_util
from tfsandbox.framework.node_graph import split_input
from tfsandbox.framework.tensor_proto import proto_to_ndarray
from tfsandbox.proto import graph_pb2

GRAPHS = Path(__file__).parent / "pruning" / "graphs"
CASES = json.loads((GRAPHS / "cases.json").read_text())


def recorded(name: str) -> Any:
    graph_def = graph_pb2.GraphDef()
    graph_def.ParseFromString(gzip.decompress((GRAPHS / f"{name}.pb.gz").read_bytes()))
    return graph_def


def parsed(text: str) -> Any:
    return text_format.Parse(text, graph_pb2.GraphDef())


def node(name: str, op: str, *inputs: str, dtype: str = "DT_FLOAT") -> str:
    attr = "dtype" if op in ("Placeholder", "VariableV2", "Const") else "T"
    lines = " ".join(f'input: "{text}"' for text in inputs)
    return f'node {{ name: "{name}" op: "{op}" {lines} attr {{ key: "{attr}" value {{ type: {dtype} }} }} }}\n'


P = node("p", "Placeholder")


def structure(graph_def: Any) -> list[tuple[str, str, list[str]]]:
    return [(n.name, n.op, list(n.input)) for n in graph_def.node]


def pruned(text: str, *protected: str, **options: Any) -> list[tuple[str, str, list[str]]]:
    return structure(graph_util.remove_training_nodes(parsed(text), protected or None, **options))


def matches(name: str, patterns: list[str]) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns)


# The recorded graphs


@pytest.mark.parametrize("name", CASES)
def test_what_stays_and_what_goes(name: str) -> None:
    """What was made for training goes, all else stays, but for Identities, checks and restoring optimizer state."""
    case = CASES[name]
    spans = [tuple(map(int, span.split("-"))) for span in case["training"].split()]
    wrong = []
    for number, decision in enumerate(graph_util.training_nodes(recorded(name))):
        training = any(first <= number <= last for first, last in spans) and not matches(
            decision.name, case.get("stays", []))
        if matches(decision.name, case.get("may_go", [])):
            continue
        if decision.keep:
            if training or matches(decision.name, case.get("goes", [])):
                wrong.append(decision)
        elif not training and decision.rule not in ("identity", "check"):
            if not decision.reason.startswith("restores ") and not matches(decision.name, case.get("goes", [])):
                wrong.append(decision)
    assert not wrong


@pytest.mark.parametrize("name", CASES)
def test_result_is_whole(name: str) -> None:
    """The input is untouched, all inputs are there, the order is the file's, and pruning again changes nothing."""
    graph_def = recorded(name)
    before = graph_def.SerializeToString(deterministic=True)
    plan = graph_util.training_nodes(graph_def)
    result = plan.graph_def()
    assert graph_def.SerializeToString(deterministic=True) == before
    names = [n.name for n in result.node]
    assert len(set(names)) == len(names)
    assert {split_input(text)[0] for n in result.node for text in n.input} <= set(names)
    assert {text for n in result.node for text in n.attr["_class"].list.s} <= {b"loc:@" + n.encode() for n in names}
    assert [d.name for d in plan.kept] == [n for n in names if n in plan]
    assert not [n.op for n in result.node if re.search("Apply|CheckNumerics|Assert", n.op)]
    assert all(decision.reason and "\n" not in decision.reason for decision in plan)
    assert result.versions == graph_def.versions and result.library == graph_def.library
    again = graph_util.training_nodes(result)
    assert not again.removed
    assert again.graph_def() == result


# The same graphs under other names and in another order


def renamed(graph_def: Any, rename: Callable[[str], str]) -> Any:
    result = graph_pb2.GraphDef()
    result.CopyFrom(graph_def)
    for n in result.node:
        n.name = rename(n.name)
        for i, text in enumerate(n.input):
            source, output = split_input(text)
            n.input[i] = "^" + rename(source) if output is None else rename(source) + (f":{output}" if output else "")
        places = n.attr["_class"].list.s if "_class" in n.attr else []
        for i, place in enumerate(places):
            places[i] = b"loc:@" + rename(place[5:].decode()).encode()
    return result


def shuffled(graph_def: Any) -> Any:
    nodes = list(graph_def.node)
    random.Random(3).shuffle(nodes)
    result = graph_pb2.GraphDef(versions=graph_def.versions)
    result.node.extend(nodes)
    return result


def numbered(graph_def: Any) -> dict[str, str]:
    """Names that tell nothing."""
    numbers = list(range(len(graph_def.node)))
    random.Random(1).shuffle(numbers)
    return {n.name: f"n{number}" for n, number in zip(graph_def.node, numbers)}


def fates(graph_def: Any) -> dict[str, str]:
    return {decision.name: decision.fate for decision in graph_util.training_nodes(graph_def)}


@pytest.mark.parametrize("name", CASES)
def test_other_scope_names(name: str) -> None:
    def rename(text: str) -> str:
        for part in ("gradients", "Adam", "GradientDescent", "Momentum", "save", "init"):
            text = text.replace(part, part[::-1].lower())
        return "model/" + text

    graph_def = recorded(name)
    assert fates(renamed(graph_def, rename)) == {rename(n): fate for n, fate in fates(graph_def).items()}


# A counter that is named global_step, a seed that the user gave, what only names tell from a user's own nodes.
NAMES_TELL = {"manual_increment", "gradients_given_ys", "adversarial", "gradients_of_input"}


@pytest.mark.parametrize("name", sorted(set(CASES) - NAMES_TELL))
def test_names_that_tell_nothing(name: str) -> None:
    graph_def = recorded(name)
    names = numbered(graph_def)
    assert fates(renamed(graph_def, names.__getitem__)) == {names[n]: fate for n, fate in fates(graph_def).items()}


@pytest.mark.parametrize("name", CASES)
def test_other_order(name: str) -> None:
    """Only constants that an optimizer made and never used may stay."""
    graph_def = recorded(name)
    expected, got = fates(graph_def), fates(shuffled(graph_def))
    ops = {n.name: n.op for n in graph_def.node}
    different = {n: got[n] for n in got if got[n] != expected[n]}
    assert not [n for n, fate in different.items() if fate != "keep" or ops[n] not in ("Const", "NoOp")]


@pytest.mark.parametrize("name", CASES)
def test_neither_names_nor_order(name: str) -> None:
    """The forward pass is safe, and updates go."""
    graph_def = recorded(name)
    names = numbered(graph_def)
    expected, got = fates(graph_def), fates(shuffled(renamed(graph_def, names.__getitem__)))
    assert not [n for n, fate in expected.items() if fate == "keep" and got[names[n]] != "keep"]
    assert not [n.name for n in graph_def.node if "Apply" in n.op and got[names[n.name]] == "keep"]


# Single rules


def test_loss_that_only_its_gradient_reads() -> None:
    for name in ("root_mean_square", "root_mean_square_alone", "max_loss", "exp_loss", "create_train_op"):
        plan = graph_util.training_nodes(recorded(name))
        assert plan["control_dependency" if name == "create_train_op" else "loss"].keep, name
    assert "gradient starts from it" in graph_util.training_nodes(recorded("max_loss"))["loss"].reason


def test_reasons() -> None:
    plan = graph_util.training_nodes(recorded("dense_adam"))
    assert plan["Adam/update_w/ApplyAdam"].reason == "updates w"
    assert plan["Adam/learning_rate"].reason.startswith("feeds only Adam/update_")
    assert (plan["w/Adam"].rule, plan["w/Adam"].reason) == ("slot", "optimizer state, used by Adam/update_w/ApplyAdam")
    assert plan["w/Adam/Assign"].reason == "initialises w/Adam, which goes"
    assert plan["beta1_power/read"].rule == "slot"
    assert plan["Adam/Assign"].rule == "optimizer" and plan["Adam"].rule == "optimizer"
    assert plan["gradients/MatMul_grad/MatMul"].rule == "gradient"
    assert plan["w/read"].fate == "identity" and plan["w/read"].reason == "hands on w"
    assert plan["loss"].fate == "keep" and plan["w"].reason == "a variable"


def test_plan_is_data() -> None:
    plan = graph_util.training_nodes(recorded("document"))
    assert plan.counts() == {"optimizer": 3, "gradient": 48, "identity": 2}
    assert len(plan) == 86 and len(plan.kept) == 33 and len(plan.removed) == 53
    assert repr(plan) == "<TrainingNodes: 86 nodes, 33 stay; removed: 3 optimizer, 48 gradient, 2 identity>"
    assert plan.text().splitlines()[0].split() == ["keep", "x", "Placeholder", "feeds", "MatMul"]
    assert len(plan.text(only_removed=True).splitlines()) == 54
    data = json.loads(json.dumps(plan.to_json()))
    assert data["counts"] == plan.counts() and data["nodes"][0]["name"] == "x" and data["mode"] == "full"
    assert structure(plan.graph_def()) == structure(graph_util.remove_training_nodes(recorded("document")))
    assert "w:0" in plan and "nothing" not in plan


def strings(graph_def: Any, name: str) -> list[bytes]:
    found = next(n for n in graph_def.node if n.name == name)
    return list(proto_to_ndarray(found.attr["value"].tensor))


def test_savers_are_restricted() -> None:
    result = graph_util.remove_training_nodes(recorded("partial_savers"))
    by_name = {n.name: n for n in result.node}
    for scope in ("sharded", "sequential", "reshaping"):
        saves = by_name[f"{scope}/SaveV2"]
        assert list(saves.input)[3:] == ["b", "w"] and list(saves.attr["dtypes"].list.type) == [1, 1]
        assert strings(result, f"{scope}/SaveV2/tensor_names") == [b"b", b"w"]
        assert strings(result, f"{scope}/SaveV2/shape_and_slices") == [b"", b""]
    assert strings(result, "some/SaveV2/tensor_names") == [b"weights"]
    assert strings(result, "sharded/RestoreV2/tensor_names") == [b"b", b"w"]
    restored = [n for n in result.node if n.op == "Assign" and n.name.startswith("sharded")]
    assert [(n.input[0], n.input[1]) for n in restored] == [("b", "sharded/RestoreV2"), ("w", "sharded/RestoreV2:1")]
    assert list(by_name["sharded/restore_shard"].input) == ["^" + n.name for n in restored]
    assert not [n for n in result.node if n.name.startswith("slots/SaveV2")]
    assert list(by_name["init"].input) == ["^b/Assign", "^w/Assign"]


def test_shared_names_of_a_saver() -> None:
    """A constant that others read too is not changed: the saver gets one of its own."""
    graph_def = recorded("dense_momentum")
    restore = next(n for n in graph_def.node if n.op == "RestoreV2")
    save = next(n for n in graph_def.node if n.op == "SaveV2")
    restore.input[1], restore.input[2] = save.input[1], save.input[2]
    result = graph_util.remove_training_nodes(graph_def)
    by_op = {n.op: n for n in result.node if n.op in ("SaveV2", "RestoreV2")}
    assert [strings(result, by_op[op].input[1]) for op in by_op] == [[b"b", b"w"]] * 2
    assert by_op["SaveV2"].input[1] == "save/SaveV2/tensor_names_1"
    assert not graph_util.training_nodes(result).removed


def test_questions_for_state_become_true() -> None:
    graph_def = recorded("monitored")
    asked = {n.name: n.input[0] for n in graph_def.node if n.op == "IsVariableInitialized"}
    by_name = {n.name: n for n in graph_util.remove_training_nodes(graph_def).node}
    for name, variable in asked.items():
        if name in by_name and "Adam" in variable:
            assert by_name[name].op == "Const" and not by_name[name].input
            assert proto_to_ndarray(by_name[name].attr["value"].tensor) == np.array(True)
    assert sum(by_name[name].op == "Const" for name in asked if name in by_name) >= 6


def test_protected_nodes_keep_what_they_need() -> None:
    graph_def = recorded("dense_adam")
    gradient = "gradients/MatMul_grad/tuple/control_dependency_1"
    plan = graph_util.training_nodes(graph_def, [gradient])
    assert plan[gradient].keep and plan["gradients/Fill"].keep and not plan["Adam"].keep and not plan["w/Adam"].keep
    whole = graph_util.training_nodes(graph_def, ["Adam:0"])
    assert plan[gradient].reason == "protected"
    assert {decision.rule for decision in whole.removed} <= {"identity", "gradient"}
    assert whole["w/Adam"].keep and whole["Adam/update_w/ApplyAdam"].keep and whole["beta1_power"].keep
    assert graph_util.training_nodes(graph_def, "w/read")["w/read"].keep


def test_dropout_becomes_a_pass_through() -> None:
    for name in ("dropout", "layers_dropout", "old_dropout"):
        plan = graph_util.training_nodes(recorded(name), remove_dropout=True)
        result = plan.graph_def()
        assert not [n.name for n in result.node if "ropout" in n.name or n.op == "Floor"]
        inputs = {n.name: list(n.input) for n in result.node}
        assert inputs["output/MatMul"][0] == ("dense/BiasAdd" if name == "old_dropout" else "dense/Relu")
        assert plan.counts()["dropout"] > 10
        assert not graph_util.training_nodes(result, remove_dropout=True).removed
        assert [n for n in graph_util.remove_training_nodes(recorded(name)).node if n.op == "RandomUniform"]
    assert "is_training" not in graph_util.training_nodes(
        recorded("layers_dropout"), remove_dropout=True).graph_def().SerializeToString().decode("latin-1")


def test_dropout_at_an_end_keeps_its_name() -> None:
    graph_def = recorded("layers_dropout")
    kept = graph_util.remove_training_nodes(graph_def, remove_dropout=True)
    without_loss = graph_util.extract_sub_graph(graph_def, ["fixed/dropout/mul_1"])
    result = graph_util.remove_training_nodes(without_loss, remove_dropout=True)
    assert ("fixed/dropout/mul_1", "Identity", ["output/BiasAdd"]) in structure(result)
    assert "fixed/dropout/mul_1" not in {n.name for n in kept.node}


def test_checks_go() -> None:
    plan = graph_util.training_nodes(recorded("checked"))
    rules = {d.name: d.rule for d in plan.removed}
    assert rules["small/AssertGuard/Merge"] == "check" and rules["CheckNumerics"] == "check"
    inputs = {n.name: list(n.input) for n in plan.graph_def().node}
    assert inputs["sub"] == ["output", "y"]
    assert pruned(P + node("c", "CheckNumerics", "p") + node("n", "Neg", "c")) == [
        ("p", "Placeholder", []), ("n", "Neg", ["p"])]


def test_check_at_an_end_keeps_its_name() -> None:
    assert pruned(P + node("a", "Neg", "p") + node("c", "CheckNumerics", "a")) == [
        ("p", "Placeholder", []), ("a", "Neg", ["p"]), ("c", "Identity", ["a"])]
    assert pruned(P + node("c", "CheckNumerics", "p"), "c") == [
        ("p", "Placeholder", []), ("c", "CheckNumerics", ["p"])]


def test_order_that_a_check_gave_stays() -> None:
    """The write that an assertion reads still comes first."""
    text = (node("v", "VariableV2") + P + node("one", "Const") + node("w", "AssignAdd", "v", "one")
            + node("ok", "IsFinite", "w") + 'node { name: "a" op: "Assert" input: "ok" input: "w" }'
            + node("n", "Neg", "p", "^a"))
    assert pruned(text)[-1] == ("n", "Neg", ["p", "^w"])
    text = text.replace('op: "Assert" input: "ok" input: "w"', 'op: "CheckNumerics" input: "w"')
    assert pruned(text)[-1] == ("n", "Neg", ["p", "^w"])
    assert pruned(P + node("c", "CheckNumerics", "p") + node("i", "Identity", "p", "^c") + node("n", "Neg", "i")) == [
        ("p", "Placeholder", []), ("n", "Neg", ["p"])]


def test_identities() -> None:
    i = node("i", "Identity", "p")
    n = node("n", "Neg", "i")
    assert pruned(P + i + n) == [("p", "Placeholder", []), ("n", "Neg", ["p"])]
    assert pruned(P + i) == [("p", "Placeholder", []), ("i", "Identity", ["p"])]
    assert pruned(P + i + n, "i")[1] == ("i", "Identity", ["p"])
    assert pruned(P + i + n + node("m", "Neg", "p", "^i"))[1] == ("i", "Identity", ["p"])
    assert pruned(P + node("i", "Identity", "p", "^p") + n)[1] == ("i", "Identity", ["p", "^p"])
    assert pruned(P + node("i", "StopGradient", "p") + n) == [("p", "Placeholder", []), ("n", "Neg", ["p"])]
    split = 'node { name: "s" op: "Split" input: "p" input: "p" }'
    assert pruned(P + split + node("i", "Identity", "s:1") + n)[-1] == ("n", "Neg", ["s:1"])


def test_read_before_a_write_stays() -> None:
    """Without the read, its reader would see the variable after the write."""
    start = node("v", "VariableV2") + node("r", "Identity", "v") + node("a", "Neg", "r")
    assert ("r", "Identity", ["v"]) not in pruned(start)
    text = start + node("b", "Add", "r", "r") + node("w", "Assign", "v", "b")
    assert ("r", "Identity", ["v"]) in pruned(text)


def test_moving_averages_of_batch_norm_stay() -> None:
    plan = graph_util.training_nodes(recorded("fused_batch_norm"))
    assert plan["batch_normalization/AssignMovingAvg"].keep and plan["batch_normalization/moving_mean"].keep
    plan = graph_util.training_nodes(recorded("create_train_op"))
    assert plan["update_barrier"].keep and plan["control_dependency"].keep


def test_inference_graph_with_ones() -> None:
    """Ones of the forward pass are no start of a gradient."""
    names = numbered(recorded("inference_only"))
    plan = graph_util.training_nodes(renamed(recorded("inference_only"), names.__getitem__))
    assert {d.rule for d in plan.removed} == {"identity"}


# Errors


def test_errors() -> None:
    for wrong in (3, None, "graph.pb", []):
        with pytest.raises(TypeError, match="GraphDef"):
            graph_util.remove_training_nodes(wrong)
    graph_def = recorded("document")
    with pytest.raises(ValueError, match="'outptu'.*nearest names it has: output"):
        graph_util.remove_training_nodes(graph_def, ["outptu"])
    with pytest.raises(ValueError, match="'n' has the input 'q:1', but the GraphDef has no node 'q'"):
        graph_util.remove_training_nodes(parsed(P + node("n", "Neg", "q:1")))
    with pytest.raises(ValueError, match="Two nodes.*'p'"):
        graph_util.remove_training_nodes(parsed(P + P))
    with pytest.raises(ValueError, match="mode"):
        graph_util.remove_training_nodes(graph_def, mode="all")
    with pytest.raises(ValueError, match="pruning"):
        graph_util.set_default_pruning("all")


def test_broken_graphs_raise_no_other_errors() -> None:
    chance = random.Random(5)
    for name in ("dense_adam", "layers_dropout", "checked", "sparse_adam", "loop", "partial_savers"):
        for _ in range(15):
            graph_def = recorded(name)
            names = [n.name for n in graph_def.node]
            for _ in range(20):
                n = chance.choice(graph_def.node)
                if n.input and chance.random() < 0.4:
                    del n.input[chance.randrange(len(n.input))]
                elif chance.random() < 0.5:
                    n.input.append(chance.choice(["", "^"]) + chance.choice(names))
                else:
                    n.op = chance.choice(graph_def.node).op
            graph_util.training_nodes(graph_def, remove_dropout=True).graph_def()


# As TensorFlow does


@pytest.fixture
def as_tensorflow() -> Iterator[None]:
    graph_util.set_default_pruning("tensorflow")
    yield
    graph_util.set_default_pruning("full")


@pytest.mark.parametrize(("text", "protected", "expected"), [
    (P + node("i", "Identity", "p") + node("n", "Neg", "i"), (), "p n(p)"),
    (P + node("i", "Identity", "p"), (), "p"),
    (P + node("i", "Identity", "p") + node("j", "Identity", "i") + node("n", "Neg", "j"), (), "p n(p)"),
    (P + node("i", "Identity", "p") + node("n", "Neg", "p", "^i"), (), "p i(p) n(p ^i)"),
    (P + node("i", "Identity", "p", "^p") + node("n", "Neg", "i"), (), "p i(p ^p) n(i)"),
    (P + node("c", "CheckNumerics", "p") + node("n", "Neg", "c"), (), "p n()"),
    (P + node("c", "CheckNumerics", "p"), (), "p"),
    (P + node("c", "CheckNumerics", "p") + node("n", "Neg", "p", "^c"), (), "p n(p)"),
    (P + node("c", "CheckNumerics", "p") + node("n", "Neg", "c:0"), (), "p n(c:0)"),
    (P + node("c", "CheckNumerics", "p") + node("n", "Neg", "c"), ("c",), "p c(p) n(c)"),
    (P + node("c", "CheckNumerics", "p") + node("i", "Identity", "p", "^c") + node("n", "Neg", "i"), (), "p n(p)"),
    (P + node("i", "Identity", "p") + node("n", "Neg", "i"), ("i",), "p i(p) n(i)"),
    (P + node("i", "Identity", "p") + node("n", "Neg", "i"), ("unknown",), "p n(p)"),
    (P + node("s", "StopGradient", "p") + node("n", "Neg", "s"), (), "p s(p) n(s)"),
    (node("s", "Split") + node("i", "Identity", "s:1") + node("n", "Neg", "i"), (), "s n(s:1)"),
    (node("s", "Split") + node("i", "Identity", "s:1") + node("n", "Neg", "i:0"), (), "s n(i:0)"),
])
def test_mode_tensorflow(as_tensorflow: None, text: str, protected: tuple[str, ...], expected: str) -> None:
    """Recorded from TensorFlow 1.15's function."""
    got = pruned(text, *protected)
    assert " ".join(f"{name}({' '.join(inputs)})" for name, _, inputs in got).replace("p()", "p").replace(
        "s()", "s") == expected
    assert got == pruned(text, *protected, mode="tensorflow")
    plan = graph_util.training_nodes(parsed(text), protected, mode="tensorflow")
    assert [d.name for d in plan.kept] == [name for name, _, _ in got]


def test_mode_tensorflow_fails_as_it_does() -> None:
    with pytest.raises(IndexError, match="out of range"):
        pruned(P + node("c", "CheckNumerics", "p") + node("i", "Identity", "c") + node("n", "Neg", "i"),
               mode="tensorflow")
    result = graph_util.remove_training_nodes(recorded("document"), mode="tensorflow")
    assert not result.versions.producer and "Adam" not in {n.op for n in result.node}


# Messages of another library


def foreign_graph_def() -> Any:
    """A GraphDef class that is not ours: the same messages in another package, as in a process with TensorFlow."""
    pool = descriptor_pool.DescriptorPool()
    waiting, files = [graph_pb2.DESCRIPTOR], []
    while waiting:
        file = waiting.pop()
        if file not in files:
            files.append(file)
            waiting += file.dependencies
    done: set[str] = set()
    while len(done) < len(files):
        for file in files:
            if file.name not in done and all(other.name in done for other in file.dependencies):
                copy = descriptor_pb2.FileDescriptorProto()
                file.CopyToProto(copy)
                content = copy.SerializeToString().replace(b"tfsandbox", b"elsewhere")
                pool.AddSerializedFile(content)
                done.add(file.name)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("elsewhere.GraphDef"))()


def test_messages_of_another_library() -> None:
    graph_def = foreign_graph_def()
    graph_def.ParseFromString(recorded("dense_adam").SerializeToString())
    for options in ({}, {"mode": "tensorflow"}):
        result = graph_util.remove_training_nodes(graph_def, **options)
        assert type(result) is graph_pb2.GraphDef
        assert result == graph_util.remove_training_nodes(recorded("dense_adam"), **options)
