"""The example and the README's Python run as they stand."""

import re
import subprocess
import sys

from package import ENVIRONMENT, GOLDEN, ROOT, run


def test_the_example_draws(tmp_path):
    subprocess.run(
        [sys.executable, ROOT / "python/examples/plot_attention.py", GOLDEN, "lumi tavo keri", "--output", tmp_path / "a.png"],
        env=ENVIRONMENT, check=True)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_readme_s_python(translator, tmp_path):
    code = re.search(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), flags=re.M | re.S).group(1)
    (tmp_path / "test.en").write_text("lumi tavo keri\nolin\n", encoding="utf-8")
    (tmp_path / "test.de").write_text("grau\nöd\n", encoding="utf-8")
    (tmp_path / "my-model").mkdir()
    (tmp_path / "my-model/model").symlink_to(GOLDEN)
    output = run("import os, sys\nos.chdir(sys.argv[1])\n" + code, tmp_path)
    assert output.startswith(translator.translate("A small house.") + "\n")
