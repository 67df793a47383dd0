"""Tables that PyIceberg writes, for calve to read, with the rows each must give.

PyIceberg only makes the tables. What they hold is kept beside it as Arrow tables, put together
here and never read back from Iceberg.
"""

import datetime as dt
import gzip
import pathlib
from dataclasses import dataclass, field
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import inputs


@dataclass
class Made:
    name: str
    root: pathlib.Path
    metadata: pathlib.Path
    # The rows of the current snapshot, in the current schema.
    expected: pa.Table
    filters: list
    # Rows of earlier snapshots, by id, in the schema of that snapshot.
    snapshots: dict = field(default_factory=dict)


class Maker:
    def __init__(self, folder: pathlib.Path):
        from pyiceberg.catalog.sql import SqlCatalog

        folder.mkdir(parents=True)
        self.folder = folder
        self.catalog = SqlCatalog("local", uri=f"sqlite:///{folder}/catalog.db",
                                  warehouse=f"file://{folder}/warehouse")
        self.catalog.create_namespace("lake")

    def table(self, name: str, schema: pa.Schema, partition: list = (), **properties):
        """An empty table; `partition` as (column, transform, name)."""
        made = self.catalog.create_table(f"lake.{name}", schema=schema, properties=properties)
        if partition:
            with made.update_spec() as spec:
                for column, transform, field_name in partition:
                    spec.add_field(column, transform, field_name)
        return made

    def made(self, table, expected: pa.Table, filters: list, snapshots=None) -> Made:
        metadata = pathlib.Path(table.metadata_location.removeprefix("file://"))
        return Made(table.name()[-1], metadata.parent.parent, metadata, expected, filters,
                    snapshots or {})


def make(folder: pathlib.Path, flights: pathlib.Path, scale: int = 1) -> list[Made]:
    maker = Maker(folder)
    return [
        types(maker, scale),
        plain(maker, flights),
        evolved(maker),
        respecced(maker),
        rewritten(maker, flights),
        empty(maker),
    ]


def types(maker: Maker, scale: int) -> Made:
    """Every type, by day(ts) and bucket(16, id), in several appends."""
    from pyiceberg.transforms import BucketTransform, DayTransform

    rows = inputs.all_types(400 * scale)
    # 0.12 writes a null list of structs as an empty one.
    i = rows.column_names.index("legs")
    rows = rows.set_column(i, rows.schema.field(i), pa.array(
        [v or [] for v in rows["legs"].to_pylist()], rows.schema.field(i).type))
    table = maker.table("types", rows.schema, [
        ("ts", DayTransform(), "ts_day"), ("id", BucketTransform(16), "id_bucket")])
    snapshots, third = {}, rows.num_rows // 3
    for start in range(0, rows.num_rows, third):
        table.append(rows.slice(start, third))
        snapshots[table.current_snapshot().snapshot_id] = rows.slice(0, start + third)
    return maker.made(table, rows, inputs.TYPES + [
        [["d", "<=", 1.5], ["f", ">=", -2.0], ["flag", "is not null"]],
        [["s", "in", ["schön", "é", 'quote"\'\\']]],
        [["s", "<", "b"]],
        [["dec9", "=", {"decimal": "9999999.99"}]],
        [["tstz", "<=", {"instant": "1970-01-01T00:00:00"}]],
    ], snapshots)


def plain(maker: Maker, flights: pathlib.Path) -> Made:
    """Unpartitioned, several row groups in a file, its metadata files compressed afterwards."""
    rows = pq.read_table(flights)
    table = maker.table("plain", rows.schema, **{"write.parquet.row-group-limit": "5000"})
    table.append(rows)
    first = table.current_snapshot().snapshot_id
    table.append(rows.slice(0, 1000))
    made = maker.made(table, pa.concat_tables([rows, rows.slice(0, 1000)]), inputs.FLIGHTS,
                      {first: rows})
    # The names Java gives to gzip metadata; PyIceberg reads them and writes none.
    for file in (made.root / "metadata").glob("*.metadata.json"):
        zipped = file.with_name(file.name.replace(".metadata.json", ".gz.metadata.json"))
        zipped.write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
        if file == made.metadata:
            made.metadata = zipped
    return made


def evolved(maker: Maker) -> Made:
    """Columns renamed, added, widened, moved and dropped between appends."""
    from pyiceberg.types import DoubleType, LongType, StringType

    old = pa.table({
        "id": pa.array(range(20), pa.int32()),
        "name": pa.array([None if i % 4 == 0 else f"n{i}" for i in range(20)]),
        "ratio": pa.array([i / 4 for i in range(20)], pa.float32()),
        "gone": pa.array(["x"] * 20),
        "spot": pa.array([{"x": i, "y": f"y{i}"} for i in range(20)],
                         pa.struct([("x", pa.int32()), ("y", pa.string())])),
    })
    table = maker.table("evolved", old.schema)
    table.append(old)
    first = table.current_snapshot().snapshot_id
    with table.update_schema() as change:
        change.rename_column("name", "title")
        change.update_column("id", LongType())
        change.update_column("ratio", DoubleType())
        change.delete_column("gone")
        change.add_column("note", StringType())
        change.add_column(("spot", "z"), DoubleType())
    # A new column under the name of the dropped one is another column.
    with table.update_schema() as change:
        change.add_column("gone", LongType())
        change.move_first("title")
    new = pa.table({
        "title": pa.array(["t0", None, "t2"]),
        "id": pa.array([2**40, 5, -(2**40)], pa.int64()),
        "ratio": pa.array([0.1, 2.5, None], pa.float64()),
        "spot": pa.array([{"x": 1, "y": "a", "z": 0.5}, None, {"x": None, "y": None, "z": None}],
                         pa.struct([("x", pa.int32()), ("y", pa.string()), ("z", pa.float64())])),
        "note": pa.array(["new", None, "ü"]),
        "gone": pa.array([1, None, 3], pa.int64()),
    })
    table.append(new)
    expected = pa.concat_tables([new, pa.table({
        "title": old["name"],
        "id": old["id"].cast(pa.int64()),
        "ratio": old["ratio"].cast(pa.float64()),
        "spot": pa.array([{**v, "z": None} for v in old["spot"].to_pylist()],
                         new.schema.field("spot").type),
        "note": pa.nulls(20, pa.string()),
        "gone": pa.nulls(20, pa.int64()),
    })])
    return maker.made(table, expected, [
        [["title", "=", "n7"]],
        [["title", "is null"]],
        [["id", "=", 5]],
        # No 32-bit file value can be above this, and none may be lost below it.
        [["id", "<", 2**33]],
        [["id", ">", 2**33]],
        [["id", "!=", 2**33]],
        [["ratio", ">=", 2.5]],
        [["note", "is null"]],
        [["note", "!=", "new"]],
        [["gone", "is not null"]],
        [["gone", "is null"], ["id", ">=", 10]],
    ], {first: old})


def respecced(maker: Maker) -> Made:
    """A partition spec that changed between appends: files of two specs in one table."""
    from pyiceberg.transforms import IdentityTransform, MonthTransform, TruncateTransform

    def rows(start):
        n = range(start, start + 30)
        return pa.table({
            "n": pa.array(n, pa.int64()),
            "kind": pa.array([["a b", "ü/%", None, "z"][i % 4] for i in n]),
            "at": pa.array([None if i % 7 == 0 else
                            dt.datetime(1969 + i % 3, 1 + i % 12, 1, tzinfo=inputs.UTC)
                            for i in n], pa.timestamp("us", "UTC")),
            "price": pa.array([Decimal(i * 7 - 150) / 100 for i in n], pa.decimal128(12, 2)),
        })

    first, second = rows(0), rows(30)
    table = maker.table("respecced", first.schema, [("at", MonthTransform(), "at_month")])
    table.append(first)
    one = table.current_snapshot().snapshot_id
    with table.update_spec() as spec:
        spec.remove_field("at_month")
        spec.add_field("kind", IdentityTransform(), "kind")
        spec.add_field("price", TruncateTransform(50), "price_trunc")
    table.append(second)
    return maker.made(table, pa.concat_tables([first, second]), [
        [["kind", "=", "ü/%"]],
        [["kind", "is null"]],
        [["kind", "!=", "z"]],
        [["at", "<", {"instant": "1970-01-01T00:00:00"}]],
        [["at", ">=", {"instant": "1969-12-01T00:00:00"}],
         ["at", "<", {"instant": "1970-02-15T00:00:00"}]],
        [["price", "<", {"decimal": "0.00"}]],
        [["price", ">=", {"decimal": "0.49"}], ["price", "<", {"decimal": "1.01"}]],
        [["n", ">=", 45]],
    ], {one: first})


def rewritten(maker: Maker, flights: pathlib.Path) -> Made:
    """Rows deleted and overwritten by rewriting files: manifests with deleted entries."""
    from pyiceberg.expressions import EqualTo
    from pyiceberg.transforms import IdentityTransform

    rows = pq.read_table(flights).slice(0, 3000)
    table = maker.table("rewritten", rows.schema, [("origin", IdentityTransform(), "origin")])
    table.append(rows)
    first = table.current_snapshot().snapshot_id
    table.delete(EqualTo("carrier", "UA"))
    left = rows.filter(pc.not_equal(rows["carrier"], "UA"))
    second = table.current_snapshot().snapshot_id
    jfk = rows.filter(pc.equal(rows["origin"], "JFK")).slice(0, 10)
    table.overwrite(jfk, EqualTo("origin", "JFK"))
    expected = pa.concat_tables([left.filter(pc.not_equal(left["origin"], "JFK")), jfk])
    return maker.made(table, expected, inputs.FLIGHTS + [[["carrier", "=", "UA"]]],
                      {first: rows, second: left})


def empty(maker: Maker) -> Made:
    """Created, never written to: no snapshot, and still a schema."""
    schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
    table = maker.table("empty", schema)
    return maker.made(table, schema.empty_table(), [[["a", ">", 1]]])
