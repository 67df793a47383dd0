#!/usr/bin/env python3
"""Has DuckDB write tables through an Iceberg REST catalog, and calve read them by their roots.

DuckDB writes through a catalog only, and such a root belongs to that catalog: calve must read it
and must refuse to commit to it. One line per check; the exit code is 1 if any failed. The command
is told of the store by the environment, as the AWS tools are.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import check_calve_reads
import inputs
import judges
import make_pyiceberg
import read_table

FLIGHTS = pathlib.Path(__file__).resolve().parent.parent / "data/flights.parquet"


class Writer(read_table.DuckDB):
    def __init__(self, store: str, catalog: str, key: str, secret: str):
        super().__init__()
        self.db.execute(f"""create secret store (type s3, key_id '{key}', secret '{secret}',
            endpoint '{urlsplit(store).netloc}', use_ssl false, url_style 'path',
            region 'us-east-1')""")
        self.db.execute(f"""create secret owner (type iceberg, client_id '{key}',
            client_secret '{secret}', oauth2_server_uri '{catalog}/v1/oauth/tokens')""")
        self.db.execute(f"""attach 's3://warehouse' as warehouse (type iceberg,
            endpoint '{catalog}', secret owner, access_delegation_mode 'none', read_only false)""")
        self.db.execute("create schema warehouse.air")

    def write(self, name: str, parts: list) -> pa.Table:
        for i, rows in enumerate(parts):
            self.db.register("rows", rows)
            start = f"insert into warehouse.air.{name}" if i else f"create table warehouse.air.{name} as"
            self.db.execute(f"{start} select * from rows")
            self.db.unregister("rows")
        return pa.concat_tables(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calve", type=pathlib.Path, required=True)
    parser.add_argument("--catalog", required=True, help="address of the REST catalog")
    args = parser.parse_args()
    report = judges.Report()
    with tempfile.TemporaryDirectory(prefix="calve-duckdb-") as temp:
        calve = check_calve_reads.Calve(args.calve.resolve(), pathlib.Path(temp))
        writer = Writer(os.environ["AWS_ENDPOINT_URL_S3"], args.catalog,
                        os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"])
        flights = pq.read_table(FLIGHTS)
        tables = [
            ("flights", [flights.slice(0, 1000), flights.slice(1000, 500)], inputs.FLIGHTS),
            ("types", [without_negative_zero(inputs.all_types(400))], inputs.TYPES),
        ]
        for name, parts, filters in tables:
            judge(calve, name, writer.write(name, parts), filters, report)
    return report.close()


def without_negative_zero(table: pa.Table) -> pa.Table:
    """DuckDB's Parquet files may give both zeros one dictionary entry, and so lose the sign."""
    for i, field in enumerate(table.schema):
        if pa.types.is_floating(field.type):
            table = table.set_column(i, field.name, pc.add(table[i], pa.scalar(0, field.type)))
    return table


def judge(calve, name: str, expected: pa.Table, filters: list, report) -> None:
    root = f"s3://warehouse/air/{name}"
    metadata = json.loads(calve.run("inspect", root, "--json"))["metadata_file"]
    check_calve_reads.check(calve, make_pyiceberg.Made(
        f"DuckDB's {name}", root, metadata, expected, filters), report)

    def refused():
        calve.run("write", f"iceberg+file+{root}", FLIGHTS, code=2)

    report.attempt("calve", f"DuckDB's {name}: a root of a catalog takes no commit", refused)


if __name__ == "__main__":
    sys.exit(main())
