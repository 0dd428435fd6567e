"""attend.distributed on Spark: a model in each of its Python processes. Lost executors are replaced, and their parts made again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from attend._packages import needed
from attend.distributed._job import Job, Report, errors_of_workers
from attend.distributed._models import Counts, Model, load

with needed("attend.distributed.spark", "'.[spark]' in attend's source folder"):
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.functions import pandas_udf
    from pyspark.sql.pandas.types import from_arrow_type

_SCHEMA = ", ".join(f"{name} long" for name in Counts._fields)


def run(job: Job, session: SparkSession, *, threads: int = 1) -> Report:
    """Makes the missing parts of a job, each a task of its own. Give each task so many CPUs (spark.task.cpus) as `threads`."""
    missing = job.missing()
    if not missing:
        return job.finish([])

    def make(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        for batch in batches:
            yield pd.DataFrame([job.run_part(missing[index], threads) for index in batch["id"]], columns=Counts._fields)

    done = session.range(0, len(missing), 1, len(missing)).mapInPandas(make, _SCHEMA)
    with errors_of_workers():
        return job.finish(Counts(*row) for row in done.collect())


def udf(
    model: str, *, threads: int = 1, load: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None,
) -> Callable[..., Any]:
    """A pandas UDF of a column of texts: what a model makes of each, null of null. Arguments are those of Job.

    frame.withColumn("german", attend.distributed.spark.udf("model")("english"))
    """
    arguments = os.path.abspath(model), threads, dict(load or {}), dict(options or {})
    made = Model(*arguments).task.type  # an error of the model or the options comes here

    def run_on(series: Iterator[pd.Series]) -> Iterator[pd.Series]:
        for texts in series:
            values, _ = _load(*arguments)(pa.Array.from_pandas(texts).to_pylist())
            yield pd.Series(values, dtype=object)

    as_udf: Any = pandas_udf  # whose types know no function that yields
    made_udf: Callable[..., Any] = as_udf(run_on, from_arrow_type(made))
    return made_udf


_load = load
