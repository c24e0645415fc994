"""Images as sequences of their columns and back; sequences without their ends; where the features of an image lie."""

from __future__ import annotations

from typing import Any

from tfsandbox.contrib.framework import variables as contrib_variables
from tfsandbox.contrib.layers import utils
from tfsandbox.contrib.layers.layer_scope import check_data_format
from tfsandbox.framework import dtypes, ops
from tfsandbox.framework.constant_op import constant
from tfsandbox.framework.operation import Tensor
from tfsandbox.framework.sparse_tensor import SparseTensor
from tfsandbox.ops import array_ops, init_ops, math_ops, nn_ops, variable_scope
from tfsandbox.util.arg_scoping import add_arg_scope

__all__ = ["dense_to_sparse", "images_to_sequence", "sequence_to_images", "spatial_softmax"]


@add_arg_scope
def dense_to_sparse(tensor: Any, eos_token: Any = 0, outputs_collections: Any = None,
                    scope: Any = None) -> SparseTensor:
    """The elements that are not `eos_token`, as a sparse tensor."""
    with variable_scope.variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = ops.convert_to_tensor(tensor)
        indices = array_ops.where(math_ops.not_equal(tensor, constant(eos_token, tensor.dtype)))
        outputs = SparseTensor(indices, array_ops.gather_nd(tensor, indices),
                               array_ops.shape(tensor, out_type=dtypes.int64))
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def images_to_sequence(inputs: Any, data_format: str = "NHWC", outputs_collections: Any = None,
                       scope: Any = None) -> Tensor:
    """[n, h, w, c] -> [w, n * h, c]: each row of an image is a sequence along its width."""
    first = check_data_format(data_format, "NCHW", "NHWC") == "channels_first"
    with ops.name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = ops.convert_to_tensor(inputs)
        if first:
            inputs = array_ops.transpose(inputs, [0, 2, 3, 1])
        _, _, width, depth = inputs.get_shape().as_list()
        shape = array_ops.shape(inputs)
        batch, height = shape[0], shape[1]
        columns = array_ops.transpose(inputs, [2, 0, 1, 3])
        outputs = array_ops.reshape(columns, [width, batch * height, depth])
        return utils.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def sequence_to_images(inputs: Any, height: int, output_data_format: str = "channels_last",
                       outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """[w, n * height, c] -> images [n, height, w, c], or [n, c, height, w] for 'channels_first'."""
    with ops.name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = ops.convert_to_tensor(inputs)
        width, rows, depth = inputs.get_shape().as_list()
        batch = -1 if rows is None else rows // height
        columns = array_ops.reshape(inputs, [width, batch, height, depth])
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        return utils.collect_named_outputs(outputs_collections, sc, array_ops.transpose(columns, order))


@add_arg_scope
def spatial_softmax(features: Any, temperature: Any = None, name: str | None = None,
                    variables_collections: Any = None, trainable: bool = True, data_format: str = "NHWC") -> Tensor:
    """The mean place of each channel, weighted by its softmax over the image: [n, h, w, c] -> [n, 2 * c].

    Places go from -1 to 1. `temperature` divides the features: a variable that begins at the number given, else at 1.
    Source: Levine et al., End-to-End Training of Deep Visuomotor Policies, 2016.
    """
    with variable_scope.variable_scope(name, "spatial_softmax"):
        shape, sizes = array_ops.shape(features), features.shape.as_list()
        if data_format == "NHWC":
            height, width, channels = shape[1], shape[2], sizes[3]
        elif data_format == "NCHW":
            height, width, channels = shape[2], shape[3], sizes[1]
        else:
            raise ValueError("data_format has to be either NCHW or NHWC.")
        if channels is None:
            raise ValueError("The channel dimension must be known.")
        with ops.name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            grid = array_ops.meshgrid(math_ops.lin_space(-1.0, 1.0, num=height),
                                      math_ops.lin_space(-1.0, 1.0, num=width), indexing="ij")
            xs, ys = (array_ops.reshape(places, [height * width]) for places in grid)
            heat = _temperature(temperature, variables_collections, trainable)
            if data_format == "NHWC":
                features = array_ops.transpose(features, [0, 3, 1, 2])
            flat = array_ops.reshape(features, [-1, height * width])
            shares = nn_ops.softmax(flat / heat)
            means = [math_ops.reduce_sum(places * shares, [1], keepdims=True) for places in (xs, ys)]
            outputs = array_ops.reshape(array_ops.concat(means, 1), [-1, channels * 2])
            outputs.set_shape([None, channels * 2])
            return outputs


def _temperature(temperature: Any, variables_collections: Any, trainable: bool) -> Any:
    initializer = init_ops.ones_initializer() if temperature is None else init_ops.constant_initializer(temperature)
    return contrib_variables.model_variable(
        "temperature", shape=(), dtype=dtypes.float32, initializer=initializer, trainable=trainable,
        collections=utils.get_variable_collections(variables_collections, "temperature"))
