"""The description at /openapi.json against the running server, by schemathesis: its requests, answered as described."""

import os
import pathlib
import subprocess
import sys

import random_models
from encoder_models import trained_encoders
from server import LANGUAGE_MODEL, serving

TAGGER, CLASSIFIER, MASKED_LANGUAGE_MODEL = trained_encoders("tagger", "classifier", "masked_language_model")
CHECKS = ",".join((
    "not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
    "response_schema_conformance", "positive_data_acceptance", "negative_data_rejection", "missing_required_header", "unsupported_method"))
# 504: a deadline_ms that is too short; 501: built without a language detector; 400: no description says which bytes are a recording
CONFIGURATION = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 501, 504]
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 403, 404, 501, 504]
[[operations]]
include-path = "/v1/audio/transcriptions"
checks.positive_data_acceptance.expected-statuses = ["2xx", 400, 404]
"""


def test_answers_are_as_described(tmp_path):
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION, encoding="utf-8")
    hooks = {"SCHEMATHESIS_HOOKS": "openapi_hooks", "PYTHONPATH": str(pathlib.Path(__file__).parent)}
    for name in ("parser", "transcriber"):
        (tmp_path / name).mkdir()
    parser = random_models.write_parser(tmp_path / "parser")
    transcriber = random_models.write_transcriber(tmp_path / "transcriber")
    models = [
        argument for model in (LANGUAGE_MODEL, CLASSIFIER, TAGGER, MASKED_LANGUAGE_MODEL, parser, transcriber) for argument in ("--model", model)]
    with serving(tmp_path, *models, "--request-timeout", 1) as server:
        url = f"http://127.0.0.1:{server.port}"
        done = subprocess.run(
            [pathlib.Path(sys.executable).with_name("schemathesis"), "run", f"{url}/openapi.json", "--url", url, "--checks", CHECKS,
             "--max-examples", "10", "--seed", "7", "--phases", "examples,coverage,fuzzing", "--no-color", "--suppress-health-check",
             "all", "--generation-database", "none", "--no-shrink"],
            cwd=tmp_path, env={**os.environ, **hooks}, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert server.get("/health") == {"status": "ok"}
        assert 'status="500"' not in server.request("GET", "/metrics")[2]
        assert {event["route"] for event in server.events() if event["event"] == "request"} >= set(server.get("/openapi.json")["paths"])
