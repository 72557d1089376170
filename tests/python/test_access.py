import json
import pathlib
import subprocess

import pytest

import tidemark
from tidemark import _security

VECTORS = pathlib.Path(__file__).resolve().parents[1] / "vectors"


@pytest.fixture
def secrets(tmp_path):
    files = {}
    for name, text in {
        "tokens": "reader * token-of-a-reader\nadmin * token-of-an-admin\n",
        "reader": "# what it is for\ntoken-of-a-reader\n",
        "stranger": "token-of-nobody-here\n",
        "two": "one\ntwo\n",
        "marked": "\ufefftoken-of-a-reader\n",
    }.items():
        files[name] = tmp_path / name
        files[name].write_text(text, encoding="utf-8")
        files[name].chmod(0o600)
    return files


@pytest.fixture
def guarded(new_master, secrets):
    return new_master("--set", f"tokens={secrets['tokens']}").start()


def test_a_valid_token_is_accepted(guarded, secrets, monkeypatch):
    assert tidemark.Client(guarded.address, token="token-of-a-reader").list() == []
    assert tidemark.Client(guarded.address, token_file=secrets["reader"]).list() == []
    assert tidemark.Client(guarded.address, token_file=secrets["marked"]).list() == []
    monkeypatch.setenv("TIDEMARK_TOKEN_FILE", str(secrets["reader"]))
    assert tidemark.Client(guarded.address).list() == []


def test_a_call_without_a_token_reports_that_one_is_required(guarded):
    with pytest.raises(tidemark.DeniedError, match="requires a token; pass token_file="):
        tidemark.Client(guarded.address).list()
    with pytest.raises(PermissionError):
        list(tidemark.watch("one", master=guarded.address, wait_for_job=True, disable=True))


def test_an_unknown_token_is_rejected(guarded, secrets):
    with pytest.raises(tidemark.DeniedError, match="rejects the token"):
        tidemark.Client(guarded.address, token_file=secrets["stranger"]).list()


def test_a_token_without_permission_is_rejected(guarded):
    with pytest.raises(tidemark.DeniedError):
        tidemark.Client(guarded.address, token="token-of-a-reader").forget("one")


def test_a_token_is_not_sent_to_other_hosts_without_tls():
    for host in ("192.0.2.1", "127.evil.example"):
        with pytest.raises(ValueError, match="without TLS"):
            tidemark.Client(f"{host}:7411", token="secret").list()


def test_a_token_is_not_shown():
    assert "secret" not in repr(tidemark.Client(token="secret"))
    assert "secret" not in repr(vars(tidemark.Client(token="secret"))["_access"])


def test_an_invalid_token_is_rejected(secrets):
    for wrong in ({"token_file": secrets["two"]}, {"token": "two words"}):
        with pytest.raises(ValueError, match="token"):
            tidemark.Client("127.0.0.1:1", **wrong).list()
    with pytest.raises(ValueError, match="not both"):
        tidemark.Client(token="a", token_file="b")
    with pytest.raises(ValueError, match="go together"):
        tidemark.Client(tls_ca="a", tls_key="b")


def test_an_invalid_address_is_rejected_with_a_suggestion():
    # tests/transport/host_port_test.cc uses the same file.
    golden = json.loads((VECTORS / "master_addresses.json").read_text())
    for vector in golden:
        fault = vector["fault"]
        if not fault:
            tidemark.Client(vector["address"]).close()
            continue
        with pytest.raises(ValueError) as raised:
            tidemark.Client(vector["address"])
        assert str(raised.value) == ("master " if fault.startswith("must") else "master: ") + fault


def openssl(folder, *words):
    subprocess.run(["openssl", *words], check=True, cwd=folder, capture_output=True)


def test_tls_verifies_the_certificate_of_the_master(new_master, secrets, tmp_path):
    for name in ("master", "another"):
        openssl(
            tmp_path,
            *"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2".split(),
            *f"-subj /CN={name} -addext subjectAltName=DNS:{name}".split(),
            *f"-keyout {name}.key -out {name}.crt".split(),
        )
        (tmp_path / f"{name}.key").chmod(0o600)
    settings = {
        "tokens": secrets["tokens"],
        "tls.certificate": tmp_path / "master.crt",
        "tls.key": tmp_path / "master.key",
    }
    options = [f"--set={name}={value}" for name, value in settings.items()]
    guarded = new_master(*options).start()

    def ask(**tls):
        with tidemark.Client(guarded.address, token="token-of-a-reader", **tls) as client:
            return client.list()

    assert ask(tls_ca=tmp_path / "master.crt", tls_server_name="master") == []
    with pytest.raises(tidemark.UnreachableError, match="cannot verify the certificate"):
        ask(tls_ca=tmp_path / "another.crt", tls_server_name="master")
    with pytest.raises(tidemark.UnreachableError, match="requires TLS"):
        ask()
    with pytest.raises(OSError):
        ask(tls_ca=tmp_path / "absent")


def test_a_call_names_its_job_for_routing_proxies():
    # The same cases are in Http2Test.java and tests/transport/security_test.cc.
    assert _security.about("täglich 7%") == [("tidemark-job", "t%C3%A4glich%207%25")]
    assert _security.about("") == []
