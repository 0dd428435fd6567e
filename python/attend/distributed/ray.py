"""attend.distributed on Ray: an actor a worker, with a model of its own. Lost workers are started again, and their parts made again."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from attend._packages import needed
from attend.distributed._formats import Columns, with_column
from attend.distributed._job import Job, Report, errors_of_workers
from attend.distributed._models import Counts, load

with needed("attend.distributed.ray", "'.[ray]' in attend's source folder"):
    import pyarrow as pa
    import ray.data

_Batch = dict[str, Any]


class _Parts:
    """What a worker does with numbers of parts."""

    def __init__(self, job: Job, threads: int) -> None:
        self._job, self._threads = job, threads
        job.loaded(threads)

    def __call__(self, batch: _Batch) -> _Batch:
        counts = [self._job.run_part(int(number), self._threads) for number in batch["number"]]
        return {name: [getattr(each, name) for each in counts] for name in Counts._fields}


def run(job: Job, *, workers: int = 2, threads: int = 1, **resources: Any) -> Report:
    """Makes the missing parts of a job, on the cluster that Ray is connected to or that RAY_ADDRESS names, or on this machine.

    workers, threads: so many actors, each with so many threads and CPUs
    resources: more for each actor, as Ray's map_batches takes it, such as memory=4 << 30
    """
    missing = job.missing()
    if not missing:
        return job.finish([])
    count = min(workers, len(missing))
    # A block a part. Few in the queue of an actor, so that at the end none waits behind another. A pool that may shrink: where a machine
    # is lost for good, the parts of its actor wait for CPUs, which idle actors then give.
    parts = ray.data.from_items([{"number": number} for number in missing], override_num_blocks=len(missing))
    done = parts.map_batches(
        _Parts, fn_constructor_args=(job, threads), batch_size=1, num_cpus=threads,
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=count, initial_size=count, max_tasks_in_flight_per_actor=2), **resources)
    with errors_of_workers():
        return job.finish(Counts(**row) for row in done.iter_rows())


@dataclasses.dataclass(eq=False)
class NewColumn:
    """For map_batches of a dataset of your own, with batch_format="pyarrow": adds a column with what a model makes of a column of texts.

    Arguments are those of Job and run, for fn_constructor_kwargs.
    """

    model: str
    column: str
    target: str
    threads: int = 1
    load: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self._model = load(self.model, self.threads, self.load, self.options)

    def __call__(self, table: pa.Table) -> pa.Table:
        return with_column(table, Columns(self.column, self.target), self._model, "the batch")[0]
