"""The files calve writes from, how each table is partitioned, and what is asked of it."""

import datetime as dt
import pathlib
import random
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

UTC = dt.timezone.utc


@dataclass
class Input:
    name: str
    file: pathlib.Path
    # The query of the destination URI, without "partition=".
    partition: str | None
    filters: list
    # Names of the partition fields calve must have made.
    fields: tuple = ()


def make(folder: pathlib.Path, flights: pathlib.Path, scale: int = 1) -> list[Input]:
    """Writes the made-up files into `folder`; `scale` multiplies the rows of every input."""
    folder.mkdir(parents=True, exist_ok=True)
    if scale > 1:
        once = pq.read_table(flights)
        flights = folder / "flights.parquet"
        pq.write_table(pa.concat_tables([once] * scale), flights, compression="zstd")
    types, odd = folder / "types.parquet", folder / "odd.parquet"
    pq.write_table(all_types(400 * scale), types, row_group_size=150)
    pq.write_table(odd_names(scale), odd)
    return [
        Input("flights", flights, "month(time_hour),origin", FLIGHTS,
              ("time_hour_month", "origin")),
        Input("flights_plain", flights, None, FLIGHTS),
        Input("types", types, "day(ts),bucket(16,id)", TYPES, ("ts_day", "id_bucket")),
        Input("odd", odd, "name,truncate(10,amount),year(born)", ODD,
              ("name", "amount_trunc", "born_year")),
    ]


FLIGHTS = [
    [["origin", "=", "JFK"]],
    [["time_hour", "<", {"instant": "2013-02-01T00:00:00"}]],
    # Not on a month's edge, and across years: the file's last hours are 2014 in UTC.
    [["time_hour", ">=", {"instant": "2013-12-31T23:00:00"}]],
    [["time_hour", ">=", {"instant": "2013-05-31T22:00:00"}],
     ["time_hour", "<", {"instant": "2013-06-02T00:00:00"}], ["origin", "!=", "EWR"]],
    [["dep_delay", ">", 120.0], ["time_hour", "<", {"instant": "2013-02-01T00:00:00"}]],
    [["arr_delay", "is null"]],
    [["arr_delay", "is not null"], ["origin", "in", ["LGA", "EWR"]]],
    [["dep_delay", "<=", -10.0]],
    [["tailnum", "=", "N14228"]],
    [["dest", "=", "ZZZ"]],
]

TYPES = [
    [["id", "=", 7]],
    [["id", "in", [3, 5, 400]]],
    [["ts", "<", {"clock": "1970-01-01T00:00:00"}]],
    [["ts", ">=", {"clock": "1969-12-31T00:00:00"}], ["ts", "<", {"clock": "1970-01-01T00:00:00"}]],
    [["ts", "is null"]],
    [["tstz", ">", {"instant": "2020-01-01T00:00:00"}]],
    [["dec9", ">", {"decimal": "1.50"}]],
    # With as many places as the column: PyIceberg and Daft compare no other decimals.
    [["dec38", "<", {"decimal": "0.0000000000"}]],
    [["day", "<=", {"date": "1969-12-31"}]],
    [["flag", "=", True]],
    [["i", "<", 0], ["l", ">", 0]],
    # No upper end: engines do not agree on where NaN stands, and it must not matter here.
    [["d", "<", 0.5]],
    [["d", "=", 0.0]],
    [["f", "<=", -1.5]],
    [["s", "=", "ice \U0001f9ca berg"]],
    [["s", "is null"]],
    [["s", ">=", "é"]],
]

ODD = [
    [["name", "=", "a b/c"]],
    [["name", "=", "50% + ü=ä&?#"]],
    [["name", "=", "\U0001f9ad seal"]],
    [["name", "=", ""]],
    [["name", "is null"]],
    [["amount", "<", {"decimal": "0.00"}]],
    [["amount", ">=", {"decimal": "0.10"}], ["amount", "<", {"decimal": "0.20"}]],
    [["born", "<", {"date": "1970-01-01"}]],
    [["born", ">=", {"date": "1969-06-01"}], ["born", "<", {"date": "1970-06-01"}]],
    [["n", ">", 20]],
]


def all_types(rows: int) -> pa.Table:
    """Every basic type and nesting, nulls everywhere, and the values that break things."""
    pick = random.Random(20130101)

    def column(type_, make, edge=(), nulls=0.15):
        values = [None if pick.random() < nulls else make(i) for i in range(rows)]
        values[: len(edge)] = edge
        pick.shuffle(values)
        return pa.array(values, type_)

    def clock(i):
        # Six days around the epoch, so that day(ts) has few values, both signs and odd micros.
        micros = pick.randrange(-3 * 86_400_000_000, 3 * 86_400_000_000)
        return dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=micros)

    def instant(i):
        return dt.datetime(1950 + i % 100, 1 + i % 12, 1 + i % 28, i % 24, tzinfo=UTC) + (
            dt.timedelta(microseconds=pick.randrange(1_000_000)))

    def text(i):
        words = ["glacier", "ice \U0001f9ca berg", "\U0001d4b8alve", "schön", "ﾊｰｹﾞﾝ", "", " ", "é",
                 "nul\u0000inside", "\uffff", "x" * 70 + str(i), "\U0010ffff" * 20, 'quote"\'\\']
        return pick.choice(words)

    ids = list(range(rows))
    pick.shuffle(ids)
    return pa.table({
        "id": pa.array(ids, pa.int64()),
        "flag": column(pa.bool_(), lambda i: i % 3 == 0),
        "i": column(pa.int32(), lambda i: pick.randrange(-100, 100), [2**31 - 1, -(2**31)]),
        "l": column(pa.int64(), lambda i: pick.randrange(-10**12, 10**12), [2**63 - 1, -(2**63)]),
        "f": column(pa.float32(), lambda i: (i % 41 - 20) / 4,
                    [float("nan"), -0.0, 0.0, float("inf"), -float("inf")]),
        "d": column(pa.float64(), lambda i: (i % 97 - 48) / 8,
                    [float("nan"), -0.0, 0.0, float("inf"), 5e-324, 1.7976931348623157e308]),
        "dec9": column(pa.decimal128(9, 2), lambda i: Decimal(pick.randrange(-50000, 50000)) / 100,
                       [Decimal("9999999.99"), Decimal("-9999999.99")]),
        "dec38": column(pa.decimal128(38, 10), lambda i: Decimal(pick.randrange(-10**9, 10**9)),
                        [Decimal("9" * 28 + "." + "9" * 10), Decimal("-" + "9" * 28 + ".5")]),
        "day": column(pa.date32(), lambda i: dt.date(1970, 1, 1) + dt.timedelta(i * 7 - 700),
                      [dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(1900, 1, 1)]),
        "ts": column(pa.timestamp("us"), clock,
                     [dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(1970, 1, 1)]),
        "tstz": column(pa.timestamp("us", "UTC"), instant),
        "s": column(pa.string(), text),
        "b": column(pa.binary(), lambda i: bytes([i % 256, 255, 0]) * (i % 4)),
        "tags": column(pa.list_(pa.string()), lambda i: [
            None if (i + k) % 5 == 0 else f"tag{k}" for k in range(i % 4)]),
        "at": column(pa.struct([("lat", pa.float64()), ("name", pa.string()),
                                ("inner", pa.struct([("n", pa.int32())]))]),
                     lambda i: {"lat": i / 2, "name": None if i % 4 == 0 else f"p{i}",
                                "inner": None if i % 5 == 0 else {"n": i if i % 3 else None}}),
        "props": column(pa.map_(pa.string(), pa.int64()), lambda i: [
            (f"k{k}", None if (i + k) % 6 == 0 else i * k) for k in range(i % 3)]),
        "legs": column(pa.list_(pa.struct([("to", pa.string()), ("km", pa.int32())])),
                       lambda i: [{"to": f"s{k}", "km": None if k else i} for k in range(i % 3)]),
        "nothing": pa.nulls(rows, pa.string()),
    })


def odd_names(scale: int) -> pa.Table:
    """Partition values that need care in a path, and transforms on both sides of zero."""
    names = ["a b/c", "50% + ü=ä&?#", "\U0001f9ad seal", "", None, "plain", "null", "..",
             'say "ice"', "tab\there"]
    n = 40 * scale
    return pa.table({
        "n": pa.array(range(n), pa.int32()),
        "name": pa.array([names[i % len(names)] for i in range(n)], pa.string()),
        "amount": pa.array([None if i % 11 == 0 else Decimal((i % 40) * 3 - 55) / 100
                            for i in range(n)], pa.decimal128(9, 2)),
        "born": pa.array([None if i % 13 == 0 else dt.date(1968 + i % 4, 1 + i % 12, 1 + i % 28)
                          for i in range(n)], pa.date32()),
    })
