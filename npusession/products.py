"""Ascend product families, as the vendor's reference divides them."""

from __future__ import annotations

import enum


class Product(enum.Enum):
    """One family of products that the reference treats alike.

    The value is the family's name as users may write it; ``title`` is the name in the vendor's pages.
    """

    ATLAS_350 = "atlas-350"
    ATLAS_A3 = "atlas-a3"
    ATLAS_A2 = "atlas-a2"
    ATLAS_TRAINING = "atlas-training"
    ATLAS_INFERENCE = "atlas-inference"
    ATLAS_300I_DUO = "atlas-300i-duo"
    ATLAS_200I_500_A2 = "atlas-200i-500-a2"

    @property
    def title(self) -> str:
        """The family's name in the vendor's pages."""
        return _TITLES[self]


_TITLES = {
    Product.ATLAS_350: "Atlas 350 加速卡",
    Product.ATLAS_A3: "Atlas A3 训练系列产品/Atlas A3 推理系列产品",
    Product.ATLAS_A2: "Atlas A2 训练系列产品/Atlas A2 推理系列产品",
    Product.ATLAS_TRAINING: "Atlas 训练系列产品",
    Product.ATLAS_INFERENCE: "Atlas 推理系列产品",
    Product.ATLAS_300I_DUO: "Atlas 300I Duo 推理卡",
    Product.ATLAS_200I_500_A2: "Atlas 200I/500 A2 推理产品",
}

ALL_PRODUCTS = frozenset(Product)
#: The families that compute in bfloat16.
BF16_PRODUCTS = frozenset({Product.ATLAS_350, Product.ATLAS_A3, Product.ATLAS_A2})
