"""HCCL between local processes: the ranks of an emulated job exchange real arrays.

Rank 0 starts a process of its own, the hub, that all ranks connect to. A collective completes when every member of its
group has made the same call; ranks that disagree, a rank that is gone and a rank that does not come are errors that
name them.
"""
