"""The words of the code view's page, by language."""

from __future__ import annotations

CODE_LABELS: dict[str, dict[str, str]] = {
    "en": {
        "program": "the numpy program",
        "line": "line {number}",
        "lines": "lines {numbers}",
        "line.nodes": "Line {number} computes {nodes}.",
        "line.none": "Line {number} computes no node by itself.",
        "node.lines": "{name} is computed in {lines}.",
        "node.folded": "{name} has no line of its own: {why}.",
        "node.outside": "the run does not need it",
        "scope.lines": "{name}: {lines} lines, {folded} of {count} nodes without a line of their own.",
        "hint": "Point at a line to see its nodes, at a node to see its lines; a click keeps them lit.",
    },
    "zh": {
        "program": "numpy 程序",
        "line": "第 {number} 行",
        "lines": "第 {numbers} 行",
        "line.nodes": "第 {number} 行计算 {nodes}。",
        "line.none": "第 {number} 行本身不计算任何节点。",
        "node.lines": "{name} 在{lines}计算。",
        "node.folded": "{name} 没有自己的一行：{why}。",
        "node.outside": "本次运行不需要它",
        "scope.lines": "{name}：{lines} 行；{count} 个节点中有 {folded} 个没有自己的一行。",
        "hint": "指向一行可看到它的节点，指向节点可看到它的行；点击可保持高亮。",
    },
}


def code_labels(language: str) -> dict[str, str]:
    """The words in a language, English where it has none."""
    return {**CODE_LABELS["en"], **CODE_LABELS.get(language, {})}
