"""tf.linalg: linear algebra."""

# ruff: noqa: F401

from tfsandbox.ops.clip_ops import global_norm
from tfsandbox.ops.diagonals import diag as tensor_diag
from tfsandbox.ops.diagonals import diag_part as tensor_diag_part
from tfsandbox.ops.diagonals import matrix_band_part as band_part
from tfsandbox.ops.diagonals import matrix_diag as diag
from tfsandbox.ops.diagonals import matrix_diag_part as diag_part
from tfsandbox.ops.diagonals import matrix_set_diag as set_diag
from tfsandbox.ops.einsum import einsum
from tfsandbox.ops.factorizations import cholesky, lu, qr, svd
from tfsandbox.ops.factorizations import self_adjoint_eig as eigh
from tfsandbox.ops.factorizations import self_adjoint_eigvals as eigvalsh
from tfsandbox.ops.linalg.linalg_impl import adjoint, logdet, matrix_rank, pinv, tridiagonal_matmul, tridiagonal_solve
from tfsandbox.ops.linalg.linalg_impl import matrix_exponential as expm
from tfsandbox.ops.linalg.linalg_impl import matrix_logarithm as logm
from tfsandbox.ops.linalg.linalg_impl import matrix_square_root as sqrtm
from tfsandbox.ops.linear_systems import cholesky_solve, eye
from tfsandbox.ops.linear_systems import log_matrix_determinant as slogdet
from tfsandbox.ops.linear_systems import matrix_determinant as det
from tfsandbox.ops.linear_systems import matrix_inverse as inv
from tfsandbox.ops.linear_systems import matrix_solve as solve
from tfsandbox.ops.linear_systems import matrix_solve_ls as lstsq
from tfsandbox.ops.linear_systems import matrix_triangular_solve as triangular_solve
from tfsandbox.ops.matmul import matmul, matvec
from tfsandbox.ops.normalization import l2_normalize
from tfsandbox.ops.norms import norm, normalize
from tfsandbox.ops.reshaping import matrix_transpose
from tfsandbox.ops.reshaping import matrix_transpose as transpose
from tfsandbox.ops.tensor_products import cross, tensordot, trace
