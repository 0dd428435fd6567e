"""attend.distributed: a model run over many files, by one process, by several (a Slurm array), on Ray or on Spark.

    import attend.distributed
    import attend.distributed.ray

    job = attend.distributed.Job("model", ["all.parquet"], "translated", column="english", target="german")
    print(attend.distributed.ray.run(job, workers=8, threads=4))

A job that was killed goes on where it was: the same call again makes the parts that are missing, with the same bytes.
"""

from __future__ import annotations

from attend._packages import needed

with needed("attend.distributed", "pyarrow"):
    from attend.distributed._job import Job, Report, run
    from attend.distributed._models import Counts

__all__ = ["Counts", "Job", "Report", "run"]
