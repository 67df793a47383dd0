"""Keeps one read_table.py process per engine, and counts what they say."""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
# Engine -> the virtual environment it lives in (pyspark and pyspark-client cannot share one).
ENGINES = {
    "pyiceberg": "base",
    "duckdb": "base",
    "clickhouse": "base",
    "polars": "base",
    "daft": "base",
    "spark": "spark",
    "sail": "sail",
}
# Those that write a table root with no catalog.
WRITERS = ("spark", "sail")


class Report:
    """One line per check, and a last line that cannot claim a pass without a check."""

    def __init__(self):
        self.passed, self.failed = 0, []
        self.lock = threading.Lock()

    def check(self, who: str, what: str, error: str | None) -> bool:
        with self.lock:
            if error is None:
                self.passed += 1
                print(f"ok {who} {what}", flush=True)
            else:
                self.failed.append(f"{who} {what}")
                shown = error.replace("\n", "\n    ")
                print(f"FAILED {who} {what}\n    {shown}", flush=True)
        return error is None

    def attempt(self, who: str, what: str, test) -> bool:
        """A check that is a function of ours: passes unless it raises."""
        try:
            test()
        except Exception as e:
            return self.check(who, what, f"{type(e).__name__}: {e}"[:4000])
        return self.check(who, what, None)

    def close(self) -> int:
        for line in self.failed:
            print(f"failed: {line}")
        print(f"{self.passed} passed, {len(self.failed)} failed", flush=True)
        if not self.passed and not self.failed:
            print("nothing was checked, which is a failure", flush=True)
            return 1
        return 1 if self.failed else 0


class Judge:
    """One engine in a process of its own; a crash of it is a failure, never a skip."""

    def __init__(self, engine: str, venvs: pathlib.Path, log: pathlib.Path, seconds: float = 300):
        self.engine, self.seconds, self.log = engine, seconds, log
        self.python = venvs / ENGINES[engine] / "bin/python"
        self.process = None
        self.spent = 0.0

    def start(self):
        start = time.monotonic()
        env = {**os.environ, "TZ": "UTC", "PYTHONDONTWRITEBYTECODE": "1",
               "DAFT_ANALYTICS_ENABLED": "0", "DO_NOT_TRACK": "1", "DAFT_PROGRESS_BAR": "0"}
        # Spark takes these before the interpreter it runs in.
        env.pop("SPARK_HOME", None)
        env["PYSPARK_PYTHON"] = str(self.python)
        self.process = subprocess.Popen(
            [self.python, HERE / "read_table.py", self.engine],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(self.log, "ab"),
            text=True, encoding="utf-8", env=env, cwd=self.log.parent,
        )
        self.answers(until="ready")
        self.spent += time.monotonic() - start

    def answers(self, until: str) -> list[dict]:
        """Answers up to the closing one; a silent or dead engine raises."""
        out = []
        timer = threading.Timer(self.seconds, self.process.kill)
        timer.start()
        try:
            for line in self.process.stdout:
                answer = json.loads(line)
                out.append(answer)
                if until in answer:
                    return out
        finally:
            timer.cancel()
        code = self.process.wait()
        tail = self.log.read_text(errors="replace")[-3000:]
        raise RuntimeError(
            f"{self.engine} ended with {code} (or was stopped after {self.seconds} s):\n{tail}")

    def ask(self, job: dict) -> list[dict]:
        """The checks of one job, as read_table.py answered them."""
        return self.tell(job)[0]

    def tell(self, job: dict) -> tuple[list[dict], list[dict]]:
        """The same, and the tables the job made."""
        if self.process is None or self.process.poll() is not None:
            self.start()
        self.process.stdin.write(json.dumps(job, default=str) + "\n")
        self.process.stdin.flush()
        *checks, done = self.answers(until="done")
        self.spent += done["seconds"]
        if done["checks"] != len(checks) or not checks:
            raise RuntimeError(f"{self.engine} made {done['checks']} checks, told {len(checks)}")
        return checks, done.get("made", [])

    def judge(self, job: dict, report: Report) -> list[dict]:
        """Reports the checks of a job; the tables it made."""
        try:
            checks, made = self.tell(job)
        except Exception as e:
            report.check(self.engine, f"{job['label']}: the engine ran", str(e))
            return []
        for c in checks:
            report.check(self.engine, c["check"], c["error"])
        return made

    def close(self) -> None:
        if self.process is None:
            return
        try:
            self.process.stdin.close()
            self.process.wait(30)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


class Judges:
    """All engines. A job goes to as many of them at a time as there are processors."""

    def __init__(self, venvs: pathlib.Path, log: pathlib.Path, only: list | None = None):
        log.mkdir(parents=True, exist_ok=True)
        for name in only or ():
            if name not in ENGINES:
                sys.exit(f"unknown engine {name}: one of {', '.join(ENGINES)}")
        self.engines = [Judge(n, venvs, log / f"{n}.log") for n in only or ENGINES]
        # The slow starter first.
        self.engines.sort(key=lambda e: e.engine != "spark")
        self.pool = ThreadPoolExecutor(max(1, min(4, os.cpu_count() or 1)))

    def each(self, do) -> None:
        """Calls `do(engine)` for every engine; what it raises is raised here."""
        for _ in self.pool.map(do, self.engines):
            pass

    def judge(self, job: dict, report: Report) -> None:
        self.each(lambda engine: engine.judge(job, report))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pool.shutdown(cancel_futures=True)
        for engine in self.engines:
            engine.close()
        print("seconds in engines: " + ", ".join(
            f"{e.engine} {e.spent:.0f}" for e in self.engines), flush=True)
