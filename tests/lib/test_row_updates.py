"""Updates of rows that may repeat equal the updates made one by one."""

import numpy as np
import pytest

from tfsandbox.lib import row_updates


@pytest.mark.parametrize("rule", [np.add, np.subtract, np.multiply, np.divide, np.minimum])
@pytest.mark.parametrize("count,size", [(0, 3), (1, 3), (7, 100), (12, 4), (300, 3)])
def test_update_goes_row_by_row(rule: np.ufunc, count: int, size: int) -> None:
    rng = np.random.RandomState(count)
    array = rng.uniform(0.5, 2, (size, 2)).astype(np.float32)
    indices = rng.randint(0, size, count).astype(np.int32)
    updates = rng.uniform(0.9, 1.1, (count, 2)).astype(np.float32)
    expected = array.copy()
    for i, row in zip(indices, updates):
        expected[i] = rule(expected[i], row)
    row_updates.update(rule, array, indices, updates)
    np.testing.assert_array_equal(array, expected)


def test_update_takes_indices_of_any_shape_and_scalars() -> None:
    array = np.zeros(4)
    row_updates.update(np.add, array, np.array([[0, 1], [1, 1]]), np.array(2.0))
    np.testing.assert_array_equal(array, [2, 6, 0, 0])


def test_update_each_keeps_the_order_of_repeats() -> None:
    def rule(w: np.ndarray, m: np.ndarray, g: np.ndarray) -> tuple[np.ndarray, ...]:
        m = 0.5 * m + g
        return w - m, m

    rng = np.random.RandomState(0)
    w, m = rng.randn(4, 3), rng.randn(4, 3)
    indices, grads = np.array([2, 0, 2, 2, 3]), rng.randn(5, 3)
    w2, m2 = w.copy(), m.copy()
    for i, g in zip(indices, grads):
        w2[i], m2[i] = rule(w2[i], m2[i], g)
    row_updates.update_each(rule, [w, m], indices, grads)
    np.testing.assert_array_equal(w, w2)
    np.testing.assert_array_equal(m, m2)
