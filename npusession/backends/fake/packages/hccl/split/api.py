"""How gradients are split for communication."""

from npusession.backends.fake.groups import set_split_strategy_by_idx, set_split_strategy_by_size

__all__ = ["set_split_strategy_by_idx", "set_split_strategy_by_size"]
