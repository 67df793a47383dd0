#!/usr/bin/env python3
"""Opens table roots with PyIceberg, as somebody would who has only their folder.

    open_roots.py [KEY=VALUE]...  <jobs.jsonl

Each line of standard input is a job {"run", "open", "uuid", "snapshots"}: `open` is a root or one
metadata file, and must be the table of that uuid, its current snapshot one of `snapshots` (null: none),
every manifest list of it readable. The arguments are properties of the store. What is not so is printed,
then "N opened"; the exit code is 1 if anything was printed before that.
"""

import json
import sys

from pyiceberg.table import StaticTable


def complaint(job: dict, properties: dict) -> str | None:
    table = StaticTable.from_metadata(job["open"], properties)
    if str(table.metadata.table_uuid) != job["uuid"]:
        return f"is table {table.metadata.table_uuid}, expected {job['uuid']}"
    current = table.current_snapshot()
    current = current and current.snapshot_id
    if current not in job["snapshots"]:
        return f"is at snapshot {current}, expected one of {job['snapshots']}"
    for snapshot in table.metadata.snapshots:
        for manifest in snapshot.manifests(table.io):
            manifest.fetch_manifest_entry(table.io)
    return None


def main() -> int:
    properties = dict(argument.split("=", 1) for argument in sys.argv[1:])
    opened = failed = 0
    for line in sys.stdin:
        job = json.loads(line)
        try:
            error = complaint(job, properties)
        except Exception as e:  # whatever a reader may raise
            error = f"{type(e).__name__}: {e}"
        if error:
            failed += 1
            print(f"{job['run']}: {job['open']} {error}")
        opened += 1
    print(f"{opened} opened")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
