#!/usr/bin/env python3
"""Proves that the judges judge: right tables pass, wrong ones fail, in every engine.

The tables are written by PyIceberg and given the layout of a table root by hand, at its first
and at its third version. Then each engine is asked about rows that differ in one row, in one
value or in how often the file was appended, and every check that must fail has to.
"""

import argparse
import pathlib
import re
import shutil
import signal
import sys
import tempfile

import pyarrow as pa
import pyarrow.parquet as pq

import inputs
import judges


def main() -> int:
    # Stopped from outside, it still stops its engines and cleans up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parser = argparse.ArgumentParser(
        prog="interop/run --prove", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", type=pathlib.Path, required=True)
    parser.add_argument("--engine", action="append", help="only this one (again for more)")
    parser.add_argument("--quick", action="store_true", help="one table instead of four")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder")
    args = parser.parse_args()
    temp = pathlib.Path(tempfile.mkdtemp(prefix="calve-judges-"))
    report = judges.Report()
    try:
        with judges.Judges(args.venv.resolve(), temp / "log", args.engine) as engines:
            prove(temp, engines, args.quick, report)
    finally:
        if args.keep:
            print(f"kept {temp}")
        else:
            shutil.rmtree(temp, ignore_errors=True)
    return report.close()


def prove(temp: pathlib.Path, engines: judges.Judges, quick: bool, report) -> None:
    flights = pathlib.Path(__file__).resolve().parent.parent / "data/flights.parquet"
    for table in inputs.make(temp / "in", flights):
        if quick and table.name != "flights":
            continue
        if table.name == "types":
            without_null_lists_of_structs(table.file)
        for times in (1, 3):
            root = temp / f"hand-made/{table.name}_{times}"
            metadata = hand_made(temp / "catalog", root, table, times)
            job = {"label": f"{table.name} v{times - 1}", "root": str(root),
                   "metadata": str(metadata), "source": str(table.file), "times": times,
                   "filters": table.filters}
            engines.judge(job, report)
            if table.name != "flights" or times != 3:
                continue
            for what, changes in wrong(temp, table).items():
                changed = {**job, "filters": [], **changes}
                engines.each(lambda e, j=changed, w=what: must_fail(e, w, j, report))
    # A table that is not there must not pass as one without rows.
    none = {**job, "filters": [], "root": str(temp / "none"),
            "metadata": str(temp / "none/metadata/v0.metadata.json")}
    engines.each(lambda e: must_fail(e, "a missing table", none, report))


def without_null_lists_of_structs(file: pathlib.Path) -> None:
    """PyIceberg 0.12 writes such a null as an empty list: its tables can do without."""
    table = pq.read_table(file)
    i = table.column_names.index("legs")
    filled = [v or [] for v in table["legs"].to_pylist()]
    legs = pa.array(filled, table.schema.field("legs").type)
    pq.write_table(table.set_column(i, "legs", legs), file)


def wrong(temp: pathlib.Path, table: inputs.Input) -> dict:
    """Jobs that differ from the truth, each in one way."""
    once = pq.read_table(table.file)
    row = 777
    dropped = pa.concat_tables([once.slice(0, row), once.slice(row + 1)])
    i = once.column_names.index("arr_delay")
    delays = once["arr_delay"].to_pylist()
    delays[row] = None if delays[row] is not None else 1.0
    changed = once.set_column(i, "arr_delay", pa.array(delays, pa.float64()))
    swapped = once.rename_columns(
        [{"dep_time": "arr_time", "arr_time": "dep_time"}.get(n, n) for n in once.column_names])
    out = {"the wrong number of appends": {"times": 2}}
    for what, source in (("a row too many", dropped), ("a changed value", changed),
                         ("two swapped columns", swapped)):
        file = temp / "in" / f"{what}.parquet"
        pq.write_table(source, file)
        out[what] = {"source": str(file)}
    return out


def must_fail(engine: judges.Judge, what: str, job: dict, report: judges.Report) -> None:
    try:
        checks = engine.ask(job)
    except RuntimeError as e:
        report.check(engine.engine, f"notices {what}", f"the engine did not run: {e}")
        return
    # Counts may well agree: it is the rows that must not.
    whole = [c for c in checks if "all rows" in c["check"]]
    blind = [c["check"] for c in whole if c["error"] is None]
    error = f"noticed nothing: {blind}" if blind or not whole else None
    report.check(engine.engine, f"notices {what}", error)


def hand_made(warehouse: pathlib.Path, root: pathlib.Path, table: inputs.Input, times: int):
    """A table of `times` appends by PyIceberg, in the layout of a table root."""
    source = pq.read_table(table.file)
    made = pyiceberg_table(warehouse, f"{table.name}_{times}", source, table.partition, str(root))
    versions = []
    for _ in range(times):
        made.append(source)
        versions.append(pathlib.Path(made.metadata_location.removeprefix("file://")))
    folder = root / "metadata"
    texts = [v.read_bytes() for v in versions]
    uuids = [v.name.split("-", 1)[1] for v in versions]
    for old in folder.glob("*.metadata.json"):
        old.unlink()
    for n, (text, uuid) in enumerate(zip(texts, uuids)):
        (folder / f"{n:05}-{uuid}").write_bytes(text)
        (folder / f"v{n}.metadata.json").write_bytes(text)
    (folder / "version-hint.text").write_text(str(times - 1))
    return folder / f"v{times - 1}.metadata.json"


def pyiceberg_table(warehouse, name, source: pa.Table, partition: str | None, location: str):
    """An empty PyIceberg table for `source`, partitioned as the request of a destination URI."""
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.partitioning import PARTITION_FIELD_ID_START, PartitionField, PartitionSpec
    from pyiceberg.schema import assign_fresh_schema_ids
    from pyiceberg.transforms import parse_transform

    warehouse.mkdir(parents=True, exist_ok=True)
    catalog = SqlCatalog("hand", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=str(warehouse))
    catalog.create_namespace_if_not_exists("air")
    # Creation gives ids anew, by position; the partition fields below must already name those.
    schema = assign_fresh_schema_ids(catalog._convert_schema_if_needed(source.schema))
    fields = []
    for item in re.findall(r"[a-z]+\([^)]*\)|[a-z_]+", partition or ""):
        transform, column, suffix = "identity", item, ""
        if "(" in item:
            transform, inside = item[:-1].split("(")
            *width, column = inside.split(",")
            suffix = {"truncate": "_trunc"}.get(transform, f"_{transform}")
            transform += f"[{width[0]}]" if width else ""
        fields.append((column, transform, column + suffix))
    spec = PartitionSpec(*(
        PartitionField(
            source_id=schema.find_field(column).field_id,
            field_id=PARTITION_FIELD_ID_START + i,
            transform=parse_transform(transform), name=field_name)
        for i, (column, transform, field_name) in enumerate(fields)))
    return catalog.create_table(
        f"air.{name}", schema=schema, location=location, partition_spec=spec)


if __name__ == "__main__":
    sys.exit(main())
