"""A loss that returns more than its value."""

import jax
import jax.numpy as jnp


def loss(w, x):
    prediction = w * x
    return jnp.sum(prediction**2), prediction


w, x = jnp.array([1.0, 2.0]), jnp.array([3.0, 4.0])
(value, prediction), slope = jax.value_and_grad(loss, has_aux=True)(w, x)
answers = {"value": value, "prediction": prediction, "slope": slope}
answers["grad"] = jax.grad(loss, has_aux=True)(w, x)[0]
