#!/usr/bin/env python3
"""Searches options of a training with Optuna (pip install optuna). Each trial is a run of `attend train` in a directory of its own.

usage: sweep.py RECIPE OUTPUT [--trials N] [--rungs N...] [--figure bleu --maximize] [--seed N]

A trial trains up to the first rung (a number of updates), is compared with the others there, and goes on to the next one or is pruned.
The recipe's validate_every should divide the rungs; its schedule should be inverse_sqrt or constant, as cosine and linear ones end at
max_updates. Start the same command again after Ctrl-C or a kill: the trial that was at work goes on from its checkpoint. Then
`attend compare OUTPUT/trial-*` shows the trials side by side.
"""

import argparse
import pathlib

import attend
import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState


def options_of(trial: optuna.Trial) -> dict[str, float]:
    """What is searched: change it to your needs. Names are those of `attend train`, with `__` for a dot."""
    return {
        "peak_learning_rate": trial.suggest_float("peak_learning_rate", 3e-4, 3e-2, log=True),
        "dropout": trial.suggest_float("dropout", 0.0, 0.3, step=0.05),
        "label_smoothing": trial.suggest_categorical("label_smoothing", [0.0, 0.1]),
    }


def objective(trial: optuna.Trial, arguments: argparse.Namespace) -> float:
    if "directory" not in trial.user_attrs:
        trial.set_user_attr("directory", f"trial-{trial.number:03}")
    output = arguments.output / trial.user_attrs["directory"]
    options = options_of(trial)
    value = float("nan")
    for rung in sorted(arguments.rungs):
        try:
            run = attend.train(arguments.recipe, output=output, max_updates=rung, quiet=True, **options)
        except attend.RunError as error:
            if "finite" not in str(error):  # of a loss that diverged
                raise
            trial.set_user_attr("error", str(error))
            raise optuna.TrialPruned from error
        found = [line["validation"] for line in run.history if "validation" in line and line["update"] <= rung]
        if not found or arguments.figure not in found[-1]:
            raise attend.UsageError(f"no validation up to update {rung} has the figure {arguments.figure}; see validate_every of the recipe")
        value = found[-1][arguments.figure]
        trial.report(value, rung)
        if trial.should_prune() and rung < max(arguments.rungs):
            raise optuna.TrialPruned
    return value


def go_on(study: optuna.Study) -> None:
    """Queues again what a Ctrl-C or a kill stopped, to be continued in its directory."""
    queued = {trial.user_attrs.get("directory") for trial in study.get_trials(states=(TrialState.WAITING,))}
    finished = {trial.user_attrs.get("directory") for trial in study.get_trials(states=(TrialState.COMPLETE, TrialState.PRUNED))}
    for trial in study.get_trials(states=(TrialState.RUNNING, TrialState.FAIL)):
        if trial.state == TrialState.RUNNING:
            study.tell(trial.number, state=TrialState.FAIL)
        directory = trial.user_attrs.get("directory")
        if directory and directory not in queued | finished:
            study.enqueue_trial(trial.params, user_attrs={"directory": directory})
            queued.add(directory)


def main() -> None:
    parser = argparse.ArgumentParser(description="Searches options of a training.")
    parser.add_argument("recipe", type=pathlib.Path, help="a TOML file of `attend train`")
    parser.add_argument("output", type=pathlib.Path, help="folder of the trials and of study.journal, which remembers them")
    parser.add_argument("--trials", type=int, default=20, help="that are finished or pruned in the end")
    parser.add_argument("--rungs", type=int, nargs="+", default=[500, 1000, 2000], help="updates at which trials are compared")
    parser.add_argument("--figure", default="loss", help="of validation")
    parser.add_argument("--maximize", action="store_true", help="more of the figure is better")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    storage = JournalStorage(JournalFileBackend(str(arguments.output / "study.journal")))
    study = optuna.create_study(
        storage=storage, study_name="sweep", load_if_exists=True, direction="maximize" if arguments.maximize else "minimize",
        pruner=optuna.pruners.MedianPruner(n_startup_trials=2))
    go_on(study)
    # A sampler that starts anew would draw what it drew before.
    study.sampler = optuna.samplers.TPESampler(seed=arguments.seed + len(study.trials))
    left = arguments.trials - len(study.get_trials(states=(TrialState.COMPLETE, TrialState.PRUNED)))
    try:
        study.optimize(lambda trial: objective(trial, arguments), n_trials=max(left, 0))
    except KeyboardInterrupt:
        parser.exit(130, f"{parser.prog}: stopped; the same command goes on\n")
    except attend.Error as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    done = study.get_trials(states=(TrialState.COMPLETE,))
    if not done:
        parser.exit(1, f"{parser.prog}: every trial was pruned or failed; expected one that reaches the last rung\n")
    print(f"best: {arguments.output / study.best_trial.user_attrs['directory']}, {arguments.figure} {study.best_value:.5g}, {study.best_params}")


if __name__ == "__main__":
    main()
