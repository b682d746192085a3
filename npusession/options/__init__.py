"""The options of an NPU session: the vendor's reference as data, and the checks that follow from it."""

from .accelerate import AcceleratedTraining
from .check import check, field_of, unknown_name
from .dump import Dump
from .model import Option, Scene, Scope
from .problems import Problem, Report, Rule, Severity
from .profiling import Profiling
from .table import GROUPS, OPTIMIZER_NAME, RULES, TABLE

__all__ = [
    "GROUPS",
    "OPTIMIZER_NAME",
    "RULES",
    "TABLE",
    "AcceleratedTraining",
    "Dump",
    "Option",
    "Problem",
    "Profiling",
    "Report",
    "Rule",
    "Scene",
    "Scope",
    "Severity",
    "check",
    "field_of",
    "unknown_name",
]
