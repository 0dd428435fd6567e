"""What holds for the program and for every command alike; a new command is found by itself."""

import pytest
from programs import ATTEND, attend, commands, markdown, options, positionals, refused

COMMANDS = commands()


@pytest.fixture(name="config")
def write_config(tmp_path):
    def write(text):
        path = tmp_path / "options.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def given(command):
    """A word for each positional argument, so that what is wrong is something else."""
    return ["x"] * len(positionals(command))


def integer_option(command):
    return next((name for name, takes in options(command).items() if takes.startswith("N")), None)


def test_help_lists_every_command_and_version_says_what_this_is():
    done = attend("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert attend("help").stdout == attend("-h").stdout == done.stdout
    version = attend("--version")
    assert version.returncode == 0
    for word in ("attend ", "libraries:", "SentencePiece", "instruction sets: reference"):
        assert word in version.stdout
    assert "(active: reference)" in attend("--version", env={"ATTEND_ISA": "reference"}).stdout


def test_without_a_command_the_help_comes_with_status_2():
    done = attend()
    assert done.returncode == 2
    assert "usage: attend COMMAND" in done.stdout


def test_an_unknown_command_is_answered_with_the_nearest():
    refused(attend("vocap"), 2, "unknown command 'vocap'", "did you mean 'vocab'?")
    refused(attend("xyzzyx"), 2, "unknown command 'xyzzyx'", "attend --help")
    refused(attend(""), 2, "unknown command ''")
    refused(attend("--versoin"), 2, "unknown option '--versoin'", "did you mean '--version'?")
    refused(attend("--model", "x", "translate"), 2, "unknown option '--model'", "attend --help")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_every_option(command):
    done = attend(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Examples:" in done.stdout
    described, examples = done.stdout.split("Examples:")
    assert f"attend {command} " in examples
    assert max(map(len, described.splitlines())) <= 100  # columns; standard output is no terminal
    for option in options(command):
        assert f"--{option}" in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_says_what_it_is(command):
    assert "config" in options(command)
    rows = [line for line in markdown(command).splitlines() if line.startswith("| `--")]
    for row in rows:
        assert row.replace("\\|", "").count("|") == 5, row
        assert row.rstrip(" |").rpartition("|")[2].strip() != "", row


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_option_is_answered_with_the_nearest(command):
    refused(attend(command, *given(command), "--confg=x"), 2, "unknown option '--confg", "did you mean '--config'?")


@pytest.mark.parametrize("command", [command for command in COMMANDS if command != "health"])  # which asks the usual port
def test_missing_arguments_are_a_usage_error(command):
    refused(attend(command), 2)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_value_names_the_option_and_what_it_takes(command):
    option = integer_option(command)
    if option is None:
        pytest.skip(f"attend {command} takes no integer")
    refused(attend(command, *given(command), f"--{option}", "many"), 2, f"--{option}", "'many'", "an integer")
    refused(attend(command, *given(command), f"--{option}", "-99999"), 2, f"--{option}", "-99999")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_missing_configuration_file_is_named(command, tmp_path):
    refused(attend(command, *given(command), "--config", tmp_path / "gone.toml"), 3, tmp_path / "gone.toml")
    refused(attend(command, *given(command), "--config", tmp_path), 3, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_configuration_is_answered_with_file_and_line(command, config):
    path = config("# a comment\nno_such_key_at_all = 1\n")
    refused(attend(command, *given(command), "--config", path), 2, f"{path}:2: unknown option 'no_such_key_at_all'")
    path = config("a = = 1\n")
    refused(attend(command, *given(command), "--config", path), 2, f"{path}:1:", "TOML")
    option = integer_option(command)
    if option is not None:
        path = config("\n" + option.replace("-", "_") + ' = "3"\n')
        refused(attend(command, *given(command), "--config", path), 2, f"{path}:2: ", "an integer")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_binary_configuration_is_refused(command, tmp_path):
    path = tmp_path / "binary.toml"
    path.write_bytes(bytes(range(256)) * 8)
    refused(attend(command, *given(command), "--config", path), 2, path)


def test_a_full_disk_is_an_error():
    import subprocess

    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([ATTEND, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "standard output" in done.stderr
