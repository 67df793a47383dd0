#!/usr/bin/env python3
"""Judges a table with one engine that calve's authors did not write.

    read_table.py ENGINE  <jobs.jsonl

Each line of standard input is a job: {"label", "root", "metadata", "source", "times",
"filters"}. The table must hold exactly the rows of the Parquet file `source`, `times` times,
and must give the number of rows that Arrow counts in `source` for each filter. It is opened by
its folder `root` and by the file `metadata`, where the engine can do that.

Two engines also write to folders with no catalog. A job {"label", "make", "flights"} has one make
tables in the folder `make` (see make_roots.py); its closing line lists them as "made". A job
{"label", "append", "source"} has it append the rows of the file `source` to the root `append`.

Each check is answered by one JSON line {"check", "error"} (null when it held), each job closed
by {"done": label, "checks": N, "seconds": S}. The exit code is 1 if any check failed, 2 if the engine could
not start. A process reads jobs until its input ends, so that a slow engine starts once.
"""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

os.environ["TZ"] = "UTC"

import filters  # noqa: E402
import make_roots  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
import rows  # noqa: E402


class Engine:
    """How one engine opens a table. Each `open` reads the table afresh."""

    # What it opens: "root" (the folder), "metadata" (one metadata.json file).
    ways = ("root", "metadata")
    # Limits of its type system, see rows.canonical; each with its reason.
    allow: frozenset = frozenset()
    # Filters it counts wrongly on right tables, PyIceberg's too, each with its defect. Such a
    # count must stay wrong: a pass is an error, so that the entry goes when the defect does.
    wrong: dict = {}

    def read(self, path: str, terms: list) -> pa.Table:
        raise NotImplementedError

    def count(self, path: str, terms: list) -> int:
        raise NotImplementedError

    def make(self, folder: pathlib.Path, flights: pathlib.Path) -> list:
        raise NotImplementedError

    def append(self, root: str, source: str) -> None:
        raise NotImplementedError

    def close(self) -> None:
        pass


class PyIceberg(Engine):
    # 0.12 loses the validity of a list whose elements are structs.
    allow = frozenset(["empty for null list of structs"])

    def scan(self, path, terms):
        from pyiceberg.table import StaticTable

        return StaticTable.from_metadata(path).scan(row_filter=filters.pyiceberg(terms))

    def read(self, path, terms):
        return self.scan(path, terms).to_arrow()

    def count(self, path, terms):
        return self.scan(path, terms).count()


class DuckDB(Engine):
    wrong = {"amount >= 0.10 and amount < 0.20":
             "internal error in pruning by truncate of a decimal"}

    def __init__(self):
        import duckdb

        self.db = duckdb.connect()
        self.db.execute("set TimeZone = 'UTC'")
        for name in ("avro", "httpfs", "iceberg"):  # in this order: iceberg needs avro
            module = __import__(f"duckdb_extension_{name}")
            folder = pathlib.Path(module.__file__).parent / "extensions" / f"v{duckdb.__version__}"
            self.db.execute(f"load '{folder}/{name}.duckdb_extension'")

    def read(self, path, terms):
        return self.query("*", path, terms).to_arrow_table()

    def count(self, path, terms):
        return self.query("count(*)", path, terms).fetchone()[0]

    def query(self, what, path, terms):
        where = f" where {filters.duckdb(terms)}" if terms else ""
        return self.db.sql(f"select {what} from iceberg_scan('{quoted(path)}'){where}")


class ClickHouse(Engine):
    # Arrays and maps cannot be null: null reads as empty. Binary and string are one type, so are
    # booleans and small integers, and a time without a zone is shown in the session's zone.
    allow = frozenset(["empty for null list", "fields for null struct", "integer for boolean",
                       "string for binary", "binary for string", "instant for wall clock"])
    wrong = {"born >= '1969-06-01' and born < '1970-06-01'":
             "prunes by year() before 1970 in the wrong year"}

    def __init__(self):
        # It opens files below the working directory only.
        os.chdir("/")

    def query(self, what, path, terms, form):
        import chdb

        where = f" where {filters.clickhouse(terms)}" if terms else ""
        path, named = pathlib.Path(path), ""
        if path.name.endswith(".metadata.json"):
            named = f", settings iceberg_metadata_file_path = 'metadata/{path.name}'"
            path = path.parent.parent
        return chdb.query(
            f"select {what} from icebergLocal('{quoted(str(path))}'{named}){where} settings "
            "use_iceberg_metadata_files_cache = 0, output_format_arrow_string_as_string = 1, "
            "output_format_arrow_compression_method = 'none'",
            form,
        )

    def read(self, path, terms):
        answer = self.query("*", path, terms, "Arrow").bytes()
        return pa.ipc.open_file(pa.py_buffer(answer)).read_all()

    def count(self, path, terms):
        return int(self.query("count()", path, terms, "TSV").data())


class Polars(Engine):
    def frame(self, path, terms):
        import polars as pl

        frame = pl.scan_iceberg(path)
        return frame.filter(filters.expression(terms, pl.col, pl.lit)) if terms else frame

    def read(self, path, terms):
        return self.frame(path, terms).collect().to_arrow()

    def count(self, path, terms):
        import polars as pl

        return self.frame(path, terms).select(pl.len()).collect().item()


class Daft(Engine):
    wrong = {"d = 0.0": "a file whose only zero is -0.0 is pruned"}

    def frame(self, path, terms):
        import daft

        frame = daft.read_iceberg(path)
        return frame.where(filters.expression(terms, daft.col, daft.lit)) if terms else frame

    def read(self, path, terms):
        return self.frame(path, terms).to_arrow()

    def count(self, path, terms):
        # count_rows() of a filter on an identity partition counts the whole table in 0.7: what a
        # scan gives is counted instead.
        frame = self.frame(path, terms)
        return frame.to_arrow().num_rows if terms else frame.count_rows()


class SparkSql(Engine):
    """What the two that speak Spark's language share."""

    def frame(self, path, terms):
        frame = self.spark.read.format("iceberg").load(path)
        return frame.where(filters.spark(terms)) if terms else frame

    def count(self, path, terms):
        return self.frame(path, terms).count()

    def append(self, root, source):
        self.spark.read.parquet(source).write.format("iceberg").mode("append").save(root)


class Spark(SparkSql):
    """Spark 3.5 with Iceberg's own Java library: the reference implementation."""

    wrong = {"d = 0.0": "a file whose only zero is -0.0 is pruned"}

    def __init__(self):
        import pyspark.sql
        import snowpark_connect_deps_iceberg as deps

        jars = pathlib.Path(deps.__file__).parent / "jars"
        (jar,) = jars.glob("iceberg-spark-runtime-3.5_2.12-*.jar")
        self.temp = tempfile.mkdtemp(prefix="calve-spark-")
        self.n = 0
        conf = {
            "spark.jars": str(jar),
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "2g",
            "spark.driver.extraJavaOptions": f"-Duser.timezone=UTC -Dderby.system.home={self.temp}",
            "spark.local.dir": self.temp,
            "spark.sql.warehouse.dir": f"{self.temp}/warehouse",
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
            "spark.sql.extensions":
                "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        }
        builder = pyspark.sql.SparkSession.builder.master("local[2]").appName("calve-interop")
        for key, value in conf.items():
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")

    def read(self, path, terms):
        # 3.5 gives no Arrow without pandas: through a Parquet file that Arrow reads.
        self.n += 1
        out = f"{self.temp}/{self.n}"
        self.frame(path, terms).write.parquet(out)
        return pq.read_table(out)

    def make(self, folder, flights):
        return make_roots.spark(self.spark, folder, flights)

    def close(self):
        self.spark.stop()
        shutil.rmtree(self.temp, ignore_errors=True)


class Sail(SparkSql):
    ways = ("root",)  # a metadata file is not a location to it

    def __init__(self):
        import pyspark.sql
        from pysail.spark import SparkConnectServer

        self.server = SparkConnectServer("127.0.0.1", 0)
        self.server.start(background=True)
        _, port = self.server.listening_address
        self.spark = pyspark.sql.SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
        self.spark.conf.set("spark.sql.session.timeZone", "UTC")

    def read(self, path, terms):
        return self.frame(path, terms).toArrow()

    def make(self, folder, flights):
        return make_roots.sail(self.spark, folder, flights)

    def close(self):
        self.spark.stop()
        self.server.stop()


ENGINES = {
    "pyiceberg": PyIceberg,
    "duckdb": DuckDB,
    "clickhouse": ClickHouse,
    "polars": Polars,
    "daft": Daft,
    "spark": Spark,
    "sail": Sail,
}


def quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace("'", "''")


def told(test) -> str | None:
    """What is wrong, or nothing."""
    try:
        test()
    except rows.Different as e:
        return str(e)
    except BaseException as e:  # an engine may raise anything, a panic included
        if isinstance(e, (KeyboardInterrupt, SystemExit)):
            raise
        return "".join(traceback.format_exception_only(e)).strip()[:2000]
    return None


def write(engine: Engine, job: dict, say) -> list:
    """Runs a job that writes; the tables it made."""
    made = []

    def run():
        if "make" in job:
            made.extend(engine.make(pathlib.Path(job["make"]), pathlib.Path(job["flights"])))
        else:
            engine.append(job["append"], job["source"])

    say({"check": f"{job['label']}: writes", "error": told(run)})
    return made


def judge(engine: Engine, job: dict, say) -> int:
    """Runs every check of one job; the number of checks made."""
    once = pq.read_table(job["source"])
    times = job["times"]
    expected = rows.canonical(rows.repeated(once, times), once.schema, engine.allow)
    checks = 0

    def check(what, test):
        nonlocal checks
        checks += 1
        say({"check": f"{job['label']} by {what}", "error": told(test)})

    def number(given, wanted):
        if given != wanted:
            raise rows.Different(f"counted {given}, expected {wanted}")

    def still_wrong(path, terms, wanted):
        try:
            given = engine.count(path, terms)
        except Exception:
            return
        if given == wanted:
            raise rows.Different(f"counted {given}, which is right: take it off the list")

    for way in engine.ways:
        path = job[way]

        def whole(path=path):
            given = rows.canonical(engine.read(path, []), once.schema, engine.allow)
            rows.same(given, expected, once.schema.names)

        check(f"{way}: all rows are those of the source", whole)
        check(f"{way}: count", lambda p=path: number(engine.count(p, []), once.num_rows * times))
        for terms in job["filters"]:
            wanted = filters.count(once, terms) * times
            what = filters.describe(terms)
            if what in engine.wrong:
                check(f"{way}: still wrong where {what} ({engine.wrong[what]})",
                      lambda p=path, t=terms, w=wanted: still_wrong(p, t, w))
            else:
                check(f"{way}: count where {what}",
                      lambda p=path, t=terms, w=wanted: number(engine.count(p, t), w))
    return checks


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] not in ENGINES:
        print(f"usage: read_table.py {{{'|'.join(ENGINES)}}} <jobs.jsonl", file=sys.stderr)
        return 2
    # Engines print to standard output at will: keep it for answers alone.
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    failed = 0

    def say(answer):
        nonlocal failed
        failed += bool(answer.get("error"))
        answers.write(json.dumps(answer) + "\n")

    try:
        engine = ENGINES[sys.argv[1]]()
    except BaseException:
        traceback.print_exc()
        return 2
    say({"ready": sys.argv[1]})
    for line in sys.stdin:
        job, start = json.loads(line), time.monotonic()
        closing = {"done": job["label"]}
        if "make" in job or "append" in job:
            closing |= {"checks": 1, "made": write(engine, job, say)}
        else:
            closing["checks"] = judge(engine, job, say)
        say(closing | {"seconds": time.monotonic() - start})
    engine.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
