"""Seeds: how the graph-level and the op-level seed make the two numbers a random op draws from."""

from __future__ import annotations

from tfsandbox.framework.graph import get_default_graph

DEFAULT_GRAPH_SEED = 87654321
_MAXINT32 = 2 ** 31 - 1


def _truncate(seed: int) -> int:
    return seed % _MAXINT32


def get_seed(op_seed: int | None) -> tuple[int | None, int | None]:
    """The (graph, op) pair of seeds for a new random op; (None, None) where nothing is seeded.

    Without an op seed, the number of nodes made so far stands in for it: that is how two random ops of one seeded
    graph differ.
    """
    graph = get_default_graph()
    if graph.seed is not None:
        if op_seed is None:
            op_seed = graph._last_id
        seeds: tuple[int | None, int | None] = (_truncate(graph.seed), _truncate(op_seed))
    elif op_seed is not None:
        seeds = (DEFAULT_GRAPH_SEED, _truncate(op_seed))
    else:
        return None, None
    # A kernel takes (0, 0) for "no seed"; this pair must stay deterministic.
    return (0, _MAXINT32) if seeds == (0, 0) else seeds


def set_random_seed(seed: int | None) -> None:
    """Set the graph-level seed of the default graph."""
    get_default_graph().seed = seed
