"""The worker's life: how it starts, what it says, how it ends, and what its parent learns about it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from backend.crash import classify
from backend.errors import EngineError, ErrorCode
from backend.supervisor import Supervisor, worker_command
from backend.worker import _open_crash_file
from tests.server.conftest import Worker, make_worker

SECRET = "a-secret-that-must-never-be-seen"


def spawn(home: Path, **env: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        worker_command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TANDEM_HOME": str(home), "TANDEM_SECRET": SECRET} | env,
        cwd=Path(__file__).resolve().parent.parent.parent,
    )


def test_one_line_on_stdout_and_the_secret_nowhere(tandem_home: Path) -> None:
    worker = spawn(tandem_home)
    assert worker.stdout is not None
    hello = json.loads(worker.stdout.readline())
    assert hello == {"port": hello["port"], "pid": worker.pid, "protocol": 1}
    process = psutil.Process(worker.pid)
    assert SECRET not in " ".join(process.cmdline())
    out, err = worker.communicate(timeout=20)  # closes stdin: that ends it
    assert worker.returncode == 0
    assert out == b""
    assert SECRET.encode() not in err
    for path in (tandem_home / "logs").iterdir():
        assert SECRET not in path.read_text("utf-8")


def test_c_code_cannot_write_to_stdout(tandem_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that prints must not break the one line: a back end is loaded that does."""
    code = (
        "import os, sys, ctypes, backend.worker as w\n"
        "serve = w._serve\n"
        "def noisy(*a):\n"
        "    ctypes.CDLL(None).puts(b'noise from C')\n"
        "    ctypes.CDLL(None).fflush(None)\n"
        "    print('noise from Python', flush=True)\n"
        "    return serve(*a)\n"
        "w._serve = noisy\n"
        "sys.exit(w.main())\n"
    )
    worker = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"TANDEM_HOME": str(tandem_home), "TANDEM_SECRET": SECRET},
        cwd=Path(__file__).resolve().parent.parent.parent,
    )
    out, err = worker.communicate(timeout=20)
    assert len(out.splitlines()) == 1
    assert json.loads(out)["protocol"] == 1
    assert b"noise from C" in err
    assert b"noise from Python" in err


def test_health_answers_before_the_engine_library_is_loaded(tandem_home: Path) -> None:
    worker = make_worker(tandem_home)
    try:
        assert json.loads(worker.ask("GET", "/health")[2])["status"] == "ok"
        deadline = time.monotonic() + 30
        while not worker.json("GET", "/x/state")["engine"]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert "llama.cpp" in worker.json("GET", "/x/state")["engine"]
        assert worker.json("GET", "/x/state")["devices"]
    finally:
        worker.supervisor.stop()


def test_worker_module_and_routes_do_not_import_llama_cpp() -> None:
    code = (
        "import sys, backend.worker, backend.server.app, backend.server.host, backend.server.rig, backend.client\n"
        "sys.exit(any(name.split('.')[0] in ('llama_cpp', 'PySide6') for name in sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).resolve().parent.parent.parent)


def test_without_a_secret_it_does_not_start(tandem_home: Path) -> None:
    worker = spawn(tandem_home, TANDEM_SECRET="")
    out, err = worker.communicate(timeout=20)
    assert worker.returncode == 2
    assert out == b""
    assert b"TANDEM_SECRET" in err


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.skipif(sys.platform != "linux", reason="glibc's setting, read from /proc")
@pytest.mark.parametrize(
    ("before", "asks"), [(None, True), ("glibc.malloc.check=0", True), ("glibc.malloc.hugetlb=0", False)]
)
def test_the_worker_asks_for_huge_pages_unless_told_otherwise(
    tandem_home: Path, monkeypatch: pytest.MonkeyPatch, before: str | None, asks: bool
) -> None:
    if before is not None:
        monkeypatch.setenv("GLIBC_TUNABLES", before)
    supervisor = Supervisor()
    try:
        environ = Path(f"/proc/{supervisor.start().pid}/environ").read_bytes()
    finally:
        supervisor.stop()
    # glibc cuts the list into its entries where it lies
    assert (b"glibc.malloc.hugetlb=1" in environ) == asks
    assert before is None or before.encode() in environ


@pytest.mark.skipif(sys.platform != "linux", reason="GCC's OpenMP, read from /proc")
@pytest.mark.parametrize("before", [None, "GOMP_SPINCOUNT", "OMP_WAIT_POLICY"])
def test_the_workers_threads_wait_asleep_unless_told_otherwise(
    tandem_home: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    for name in ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY"):
        monkeypatch.delenv(name, raising=False)
    if before is not None:
        monkeypatch.setenv(before, "active" if before == "OMP_WAIT_POLICY" else "7")
    supervisor = Supervisor()
    try:
        environ = Path(f"/proc/{supervisor.start().pid}/environ").read_bytes()
    finally:
        supervisor.stop()
    assert (b"GOMP_SPINCOUNT=2000" in environ) == (before is None)
    assert b"GOMP_SPINCOUNT=7" in environ or before != "GOMP_SPINCOUNT"


def test_terminate_ends_it_too(tandem_home: Path) -> None:
    worker = make_worker(tandem_home)
    os.kill(worker.endpoint.pid, signal.SIGTERM)
    error = worker.supervisor.death(wait=15)
    assert error is not None
    assert error.details["exit_code"] == 0  # it ended in order, models freed
    assert worker.supervisor.endpoint is None


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_does_not(bare: Worker) -> None:
    os.kill(bare.endpoint.pid, signal.SIGINT)
    time.sleep(0.3)
    assert bare.ask("GET", "/health")[0] == 200


def test_a_killed_parent_leaves_no_orphan(tandem_home: Path) -> None:
    """The parent gets no chance to say anything: only the broken pipe tells the worker."""
    code = (
        "import sys, time\nfrom backend.supervisor import Supervisor\n"
        "s = Supervisor(); print(s.start().pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=Path(__file__).resolve().parent.parent.parent
    )
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    psutil.wait_procs([child], timeout=15)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_stop_and_restart(tandem_home: Path) -> None:
    supervisor = Supervisor()
    first = supervisor.start()
    assert supervisor.start() is first
    assert supervisor.death() is None
    second = supervisor.restart()
    assert second.pid != first.pid
    assert second.secret != first.secret
    assert not psutil.pid_exists(first.pid)
    supervisor.stop()
    supervisor.stop()
    assert not psutil.pid_exists(second.pid)
    assert supervisor.endpoint is None
    assert not list((tandem_home / "logs").glob("crash-*"))


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(
    ("number", "kind"), [(signal.SIGKILL, "killed"), (signal.SIGSEGV, "segfault"), (signal.SIGABRT, "assert")]
)
def test_the_reason_of_a_death(tandem_home: Path, number: int, kind: str) -> None:
    supervisor = Supervisor()
    endpoint = supervisor.start()
    os.kill(endpoint.pid, number)
    error = supervisor.death(wait=10)
    assert error is not None
    assert error.code is ErrorCode.WORKER_GONE
    assert error.details["kind"] == kind
    assert error.details["exit_code"] == -number
    if number != signal.SIGKILL:
        assert "Current thread" in error.details["crash"]  # faulthandler's stacks
    supervisor.stop()


def test_ggml_abort_leaves_its_last_words(tandem_home: Path) -> None:
    """A real GGML abort, raised through ggml's own function in a worker with the real hook."""
    code = (
        "import sys, backend.worker as w, backend.server.rig as rig\n"
        "start = rig.Rig.start\n"
        "def then_abort(self):\n"
        "    start(self)\n"
        "    from backend.engine import native\n"
        "    from ctypes import c_char_p, c_int\n"
        "    abort = native.bind('ggml_abort', [c_char_p, c_int, c_char_p, c_char_p], None)\n"
        "    abort(b'file.c', 12, b'GGML_ASSERT(%s) failed', b'n_batch')\n"
        "rig.Rig.start = then_abort\n"
        "sys.exit(w.main())\n"
    )
    supervisor = Supervisor(command=[sys.executable, "-c", code])
    supervisor.start()
    error = supervisor.death(wait=30)
    assert error is not None
    assert error.details["kind"] == "assert"
    assert "GGML_ASSERT(n_batch) failed" in error.details["crash"]
    supervisor.stop()


@pytest.mark.parametrize(
    ("code", "said", "kind"),
    [
        (0, "", "exit"),
        (1, "", "exit"),
        (1, "MemoryError", "oom"),
        (-6, "ggml-backend.cpp:1: GGML_ASSERT(x) failed", "assert"),
        (-6, "", "assert"),
        (-6, "CUDA error: an illegal memory access was encountered", "backend"),
        (-6, "ggml_backend_cuda_buffer_type_alloc_buffer: failed to allocate CUDA0 buffer of size 9", "oom"),
        (-6, "malloc(): corrupted top size", "heap"),
        (-11, "", "segfault"),
        (-7, "", "segfault"),
        (-9, "", "killed"),
        (-9, "failed to allocate buffer of size 12", "oom"),
        (-15, "", "stopped"),
        (0xC0000005, "", "segfault"),
        (-1073741819 & 0xFFFFFFFF, "", "segfault"),
        (0xC0000409, "", "assert"),
        (3, "", "assert"),
    ],
)
def test_classification(code: int, said: str, kind: str) -> None:
    assert classify(code, said) == kind


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        ("import sys; sys.stderr.write('no such library\\n'); sys.exit(1)", "worker_start_failed", "no such library"),
        ("print('hello')", "worker_start_failed", "not understood"),
        ("print('[1]')", "worker_start_failed", "not understood"),
        ('print(\'{"port": 1, "pid": 1, "protocol": 99}\')', "protocol_mismatch", "99"),
    ],
)
def test_a_worker_that_does_not_greet(tandem_home: Path, script: str, code: str, words: str) -> None:
    supervisor = Supervisor(command=[sys.executable, "-c", script])
    with pytest.raises(EngineError) as caught:
        supervisor.start()
    assert caught.value.code == code
    assert words in caught.value.message
    assert supervisor.endpoint is None


def test_a_worker_that_closes_its_output_and_runs_on_is_ended(
    tandem_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend.supervisor._EXIT_SECONDS", 0.2)
    mark = tandem_home.parent / "pid"
    script = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); os.close(1); time.sleep(60)"
    supervisor = Supervisor(command=[sys.executable, "-c", script])
    with pytest.raises(EngineError) as caught:
        supervisor.start()
    assert caught.value.code is ErrorCode.WORKER_START_FAILED
    assert not psutil.pid_exists(int(mark.read_text()))


def test_a_crash_file_holds_the_words_of_its_own_process_only(tmp_path: Path) -> None:
    old = tmp_path / "crash-7.log"
    old.write_text("GGML_ASSERT(n_batch) failed\n")
    with _open_crash_file(tmp_path, old) as file:
        file.write("new\n")
    assert old.read_text() == "new\n"


def test_a_command_that_does_not_exist(tandem_home: Path) -> None:
    with pytest.raises(EngineError, match="could not be started"):
        Supervisor(command=[str(tandem_home / "nothing")]).start()


def test_a_flood_on_stderr_does_not_block_the_worker(tandem_home: Path) -> None:
    code = (
        "import sys, backend.worker as w\n"
        "sys.stderr.write('x' * 500_000); sys.stderr.write('\\nline' * 100_000); sys.stderr.flush()\n"
        "sys.exit(w.main())\n"
    )
    supervisor = Supervisor(command=[sys.executable, "-c", code])
    supervisor.start()
    supervisor.stop()


def test_unwritable_log_folder(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    worker = make_worker(blocked / "home")
    assert worker.ask("GET", "/health")[0] == 200
    worker.supervisor.stop()
