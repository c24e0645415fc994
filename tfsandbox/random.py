"""The tf.random namespace."""

from tfsandbox.framework.random_seed import get_seed, set_random_seed
from tfsandbox.ops.candidate_sampling_ops import (
    all_candidate_sampler,
    fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler,
    uniform_candidate_sampler,
)
from tfsandbox.ops.random_ops import categorical, multinomial, truncated_normal
from tfsandbox.ops.random_ops import random_gamma as gamma
from tfsandbox.ops.random_ops import random_normal as normal
from tfsandbox.ops.random_ops import random_poisson as poisson
from tfsandbox.ops.random_ops import random_shuffle as shuffle
from tfsandbox.ops.random_ops import random_uniform as uniform
from tfsandbox.ops.stateless_random_ops import (
    stateless_categorical,
    stateless_multinomial,
    stateless_truncated_normal,
)
from tfsandbox.ops.stateless_random_ops import stateless_random_normal as stateless_normal
from tfsandbox.ops.stateless_random_ops import stateless_random_uniform as stateless_uniform

__all__ = [
    "all_candidate_sampler", "categorical", "fixed_unigram_candidate_sampler", "gamma", "get_seed",
    "learned_unigram_candidate_sampler", "log_uniform_candidate_sampler", "multinomial", "normal", "poisson",
    "set_random_seed", "shuffle", "stateless_categorical", "stateless_multinomial", "stateless_normal",
    "stateless_truncated_normal", "stateless_uniform", "truncated_normal", "uniform", "uniform_candidate_sampler",
]
