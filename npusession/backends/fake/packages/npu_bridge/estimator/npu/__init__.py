"""What wraps training loops: estimators, hooks, optimizers, scopes."""
