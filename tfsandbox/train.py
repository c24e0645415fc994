"""The tf.train namespace."""

from __future__ import annotations

import importlib
from typing import Any

from tfsandbox.training.adadelta import AdadeltaOptimizer
from tfsandbox.training.adagrad import AdagradOptimizer
from tfsandbox.training.adagrad_da import AdagradDAOptimizer
from tfsandbox.training.adam import AdamOptimizer
from tfsandbox.training.ftrl import FtrlOptimizer
from tfsandbox.training.gradient_descent import GradientDescentOptimizer
from tfsandbox.training.learning_rate_decay import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from tfsandbox.training.momentum import MomentumOptimizer
from tfsandbox.training.moving_averages import ExponentialMovingAverage
from tfsandbox.training.optimizer import Optimizer
from tfsandbox.training.proximal_adagrad import ProximalAdagradOptimizer
from tfsandbox.training.proximal_gradient_descent import ProximalGradientDescentOptimizer
from tfsandbox.training.rmsprop import RMSPropOptimizer
from tfsandbox.training.training_util import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
