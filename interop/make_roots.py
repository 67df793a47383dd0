"""Table roots that Spark and Sail write with no catalog service, for calve to read and write on.

Called by read_table.py, in the environment of the engine, with its session. What the tables hold
is put together here with Arrow and kept beside them; nothing is read back from Iceberg.
"""

import pathlib
import re

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import inputs


class Roots:
    """What was made, as JSON can carry it, and the files the engine is given."""

    def __init__(self, session, folder: pathlib.Path, flights: pathlib.Path):
        self.sql, self.read = session.sql, session.read.parquet
        self.folder = folder
        self.flights = pq.read_table(flights)
        self.made, self.files = [], 0
        (folder / "rows").mkdir(parents=True)

    def file(self, table: pa.Table) -> str:
        self.files += 1
        file = self.folder / f"rows/{self.files}.parquet"
        pq.write_table(table, file)
        return str(file)

    def view(self, name: str, table: pa.Table) -> pa.Table:
        """Rows the engine's SQL can name."""
        self.read(self.file(table)).createOrReplaceTempView(name)
        return table

    def add(self, name: str, root: pathlib.Path, expected: pa.Table, filters=(), snapshots=None):
        """`snapshots`: the rows of earlier ones, by id."""
        self.made.append({
            "name": name, "root": str(root), "metadata": str(current(root)),
            "expected": self.file(expected), "filters": list(filters),
            "snapshots": {i: self.file(rows) for i, rows in (snapshots or {}).items()},
        })


def current(root: pathlib.Path) -> pathlib.Path:
    """The newest metadata file, as its name counts."""
    named = {int(m[1]): file for file in (root / "metadata").iterdir()
             if (m := re.fullmatch(r"v(\d+)(\.gz)?\.metadata\.json", file.name))}
    return named[max(named)]


def spark(session, folder: pathlib.Path, flights: pathlib.Path) -> list:
    """Through Iceberg's own Hadoop catalog."""
    for key, value in {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop",
                       ".warehouse": str(folder), ".cache-enabled": "false"}.items():
        session.conf.set(f"spark.sql.catalog.roots{key}", value)
    roots = Roots(session, folder, flights)
    for make in (zipped, first_format, evolved, types, deleted, housekept, branched):
        make(roots, f"roots.air.{make.__name__}", folder / f"air/{make.__name__}")
    return roots.made


def now(roots: Roots, table: str) -> int:
    rows = roots.sql(f"select snapshot_id from {table}.refs where name = 'main'").collect()
    return rows[0][0]


def zipped(roots: Roots, table: str, root: pathlib.Path):
    """Metadata files that are compressed, as `vN.gz.metadata.json`."""
    first = roots.view("first", roots.flights.slice(0, 1000))
    roots.sql(f"create table {table} using iceberg "
              "tblproperties ('write.metadata.compression-codec' = 'gzip') as select * from first")
    one = now(roots, table)
    second = roots.view("second", roots.flights.slice(1000, 100))
    roots.sql(f"insert into {table} select * from second")
    roots.add("zipped", root, pa.concat_tables([first, second]), inputs.FLIGHTS, {one: first})


def first_format(roots: Roots, table: str, root: pathlib.Path):
    """Version 1 of the format."""
    first = roots.view("first", roots.flights.slice(5000, 1000))
    roots.sql(f"create table {table} using iceberg partitioned by (origin) "
              "tblproperties ('format-version' = '1') as select * from first")
    one = now(roots, table)
    roots.sql(f"insert into {table} select * from first")
    roots.add("first_format", root, pa.concat_tables([first, first]), inputs.FLIGHTS, {one: first})


def evolved(roots: Roots, table: str, root: pathlib.Path):
    """A column renamed, one added, one widened, a partition field dropped and one added."""
    first = roots.view("first", roots.flights.slice(0, 3000).append_column(
        "number", pa.array(range(3000), pa.int32())))
    roots.sql(f"create table {table} using iceberg partitioned by (months(time_hour), origin) "
              "as select * from first")
    one = now(roots, table)
    for change in ("rename column carrier to airline", "add column note string after origin",
                   "alter column number type bigint", "drop partition field origin",
                   "add partition field bucket(4, flight)", "drop column tailnum"):
        roots.sql(f"alter table {table} {change}")
    names = ["airline" if n == "carrier" else n for n in first.column_names]

    def as_now(rows: pa.Table, notes: pa.Array) -> pa.Table:
        rows = rows.rename_columns(names).drop_columns("tailnum")
        at = rows.column_names.index("number")
        rows = rows.set_column(at, "number", rows["number"].cast(pa.int64()))
        return rows.add_column(rows.column_names.index("origin") + 1, "note", notes)

    second = as_now(first.slice(10, 200), pa.array([f"n{i % 5}" for i in range(200)]))
    roots.view("second", second)
    roots.sql(f"insert into {table} select * from second")
    old = as_now(first, pa.nulls(first.num_rows, pa.string()))
    roots.add("evolved", root, pa.concat_tables([old, second]), [
        [["origin", "=", "JFK"]],
        [["time_hour", "<", {"instant": "2013-01-02T12:00:00"}]],
        [["airline", "=", "UA"]],
        [["note", "is null"], ["number", "<", 50]],
        [["note", "=", "n3"]],
        [["number", ">=", 2**33]],
        [["flight", "=", 1545]],
    ], {one: first})


def types(roots: Roots, table: str, root: pathlib.Path):
    """Every type this engine has."""
    rows = roots.view("first", inputs.all_types(400))
    roots.sql(f"create table {table} using iceberg partitioned by (days(ts), bucket(16, id)) "
              "as select * from first")
    roots.add("types", root, rows, inputs.TYPES)


def deleted(roots: Roots, table: str, root: pathlib.Path):
    """Whole files deleted, others rewritten, some overwritten: what each snapshot held stays."""
    first = roots.view("first", roots.flights.slice(0, 5000))
    roots.sql(f"create table {table} using iceberg partitioned by (origin) as select * from first")
    snapshots = {now(roots, table): first}
    roots.sql(f"delete from {table} where origin = 'JFK'")
    rows = first.filter(pc.not_equal(first["origin"], "JFK"))
    snapshots[now(roots, table)] = rows
    roots.sql(f"delete from {table} where carrier = 'UA'")
    rows = rows.filter(pc.not_equal(rows["carrier"], "UA"))
    snapshots[now(roots, table)] = rows
    again = first.filter(pc.equal(first["origin"], "EWR")).slice(0, 20)
    roots.view("again", again)
    roots.sql(f"insert overwrite {table} partition (origin = 'EWR') "
              f"select {', '.join(n for n in first.column_names if n != 'origin')} from again")
    rows = pa.concat_tables([rows.filter(pc.not_equal(rows["origin"], "EWR")), again])
    roots.add("deleted", root, rows, inputs.FLIGHTS, snapshots)


def housekept(roots: Roots, table: str, root: pathlib.Path):
    """Files compacted, manifests rewritten, snapshots expired: the rows are the same."""
    rows = [roots.view(f"part{i}", roots.flights.slice(i * 5000, 700)) for i in range(6)]
    roots.sql(f"create table {table} using iceberg partitioned by (months(time_hour)) "
              "as select * from part0")
    for i in range(1, 6):
        roots.sql(f"insert into {table} select * from part{i}")
    roots.sql("call roots.system.rewrite_data_files(table => 'air.housekept', "
              "options => map('rewrite-all', 'true'))")
    roots.sql("call roots.system.rewrite_manifests('air.housekept')")
    roots.sql("call roots.system.expire_snapshots(table => 'air.housekept', "
              "older_than => timestamp '2099-01-01 00:00:00', retain_last => 1)")
    roots.add("housekept", root, pa.concat_tables(rows), inputs.FLIGHTS)


def branched(roots: Roots, table: str, root: pathlib.Path):
    """A branch with rows of its own beside main, and a tag: neither shows in main."""
    first = roots.view("first", roots.flights.slice(0, 300))
    roots.sql(f"create table {table} using iceberg as select * from first")
    one = now(roots, table)
    roots.sql(f"alter table {table} create tag start")
    roots.sql(f"alter table {table} create branch side")
    roots.sql(f"insert into {table}.branch_side select * from first")
    second = roots.view("second", roots.flights.slice(300, 40))
    roots.sql(f"insert into {table} select * from second")
    roots.add("branched", root, pa.concat_tables([first, second]), inputs.FLIGHTS, {one: first})


def sail(session, folder: pathlib.Path, flights: pathlib.Path) -> list:
    """By path: it needs no catalog."""
    roots = Roots(session, folder, flights)
    first, second = roots.flights.slice(0, 2000), roots.flights.slice(2000, 500)

    def appended(name: str, parts: list, *partition: str):
        for rows in parts:
            (roots.read(roots.file(rows)).write.format("iceberg").partitionBy(*partition)
             .mode("append").save(str(folder / name)))
        return pa.concat_tables(parts)

    roots.add("plain", folder / "plain", appended("plain", [first, second]), inputs.FLIGHTS)
    roots.add("parted", folder / "parted", appended("parted", [first, second], "origin"),
              inputs.FLIGHTS)
    types = inputs.all_types(400)
    roots.add("types", folder / "types", appended("types", [types]), inputs.TYPES)
    roots.sql(f"create table named (id bigint, name string) using iceberg "
              f"location '{folder}/named'")
    roots.sql("insert into named values (1, 'a'), (2, null)")
    roots.sql("insert into named values (3, 'c')")
    roots.sql("delete from named where id = 1")
    rows = pa.table({"id": [2, 3], "name": [None, "c"]})
    roots.add("named", folder / "named", rows, [[["id", "=", 2]], [["name", "is null"]]])
    return roots.made
