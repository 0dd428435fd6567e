"""Who may ask and as whom: hosts, pages of other sites, proxies, request ids, keys, the address of metrics."""

import json
import re

import pytest
from server import MODEL, TEXT, command_line, serving

JSON_TYPE = {"Content-Type": "application/json"}
FILE_TYPE = {"Content-Type": "multipart/form-data; boundary=x"}
FILE = b'--x\r\nContent-Disposition: form-data; name="target"\r\n\r\nsu\r\n--x\r\n' \
       b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nlumi\r\n--x--\r\n'


@pytest.fixture(name="server", scope="module")
def run_server(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("serve")) as server:
        yield server


def status_of(server, *lines):
    received = server.raw("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1"))
    return int(re.match(rb"HTTP/1\.[01] (\d+) ", received).group(1))


def ask(server, host, path="/health"):
    return status_of(server, f"GET {path} HTTP/1.1", f"Host: {host}")


def link(server, **headers):
    status, _, text = server.request("POST", "/translate_file", FILE, {**FILE_TYPE, **{name.replace("_", "-"): value for name, value in headers.items()}})
    assert status == 200, text
    return json.loads(text)["translatedFileUrl"].rpartition("/download_file/")[0]


@pytest.mark.parametrize("host", ["localhost", "LocalHost.:80", "127.0.0.1", "127.0.0.1:5000", "127.1.2.3", "[::1]:5000", "a.localhost"])
def test_names_of_this_machine_are_taken(server, host):
    assert ask(server, host) == 200


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:5000", "localhost.evil.example", "127.0.0.1.evil.example", "192.168.0.1", "0.0.0.0", "[fe80::1]", "x"])
def test_other_names_are_not(server, host):
    for path in ("/health", "/", "/metrics", "/languages", "/nothing"):
        assert ask(server, host, path) == 421
    assert status_of(server, "POST /translate?q=a&target=su HTTP/1.1", f"Host: {host}", "Content-Length: 0") == 421


@pytest.mark.parametrize("host", ["", "a b", "a@b", "localhost/x", "localhost\"x", "<b>", "localhost,evil.example", "::1", "[::1", "localhost:x", "\xe4"])
def test_what_is_no_host_is_refused(server, host):
    assert ask(server, host) == 400


def test_one_host_is_given(server):
    assert status_of(server, "GET /health HTTP/1.1", "Host: localhost", "Host: localhost") == 400
    assert status_of(server, "GET /health HTTP/1.1") == 400
    assert status_of(server, "GET /health HTTP/1.0") == 200  # as probes ask; browsers don't


def test_targets_may_name_the_host_and_have_more_slashes(server):
    assert status_of(server, "GET http://localhost/health HTTP/1.1", "Host: evil.example") == 200
    assert status_of(server, "GET http://evil.example/health HTTP/1.1", "Host: localhost") == 421
    assert status_of(server, "GET http://a@localhost/health HTTP/1.1", "Host: localhost") == 400
    assert status_of(server, "GET ftp://localhost/health HTTP/1.1", "Host: localhost") == 400
    assert ask(server, "localhost", "//health") == ask(server, "localhost", "///health?x") == 200
    assert server.post("//translate", {"q": TEXT, "target": "su", "source": "ka"})[1]["translatedText"] == command_line(TEXT)[0]
    assert server.post("//v1//translate", {"text": TEXT})[0] == 200


def test_names_may_be_allowed(tmp_path):
    with serving(tmp_path, "--allowed-host", "a.example", "*.b.example", "--public-url", "https://c.example/t/") as server:
        assert [ask(server, host) for host in ("a.example", "x.b.example", "c.example", "localhost")] == [200] * 4
        assert [ask(server, host) for host in ("b.example", "x.a.example", "d.example")] == [421] * 3
        assert link(server) == link(server, Host="a.example") == "https://c.example/t"
    with serving(tmp_path, "--host", "0.0.0.0") as server:
        assert [ask(server, host) for host in ("a.example", "10.0.0.1", "localhost")] == [200] * 3
        assert ask(server, "a b") == 400


def test_links_have_the_host_that_was_checked(server):
    assert link(server) == f"http://127.0.0.1:{server.port}"
    assert link(server, Host="localhost:99") == "http://localhost:99"
    assert link(server, X_Forwarded_Proto="https", X_Forwarded_Prefix="/x", X_Forwarded_Host="evil.example") == f"http://127.0.0.1:{server.port}"


def test_pages_of_other_sites_may_not_ask(tmp_path, server):
    body = json.dumps({"q": TEXT, "source": "ka", "target": "su"})

    def from_page(asked, site, origin="https://evil.example"):
        return asked.request("POST", "/translate", body, {**JSON_TYPE, "Sec-Fetch-Site": site, "Origin": origin})[0]

    assert [from_page(server, site) for site in ("same-origin", "same-site", "none", "cross-site", "Cross-Site")] == [200, 200, 200, 403, 403]
    with serving(tmp_path, "--cors-origin", "https://good.example") as open_to_one:
        assert from_page(open_to_one, "cross-site", "https://good.example") == 200
        assert from_page(open_to_one, "cross-site") == 403
    with serving(tmp_path, "--cors-origin", "*") as open_to_all:
        assert from_page(open_to_all, "cross-site") == 200


def test_where_browsers_tell_no_site_they_tell_the_origin(tmp_path, server):
    body = json.dumps({"q": TEXT, "source": "ka", "target": "su"})

    def from_page(asked, origin, host="localhost:5000"):
        return asked.request("POST", "/translate", body, {**JSON_TYPE, "Origin": origin, "Host": host})[0]

    for foreign in ("http://evil.example", "http://evil.example:5000", "http://localhost.evil.example:5000", "http://evil.example@localhost", "null", "x"):
        assert from_page(server, foreign) == 403
    for own in ("http://localhost:5000", "http://LocalHost", "https://localhost:99"):
        assert from_page(server, own) == 200
    assert server.request("GET", "/languages", None, {"Origin": "http://evil.example"})[0] == 200  # and the page can't read it
    with serving(tmp_path, "--public-url", "https://good.example/x", "--cors-origin", "http://other.example") as named:
        assert [from_page(named, f"http://{name}.example") for name in ("good", "other", "evil")] == [200, 200, 403]


def test_proxies_tell_of_clients_where_they_are_trusted(tmp_path):
    told = {"X-Forwarded-For": "6.6.6.6, 1.2.3.4, 10.0.0.9", "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/mt/"}
    with serving(tmp_path, "--trusted-proxy", "127.0.0.0/8", "10.0.0.0/8", "--request-limit", 1) as server:
        assert [server.post("/v1/translate", {"text": TEXT}, told)[0] for _ in range(2)] == [200, 429]
        assert server.post("/v1/translate", {"text": TEXT}, {**told, "X-Forwarded-For": "1.2.3.5"})[0] == 200
        assert server.wait_for("request", 3)["client"] == "1.2.3.5" and server.events()[-3]["client"] == "1.2.3.4"
        assert link(server, X_Forwarded_For="1.2.3.6", X_Forwarded_Proto="https", X_Forwarded_Prefix="/mt/") == f"https://127.0.0.1:{server.port}/mt"
    with serving(tmp_path, "--request-limit", 1) as server:
        assert [server.post("/v1/translate", {"text": TEXT}, {"X-Forwarded-For": f"1.2.3.{i}"})[0] for i in range(2)] == [200, 429]
        assert server.wait_for("request", 2)["client"] == "127.0.0.1"


def test_request_ids_go_in_and_out(server):
    for path in ("/health", "/nothing"):
        assert server.request("GET", path, None, {"X-Request-Id": "abc-1.2:3"})[1]["X-Request-Id"] == "abc-1.2:3"
    assert server.events()[-1]["request_id"] == "abc-1.2:3"
    made = [server.request("GET", "/health", None, {"X-Request-Id": given} if given else {})[1]["X-Request-Id"]
            for given in ("", "a b", "a" * 129, "<b>")]
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in made) and len(set(made)) == 4
    refused = server.raw(b"nonsense\r\n\r\n")
    assert re.search(rb"X-Request-Id: [0-9a-f]{32}\r\n", refused)
    stream = server.request("POST", "/v1/translate", json.dumps({"text": TEXT, "stream": True}), {**JSON_TYPE, "X-Request-Id": "s"})
    assert stream[1]["X-Request-Id"] == "s"


def test_key_files_as_editors_leave_them(tmp_path):
    keys = tmp_path / "keys"
    keys.write_bytes("\ufefffirst\r\n  # a note\r\n\talice: second key \r\nbob-2:\tthird==\r\n\r\nhttp://x: y\r\ncarl : fourth\r\n".encode())
    with serving(tmp_path, "--api-keys", keys) as server:
        def ask_with(key):
            return server.post("/v1/translate", {"text": TEXT}, {"Authorization": f"Bearer {key}"})[0]

        for key, name in (("first", "line 1"), ("second key", "alice"), ("third==", "bob-2"), ("http://x: y", "line 6"), ("fourth", "carl")):
            assert ask_with(key) == 200 and server.events()[-1]["key"] == name
        for wrong in ("alice", "alice: second key", "\ufefffirst".encode().decode("latin-1"), "# a note", ""):
            assert ask_with(wrong) == 403 and "key" not in server.events()[-1]
        assert server.post("/translate", {"q": TEXT, "source": "ka", "target": "su", "api_key": "third=="})[0] == 200
        assert server.events()[-1]["key"] == "bob-2"
        log = server.log.read_text(encoding="utf-8")
        assert "second key" not in log and "third" not in log


def test_metrics_may_have_an_address_of_their_own(tmp_path):
    with serving(tmp_path, "--metrics-address", "127.0.0.1:0") as server:
        assert server.request("GET", "/metrics")[0] == 404 and server.request("GET", "/health")[0] == 200
        assert "/metrics" not in server.get("/openapi.json")["paths"]
        server.port = server.events()[0]["metrics_port"]
        assert server.metric("attend_requests_total") == 3
        assert server.get("/health") == {"status": "ok"}
        assert server.request("GET", "/languages")[0] == server.request("GET", "/")[0] == server.post("/v1/translate", {"text": "a"})[0] == 404
        assert ask(server, "evil.example", "/metrics") == 421


def test_probes_ask_the_address_of_metrics_by_its_number(tmp_path):
    """A name that is allowed is for clients."""
    with serving(tmp_path, "--metrics-address", "0.0.0.0:0", "--allowed-host", "a.example") as server:
        assert [ask(server, host) for host in ("a.example", "10.0.0.7:9464")] == [200, 421]
        server.port = server.events()[0]["metrics_port"]
        assert [ask(server, "10.0.0.7:9464", path) for path in ("/health", "/metrics")] == [200, 200]


def test_codes_of_languages_have_capitals_and_regions(server):
    best = command_line(TEXT)[0]
    for source, target in (("KA", "SU"), ("ka-GE", "su_ID"), ("ka_ge", "su"), ("Ka-Geor-GE", "su")):
        assert server.post("/translate", {"q": TEXT, "source": source, "target": target}) == (200, {"translatedText": best})
        assert server.translate(TEXT, source=source, target=target)[0]["text"] == best
    assert server.post("/translate", {"q": TEXT, "source": "kab", "target": "su"})[0] == 400
    assert server.post("/translate", {"q": TEXT, "source": "AUTO", "target": "su"})[1]["detectedLanguage"]["language"] == "ka"


@pytest.mark.parametrize("option, value", [
    ("--trusted-proxy", "10.0.0.0/33"), ("--trusted-proxy", "example.org"), ("--allowed-host", "a:80"), ("--public-url", "example.org"),
    ("--metrics-address", "127.0.0.1"), ("--metrics-address", "localhost:1"), ("--metrics-address", "127.0.0.1:70000")])
def test_wrong_options_are_refused(tmp_path, option, value):
    with pytest.raises(AssertionError, match=option[2:].replace("-", "_")), serving(tmp_path, option, value, model=MODEL):
        pass
