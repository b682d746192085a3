"""``npusession launch``: one process for each device, started, watched and stopped as one job.

A plan of the job is made and checked first (``planning``), from the flags, the device numbers (``devices``), what Slurm
or MPI say of this process (``layout``), the addresses of the hosts (``network``) and the processors (``affinity``);
``environment`` says which variables each rank gets. Then two processes run it: the one that the user sees (``guard``)
and its child, which is the parent of all ranks (``supervise``, ``output``). Each of the two ends every process of
the job when the other one dies. ``script`` writes the plan as a shell script instead.
"""
