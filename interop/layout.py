"""What lies in a table root that calve wrote, looked at file by file.

Engines forgive much: a missing copy, a wrong count nobody asked for, a bound that is too wide.
Here the folder is held against its documented layout, and what the manifests say of every data
file against the file itself.
"""

import datetime as dt
import json
import math
import pathlib
import re
import uuid

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


class Wrong(Exception):
    pass


def expect(given, wanted, what: str) -> None:
    if given != wanted:
        raise Wrong(f"{what} is {given!r}, expected {wanted!r}")


def folder(root: pathlib.Path, version: int) -> None:
    """The names and bytes in metadata/ after `version` + 1 commits."""
    metadata = root / "metadata"
    expect((metadata / "version-hint.text").read_bytes(), str(version).encode(),
           "version-hint.text")
    names = {p.name for p in metadata.iterdir()}
    for n in range(version + 1):
        commit = metadata / f"v{n}.metadata.json"
        text = commit.read_bytes()
        copies = [m for m in names if re.fullmatch(rf"{n:05}-{UUID}\.metadata\.json", m)]
        expect(len(copies), 1, f"number of copies of version {n} (of {sorted(names)})")
        expect((metadata / copies[0]).read_bytes() == text, True,
               f"{copies[0]} is the same bytes as v{n}.metadata.json: it")
        expect(uuid.UUID(copies[0][6:42]).version, 5, f"version of the uuid in {copies[0]}")
        names -= {commit.name, copies[0]}
    names.discard("version-hint.text")
    left = [n for n in names if not re.fullmatch(r"(snap-.*|.*-m\d+)\.avro", n)]
    expect(sorted(left), [], "anything else in metadata/")
    expect(sorted(p.name for p in root.iterdir()), ["data", "metadata"], "the table root's list")


def metadata(root: pathlib.Path, version: int, fields: tuple) -> None:
    """The table metadata of `version`."""
    table = json.loads((root / f"metadata/v{version}.metadata.json").read_text())
    expect(table["format-version"], 2, "format-version")
    location = table["location"].removeprefix("file://").rstrip("/")
    expect(location, str(root), "location")
    expect(len(table["snapshots"]), version + 1, "number of snapshots")
    expect(table["properties"].get("write.parquet.compression-codec"), "zstd",
           "write.parquet.compression-codec")
    (spec,) = [s for s in table["partition-specs"] if s["spec-id"] == table["default-spec-id"]]
    expect(tuple(f["name"] for f in spec["fields"]), fields, "partition fields")
    log = [pathlib.PurePath(e["metadata-file"]).name for e in table.get("metadata-log", [])]
    for n, name in enumerate(log):
        expect(bool(re.fullmatch(rf"{n:05}-{UUID}\.metadata\.json", name)), True,
               f"metadata-log entry {name} names the copy of version {n}: it")
    expect(len(log), version, "length of metadata-log")
    expect(table["refs"]["main"]["snapshot-id"], table["current-snapshot-id"], "main branch")
    expect(table["last-sequence-number"], version + 1, "last-sequence-number")


def data_files(root: pathlib.Path, version: int) -> None:
    """Every data file against its manifest entry, and every file in data/ against the table."""
    from pyiceberg.conversions import from_bytes
    from pyiceberg.table import StaticTable

    table = StaticTable.from_metadata(str(root / f"metadata/v{version}.metadata.json"))
    ids = table.schema()._lazy_id_to_field
    tops = {f.field_id: f for f in table.schema().fields}
    listed = set()
    entries = [task.file for task in table.scan().plan_files()]
    for file in entries:
        path = pathlib.Path(file.file_path.removeprefix("file://"))
        listed.add(path)
        name = path.relative_to(root)
        expect(path.stat().st_size, file.file_size_in_bytes, f"size of {name}")
        parquet = pq.ParquetFile(path)
        expect(parquet.metadata.num_rows, file.record_count, f"record_count of {name}")
        codec = parquet.metadata.row_group(0).column(0).compression
        expect(codec, "ZSTD", f"compression of {name}")
        data = parquet.read()
        for column in data.schema:
            number = int((column.metadata or {}).get(b"PARQUET:field_id", b"-1"))
            expect(number in tops and tops[number].name, column.name,
                   f"name of field id {number} in {name}")
        expect(len(data.schema), len(tops), f"number of columns in {name}")
        for number, column in tops.items():
            if column.field_type.is_primitive:
                statistics(file, column, data[column.name], f"{column.name} in {name}", from_bytes)
        for number in file.lower_bounds or {}:
            expect(number in ids, True, f"field id {number} with a bound in {name} is known: it")
    present = {p for p in (root / "data").rglob("*") if p.is_file()}
    expect(sorted(map(str, present - listed)), [], "files in data/ that no manifest names")
    if not entries:
        raise Wrong("the table has no data files")


def statistics(file, column, values: pa.ChunkedArray, where: str, from_bytes) -> None:
    number = column.field_id
    expect((file.value_counts or {}).get(number), len(values), f"value count of {where}")
    expect((file.null_value_counts or {}).get(number), values.null_count, f"null count of {where}")
    values = values.drop_null()
    if pa.types.is_floating(values.type):
        nan = pc.is_nan(values)
        expect((file.nan_value_counts or {}).get(number), pc.sum(nan).as_py() or 0,
               f"NaN count of {where}")
        values = values.filter(pc.invert(nan))
    lower = (file.lower_bounds or {}).get(number)
    upper = (file.upper_bounds or {}).get(number)
    if len(values) == 0:
        expect((lower, upper), (None, None), f"bounds of {where}, which has no values")
        return
    bounds = [None if b is None else from_bytes(column.field_type, b) for b in (lower, upper)]
    plain = [comparable(v) for v in values.to_pylist()]
    smallest, largest = min(plain), max(plain)
    if bounds[0] is None:
        raise Wrong(f"{where} has no lower bound")
    if bounds[1] is None:
        # Only what cannot be rounded up may go without: the last code point, 16 times over.
        if not (isinstance(largest, str) and set(largest[:16]) == {"\U0010ffff"}) and not (
            isinstance(largest, bytes) and set(largest[:16]) == {0xFF}
        ):
            raise Wrong(f"{where} has no upper bound")
        bounds[1] = largest
    low, high = bounds
    for bound in (low, high):
        if isinstance(bound, float) and math.isnan(bound):
            raise Wrong(f"{where}: a bound is NaN")
    if not low <= smallest or not largest <= high:
        raise Wrong(f"{where}: values from {smallest!r} to {largest!r} are outside the bounds "
                    f"{low!r} to {high!r}")
    if not isinstance(smallest, (str, bytes)) and (low, high) != (smallest, largest):
        raise Wrong(f"{where}: bounds {low!r} to {high!r} are not the values' own "
                    f"{smallest!r} to {largest!r}")


def comparable(value):
    """Values in the form in which PyIceberg gives bounds."""
    if isinstance(value, dt.datetime):
        zone = value.tzinfo and dt.timezone.utc
        return (value - dt.datetime(1970, 1, 1, tzinfo=zone)) // dt.timedelta(microseconds=1)
    if isinstance(value, dt.date):
        return (value - dt.date(1970, 1, 1)).days
    return value


def check(root: pathlib.Path, version: int, label: str, fields: tuple, report) -> None:
    report.attempt("layout", f"{label}: names and bytes in metadata/",
                   lambda: folder(root, version))
    report.attempt("layout", f"{label}: table metadata", lambda: metadata(root, version, fields))
    report.attempt("layout", f"{label}: data files and what the manifests say of them",
                   lambda: data_files(root, version))
