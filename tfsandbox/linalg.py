"""tf.linalg: linear algebra."""

from tfsandbox.ops.clip_ops import global_norm  # noqa: F401
from tfsandbox.ops.diagonals import diag as tensor_diag  # noqa: F401
from tfsandbox.ops.einsum import einsum  # noqa: F401
from tfsandbox.ops.factorizations import cholesky, lu, qr, svd  # noqa: F401
from tfsandbox.ops.linalg.linalg_impl import adjoint, logdet, matrix_rank, pinv, tridiagonal_matmul, tridiagonal_solve  # noqa: F401
from tfsandbox.ops.linear_systems import cholesky_solve, eye  # noqa: F401
from tfsandbox.ops.matmul import matmul, matvec  # noqa: F401
from tfsandbox.ops.norms import norm  # noqa: F401
from tfsandbox.ops.reshaping import matrix_transpose  # noqa: F401
from tfsandbox.ops.tensor_products import cross, tensordot, trace  # noqa: F401
