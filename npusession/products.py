"""Ascend product families, as the vendor's reference divides them, by name, alias or SoC version."""

from __future__ import annotations

import enum
import functools
import re
import typing


class Product(enum.Enum):
    """One family of products that the reference treats alike.

    The value is the family's name as users write it; ``title`` is the name in the vendor's pages.
    """

    ATLAS_350 = "atlas-350"
    ATLAS_A3 = "atlas-a3"
    ATLAS_A2 = "atlas-a2"
    ATLAS_TRAINING = "atlas-training"
    ATLAS_INFERENCE = "atlas-inference"
    ATLAS_300I_DUO = "atlas-300i-duo"
    ATLAS_200I_500_A2 = "atlas-200i-500-a2"

    # Members are singletons. Enum's own hash is a Python function, and sets of products are asked at every option.
    __hash__ = object.__hash__

    @property
    def title(self) -> str:
        """The family's name in the vendor's pages."""
        return _NAMES[self].title

    @classmethod
    def of(cls, name: str | Product) -> Product:
        """Return the family that a name, an alias or a SoC version stands for.

        Args:
            name: ``"atlas-a2"``, ``"A2"``, the vendor's own name, or a SoC version such as ``"Ascend910B1"``; case,
                blanks, dashes and underscores do not matter.

        Raises:
            ValueError: nothing is known by that name; the message lists the families.
        """
        if isinstance(name, Product):
            return name
        folded = _fold(name)
        for product, names in _NAMES.items():
            if folded in {_fold(alias) for alias in (product.value, names.title, *names.aliases)}:
                return product
        for product, names in _NAMES.items():
            if re.fullmatch(names.soc, folded):
                return product
        raise ValueError(
            "{!r} is no product; there are {}, and SoC versions such as Ascend910B1".format(
                name, ", ".join(product.value for product in cls)
            )
        )


class _Names(typing.NamedTuple):
    title: str
    aliases: tuple[str, ...]
    #: Pattern of the family's SoC versions, folded.
    soc: str


_NAMES = {
    Product.ATLAS_350: _Names("Atlas 350 加速卡", ("350", "Ascend 950PR", "Ascend 950DT"), r"(ascend)?950(pr|dt)?\w*"),
    Product.ATLAS_A3: _Names("Atlas A3 训练系列产品/Atlas A3 推理系列产品", ("A3",), r"(ascend)?910(93\w+|c)"),
    Product.ATLAS_A2: _Names("Atlas A2 训练系列产品/Atlas A2 推理系列产品", ("A2",), r"(ascend)?910b[1-9]\w*"),
    Product.ATLAS_TRAINING: _Names(
        "Atlas 训练系列产品", ("training", "910"), r"(ascend)?910(a|b|proa|prob|premiuma|pro|premium)?"
    ),
    Product.ATLAS_INFERENCE: _Names("Atlas 推理系列产品", ("inference", "310P"), r"(ascend)?310p\w*"),
    Product.ATLAS_300I_DUO: _Names("Atlas 300I Duo 推理卡", ("300I Duo", "duo"), r"(?!)"),
    Product.ATLAS_200I_500_A2: _Names("Atlas 200I/500 A2 推理产品", ("200I A2", "500 A2", "310B"), r"(ascend)?310b\w*"),
}

ALL_PRODUCTS = frozenset(Product)
#: The families that compute in bfloat16.
BF16_PRODUCTS = frozenset({Product.ATLAS_350, Product.ATLAS_A3, Product.ATLAS_A2})
#: The inference series, of which the Duo card is one.
INFERENCE_SERIES = frozenset({Product.ATLAS_INFERENCE, Product.ATLAS_300I_DUO})
#: The families on which the page of initialize_system does not support it.
WITHOUT_INITIALIZE = INFERENCE_SERIES | {Product.ATLAS_200I_500_A2}

#: How npu-smi names chips, such as 910B1, 910_9391 or 310P3.
_CHIP = re.compile(r"\b(?:Ascend)?(950\w+|910_?93\w+|910\w*|310[PB]\w*)\b")


@functools.lru_cache(maxsize=1)
def detect() -> Product | None:
    """Return the family of this host's devices, asking ``npu-smi`` once; ``None`` when that cannot be told."""
    import shutil
    import subprocess

    tool = shutil.which("npu-smi")
    if tool is None:
        return None
    try:
        listing = subprocess.run([tool, "info"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return None
    return product_in(listing.stdout.decode("utf-8", "replace"))


def product_in(listing: str) -> Product | None:
    """Return the family of the first chip that a listing of ``npu-smi info`` names, ``None`` for an unknown one."""
    for chip in _CHIP.findall(listing):
        try:
            return Product.of(chip)
        except ValueError:
            continue
    return None


def _fold(name: str) -> str:
    return re.sub(r"[\s_\-/]+", "", name).lower()
