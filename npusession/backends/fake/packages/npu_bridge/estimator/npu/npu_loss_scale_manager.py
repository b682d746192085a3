"""Placeholder: loss scale managers."""

ExponentialUpdateLossScaleManager = FixedLossScaleManager = None
