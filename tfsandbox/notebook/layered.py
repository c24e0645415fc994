"""A layered drawing of one small graph: which row each item stands in, in which order, and where.

The steps are the classical ones (Sugiyama, Tagawa and Toda 1981): break cycles, rank, put dummy items where a long
edge passes a row, order the rows with few crossings by barycentres, and assign coordinates. The last step keeps the
order and solves each row exactly: the positions nearest to the neighbours' under minimal distances are an isotonic
regression, found by pooling adjacent violators.

Rows go from the bottom (inputs) to the top (outputs). Everything is deterministic.
"""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass

MAX_ROW = 8
"""More items than this in one rank are spread over several rows: a picture has a width."""


@dataclass(slots=True)
class Layers:
    """Rows of items. Items from `count` on are dummies; `chains[e]` are the items edge e passes, lower end first."""

    count: int
    rows: list[list[int]]
    rank: list[int]
    chains: list[list[int]]
    flipped: list[bool]
    above: list[list[int]]
    below: list[list[int]]


def layer(count: int, edges: Sequence[tuple[int, int]], keys: Sequence[int] | None = None,
          low: Sequence[int] = (), high: Sequence[int] = (), max_row: int = MAX_ROW) -> Layers:
    """Rows for `count` items and edges (tail, head) between different ones.

    Edges with the same lower end and the same key share their dummies, as one trunk. `low` and `high` are items that
    stand below and above all others in the order given: the ports of a box. Edges of theirs never point away from it.
    """
    fixed = set(low) | set(high)
    flipped = _feedback(count, edges, fixed)
    upward = [(head, tail) if flip else (tail, head) for (tail, head), flip in zip(edges, flipped)]
    rank = _ranks(count, upward, low, high, fixed, max_row)
    chains, rank = _chains(upward, rank, keys or [0] * len(edges))
    above: list[list[int]] = [[] for _ in rank]
    below: list[list[int]] = [[] for _ in rank]
    links: set[tuple[int, int]] = set()
    for chain in chains:
        for link in zip(chain, chain[1:]):
            if link not in links:
                links.add(link)
                above[link[0]].append(link[1])
                below[link[1]].append(link[0])
    rows: list[list[int]] = [[] for _ in range(max(rank, default=0) + 1)]
    for item in [*low, *(i for i in range(len(rank)) if i not in fixed), *high]:
        rows[rank[item]].append(item)
    layers = Layers(count, rows, rank, chains, flipped, above, below)
    _order(layers, bool(low), bool(high))
    return layers


def _feedback(count: int, edges: Sequence[tuple[int, int]], fixed: set[int]) -> list[bool]:
    """Which edges to turn round so that no cycle is left: those that go back in a greedy topological order."""
    waiting = [0] * count
    out: list[list[int]] = [[] for _ in range(count)]
    for tail, head in edges:
        out[tail].append(head)
        waiting[head] += 1
    position = [-1] * count
    ready = [item for item in range(count) if not waiting[item]]
    done = 0
    first = 0
    index = 0
    while done < count:
        if index == len(ready):
            # A cycle: go on with the item that waits for the fewest, the earliest made among them.
            while position[first] >= 0:
                first += 1
            pool = range(first, count) if count <= 1000 else range(first, first + 1)
            chosen = min((item for item in pool if position[item] < 0), key=lambda item: waiting[item])
            ready.append(chosen)
        item = ready[index]
        index += 1
        if position[item] >= 0:
            continue
        position[item] = done
        done += 1
        for head in out[item]:
            waiting[head] -= 1
            if waiting[head] == 0 and position[head] < 0:
                ready.append(head)
    return [tail not in fixed and head not in fixed and position[tail] > position[head] for tail, head in edges]


def _ranks(count: int, edges: Sequence[tuple[int, int]], low: Sequence[int], high: Sequence[int],
           fixed: set[int], max_row: int) -> list[int]:
    """Longest path from the inputs; then each item is pulled towards where most of its edges go."""
    out: list[list[int]] = [[] for _ in range(count)]
    into: list[list[int]] = [[] for _ in range(count)]
    for tail, head in edges:
        if tail not in fixed and head not in fixed:
            out[tail].append(head)
            into[head].append(tail)
    rank = [0] * count
    waiting = [len(tails) for tails in into]
    order = [item for item in range(count) if not waiting[item]]
    for item in order:
        above = rank[item] + 1
        for head in out[item]:
            if rank[head] < above:
                rank[head] = above
            waiting[head] -= 1
            if not waiting[head]:
                order.append(head)
    top = max(rank, default=0)
    for item in low:
        rank[item] = -1
    for item in high:
        rank[item] = top + 1
    # The pull of the ports counts, though they have no say in the ranks themselves.
    for tail, head in edges:
        if tail in fixed or head in fixed:
            out[tail].append(head)
            into[head].append(tail)
    inner = [item for item in order if item not in fixed]
    for _ in range(2):
        for item in reversed(inner):
            if len(out[item]) > len(into[item]):
                rank[item] = max(rank[item], min(rank[head] for head in out[item]) - 1)
        for item in inner:
            if len(into[item]) > len(out[item]):
                rank[item] = min(rank[item], max(rank[tail] for tail in into[item]) + 1)
    _spread(rank, out, into, fixed, {end for edge in edges for end in edge}, max_row)
    top = max((rank[item] for item in range(count) if item not in fixed), default=-1)
    if low:
        rank = [value + 1 for value in rank]
        top += 1
    for item in low:
        rank[item] = 0
    for item in high:
        rank[item] = top + 1
    return rank


def _spread(rank: list[int], out: list[list[int]], into: list[list[int]], fixed: set[int], linked: set[int],
            max_row: int) -> None:
    """Loose items into the shortest rows, and ranks with too many items over several rows; in place."""
    movable = [item for item in range(len(rank)) if item not in fixed]
    loose = [item for item in movable if item not in linked]
    members: dict[int, list[int]] = {}
    for item in movable:
        if item in linked:
            members.setdefault(rank[item], []).append(item)
    if loose:
        limit = max((len(row) for row in members.values()), default=math.ceil(math.sqrt(len(loose) * 0.7)))
        limit = min(max(limit, 3), max_row)
        level = 0
        for item in loose:
            while len(members.get(level, ())) >= limit:
                level += 1
            members.setdefault(level, []).append(item)
    shift = 0
    for level, row in enumerate(row for _, row in sorted(members.items())):
        parts = max(1, math.ceil(len(row) / max_row))
        size = math.ceil(len(row) / parts)
        # Items that nothing inside feeds go to the lower of the rows, next to those they come from.
        row.sort(key=lambda item: (bool(into[item]) and not out[item]))
        for place, item in enumerate(row):
            rank[item] = level + shift + place // size
        shift += parts - 1


def _chains(edges: Sequence[tuple[int, int]], rank: list[int],
            keys: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """The items each edge passes, with new dummies appended to the ranks.

    When that would take too many dummies the longest trunks get none: those edges run straight, behind everything.
    """
    span: dict[tuple[int, int], int] = {}
    for (tail, head), key in zip(edges, keys):
        length = rank[head] - rank[tail]
        if length > span.get((tail, key), 0):
            span[tail, key] = length
    budget = 8 * len(rank) + 400
    direct: set[tuple[int, int]] = set()
    total = sum(span.values()) - len(span)
    if total > budget:
        for trunk in sorted(span, key=lambda trunk: -span[trunk]):
            if total <= budget:
                break
            total -= span[trunk] - 1
            direct.add(trunk)
    ranks = list(rank)
    dummies: dict[tuple[int, int], list[int]] = {}
    chains = []
    for (tail, head), key in zip(edges, keys):
        length = ranks[head] - ranks[tail]
        if length <= 1 or (tail, key) in direct:
            chains.append([tail, head])
            continue
        trunk_items = dummies.setdefault((tail, key), [])
        while len(trunk_items) < length - 1:
            ranks.append(ranks[tail] + len(trunk_items) + 1)
            trunk_items.append(len(ranks) - 1)
        chains.append([tail, *trunk_items[:length - 1], head])
    return chains, ranks


def _order(layers: Layers, keep_low: bool, keep_high: bool) -> None:
    """Sort the rows by barycentres, up and down, and keep the order with the fewest crossings."""
    rows = layers.rows
    if len(rows) < 2 or all(len(row) < 2 for row in rows):
        return
    size = len(layers.rank)
    position = [0.0] * size
    for row in rows:
        _number(row, position)
    first, last = (1 if keep_low else 0), (len(rows) - 1 if keep_high else len(rows))
    sweep_up = range(max(first, 1), last)
    sweep_down = range(min(last, len(rows) - 1) - 1, first - 1, -1)
    best: list[list[int]] | None = None
    fewest = -1
    rounds = 8 if size < 80 else 4 if size < 800 else 2
    for turn in range(2 * rounds):
        up = turn % 2 == 0
        near = layers.below if up else layers.above
        for level in sweep_up if up else sweep_down:
            row = rows[level]
            if len(row) > 1:
                row.sort(key=_barycentres(row, near, position).__getitem__)
            _number(row, position)
        crossings = _crossings(layers, position)
        if fewest < 0 or crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
            if not crossings:
                break
    assert best is not None
    for row, found in zip(rows, best):
        row[:] = found
        _number(row, position)
    if 0 < fewest and size < 300:
        _swap_neighbours(layers, position, first, last)


def _number(row: list[int], position: list[float]) -> None:
    """Positions in (0, 1), so that rows of different length compare."""
    step = 1.0 / (len(row) + 1)
    for place, item in enumerate(row):
        position[item] = (place + 1) * step


def _barycentres(row: list[int], near: list[list[int]], position: list[float]) -> dict[int, float]:
    """The mean position of each item's neighbours; its own place for an item without any."""
    means = {}
    for item in row:
        others = near[item]
        if others:
            total = 0.0
            for other in others:
                total += position[other]
            means[item] = total / len(others)
        else:
            means[item] = position[item]
    return means


def _crossings(layers: Layers, position: list[float]) -> int:
    """How many pairs of links cross."""
    total = 0
    for row in layers.rows:
        if len(row) < 2:
            continue
        seen: list[float] = []
        for item in row:
            ends = [position[other] for other in layers.above[item]]
            for end in ends:
                total += len(seen) - bisect_right(seen, end)
            for end in ends:
                insort(seen, end)
    return total


def _swap_neighbours(layers: Layers, position: list[float], first: int, last: int) -> None:
    """Exchange neighbours in a row while that takes crossings away."""

    def crossed(left: list[int], right: list[int]) -> int:
        return sum(position[a] > position[b] for a in left for b in right)

    above, below = layers.above, layers.below
    for _ in range(4):
        changed = False
        for level in range(first, last):
            row = layers.rows[level]
            for place in range(len(row) - 1):
                a, b = row[place], row[place + 1]
                now = crossed(above[a], above[b]) + crossed(below[a], below[b])
                if now and now > crossed(above[b], above[a]) + crossed(below[b], below[a]):
                    row[place], row[place + 1] = b, a
                    position[a], position[b] = position[b], position[a]
                    changed = True
        if not changed:
            return


Link = tuple[int, float, float]
"""A neighbour, where the edge leaves me, and where it meets the neighbour: offsets from the centres."""


def centres(layers: Layers, width: Sequence[float], links_above: Sequence[Sequence[Link]],
            links_below: Sequence[Sequence[Link]], gap: float, dummy_gap: float) -> list[float]:
    """The x of each item's centre: near its neighbours, in the order of the rows, at least the gaps apart.

    `width` covers dummies too. The leftmost edge is at 0.
    """
    x = [0.0] * len(layers.rank)
    count = layers.count
    offsets: list[list[float]] = []
    for row in layers.rows:
        offset = [0.0] * len(row)
        for place in range(1, len(row)):
            a, b = row[place - 1], row[place]
            apart = dummy_gap if a >= count or b >= count else gap
            offset[place] = offset[place - 1] + (width[a] + width[b]) / 2 + apart
        offsets.append(offset)
        middle = offset[-1] / 2 if offset else 0.0
        for place, item in enumerate(row):
            x[item] = offset[place] - middle
    down = _pulls(layers, links_below, links_above)
    up = _pulls(layers, links_above, links_below)
    levels = range(len(layers.rows))
    rounds = 6 if len(layers.rank) < 400 else 3
    for _ in range(rounds):
        moved = 0.0
        for level in levels:
            moved = max(moved, _settle(layers.rows[level], offsets[level], x, down))
        for level in reversed(levels):
            moved = max(moved, _settle(layers.rows[level], offsets[level], x, up))
        if moved < 2.0:
            break
    both = [[*a, *b] for a, b in zip(down, up)]
    for level in (*levels, *reversed(levels)):
        _settle(layers.rows[level], offsets[level], x, both)
    left = min((x[item] - width[item] / 2 for row in layers.rows for item in row), default=0.0)
    return [value - left for value in x]


Pull = tuple[int, float, float]
"""A neighbour, where it would have me relative to its centre, and how strongly."""


def _pulls(layers: Layers, near: Sequence[Sequence[Link]], back: Sequence[Sequence[Link]]) -> list[list[Pull]]:
    """What pulls each item to one side. A long edge should be straight, and so should a chain."""
    count = layers.count
    pulls: list[list[Pull]] = []
    for item, links in enumerate(near):
        found: list[Pull] = []
        for neighbour, mine, theirs in links:
            if item >= count:
                weight = 8.0 if neighbour >= count else 2.0
            else:
                weight = 2.0 if neighbour >= count else 1.0
            if len(links) == 1 and len(back[neighbour]) == 1:
                weight *= 4.0
            found.append((neighbour, theirs - mine, weight))
        pulls.append(found)
    return pulls


def _settle(row: list[int], offset: list[float], x: list[float], pulls: list[list[Pull]]) -> float:
    """Move the items of one row to where their neighbours pull them, at the distances of `offset` or more.

    Returns the largest movement.
    """
    if len(row) == 1:
        item = row[0]
        found = pulls[item]
        if not found:
            return 0.0
        total = weight = 0.0
        for neighbour, shift, strength in found:
            total += strength * (x[neighbour] + shift)
            weight += strength
        before, x[item] = x[item], total / weight
        return abs(x[item] - before)
    blocks: list[tuple[float, float, int]] = []  # (mean, weight, items)
    for item, at in zip(row, offset):
        found = pulls[item]
        if found:
            total = weight = 0.0
            for neighbour, shift, strength in found:
                total += strength * (x[neighbour] + shift)
                weight += strength
            mean, items = total / weight - at, 1
        else:
            mean, weight, items = x[item] - at, 0.2, 1
        while blocks and blocks[-1][0] >= mean:
            other, other_weight, other_items = blocks.pop()
            together = weight + other_weight
            mean, weight, items = (mean * weight + other * other_weight) / together, together, items + other_items
        blocks.append((mean, weight, items))
    place = 0
    moved = 0.0
    for mean, _, items in blocks:
        for item, at in zip(row[place:place + items], offset[place:place + items]):
            value = mean + at
            change = abs(value - x[item])
            if change > moved:
                moved = change
            x[item] = value
        place += items
    return moved
