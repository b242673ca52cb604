"""The part of a file that is linear functions or nets: their weights, one function after another."""

import numpy as np

from anyboost.files.container import Fault
from anyboost.files.fields import Tensors, finite
from anyboost.weak.linear import LinearFunction
from anyboost.weak.net import NetFunction


def pack_linear(functions: list[LinearFunction]) -> dict[str, np.ndarray]:
    """The tensors of linear functions; a row of `linear.weight` is an output of one of them."""
    return {
        "linear.weight": finite(np.concatenate([part.weight for part in functions]), "weights"),
        "linear.constant": finite([part.constant for part in functions], "constants"),
    }


def unpack_linear(tensors: Tensors, count: int, n_features: int, outputs: int) -> list[LinearFunction]:
    """The linear functions, `count` of them."""
    weights = tensors.floats("linear.weight", (count * outputs, n_features))
    constants = tensors.floats("linear.constant", (count, outputs))
    return [LinearFunction(*parts) for parts in zip(np.split(weights, count), constants, strict=True)]


def pack_nets(nets: list[NetFunction]) -> dict[str, np.ndarray]:
    """The tensors of nets with as many units each."""
    if len({len(net.bias) for net in nets}) > 1:
        raise ValueError("model cannot be saved: its nets have different numbers of units")
    return {
        "net.hidden": finite(np.concatenate([net.hidden for net in nets]), "weights"),
        "net.bias": finite([net.bias for net in nets], "weights"),
        "net.output": finite(np.concatenate([net.output for net in nets]), "weights"),
        "net.constant": finite([net.constant for net in nets], "constants"),
    }


def unpack_nets(tensors: Tensors, count: int, n_features: int, outputs: int) -> list[NetFunction]:
    """The nets, `count` of them."""
    units = tensors.width("net.bias")
    if units == 0:
        raise Fault("it has nets without units")
    hidden = tensors.floats("net.hidden", (count * units, n_features))
    bias = tensors.floats("net.bias", (count, units))
    output = tensors.floats("net.output", (count * outputs, units))
    constant = tensors.floats("net.constant", (count, outputs))
    parts = zip(np.split(hidden, count), bias, np.split(output, count), constant, strict=True)
    return [NetFunction(*part) for part in parts]
