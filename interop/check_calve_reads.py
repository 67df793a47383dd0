"""Has calve scan tables that others wrote, and compares rows, counts and choices."""

import itertools
import json
import pathlib
import subprocess

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import filters
import judges
import make_pyiceberg
import rows


class Calve:
    """The command under test."""

    def __init__(self, binary: pathlib.Path, folder: pathlib.Path):
        self.binary, self.folder, self.files = binary, folder, itertools.count(1)
        folder.mkdir(parents=True, exist_ok=True)

    def run(self, *args: str, code: int = 0) -> str:
        """Standard output; an exit code other than `code` raises with what it said."""
        done = subprocess.run([self.binary, *map(str, args)], capture_output=True, text=True,
                              encoding="utf-8", timeout=300, stdin=subprocess.DEVNULL)
        if done.returncode != code:
            said = (done.stderr or done.stdout).strip()[:1500]
            raise rows.Different(f"calve {' '.join(map(str, args))}\n  ended with "
                                 f"{done.returncode}, expected {code}: {said}")
        return done.stdout

    def scan(self, table, *args: str) -> pa.Table:
        file = self.folder / f"{next(self.files)}.parquet"
        self.run("scan", table, "--output", file, *args)
        return pq.read_table(file)

    def scan_json(self, table, *args: str) -> list[dict]:
        """Rows of `--json`: one object per line, or one array."""
        text = self.run("scan", table, "--json", *args).strip()
        if text.startswith("["):
            return json.loads(text)
        out = [json.loads(line) for line in text.splitlines()]
        if len(out) == 1 and isinstance(out[0].get("rows"), list):
            return out[0]["rows"]
        return out


def check(calve: Calve, made: make_pyiceberg.Made, report: judges.Report) -> None:
    like = made.expected.schema

    def same(given: pa.Table, wanted: pa.Table, schema=like):
        if given.column_names != schema.names:
            raise rows.Different(f"columns are {given.column_names}, expected {schema.names}")
        rows.same(rows.canonical(given, schema), rows.canonical(wanted, schema), schema.names)

    for way, table in (("root", made.root), ("metadata", made.metadata)):
        def attempt(what, test, way=way):
            report.attempt("calve", f"{made.name} by {way}: {what}", test)

        attempt("all rows are those its writer was given",
                lambda t=table: same(calve.scan(t), made.expected))
        for terms in made.filters:
            where = filters.calve(terms)
            attempt(f"rows where {where}", lambda t=table, w=where, terms=terms: same(
                calve.scan(t, "--where", w), filters.kept(made.expected, terms)))
        for n, (snapshot, wanted) in enumerate(made.snapshots.items()):
            attempt(f"rows of snapshot {n}", lambda t=table, s=snapshot, w=wanted: same(
                calve.scan(t, "--snapshot-id", s), w, w.schema))

    names = like.names
    chosen = [names[-1], names[0]]
    renamed = [f"{names[-1]} to", names[0]]

    def select():
        given = calve.scan(made.root, "--select", ",".join(chosen))
        same(given, made.expected.select(chosen), pa.schema([like.field(n) for n in chosen]))

    def rename():
        schema = pa.schema([like.field(n).with_name(m) for n, m in zip(chosen, renamed)])
        given = calve.scan(made.root, "--select", ",".join(chosen),
                           "--rename", f"{chosen[0]}={renamed[0]}")
        same(given, made.expected.select(chosen).rename_columns(renamed), schema)

    def limit():
        wanted = min(7, made.expected.num_rows)
        given = calve.scan(made.root, "--limit", "7")
        if given.num_rows != wanted:
            raise rows.Different(f"{given.num_rows} rows, expected {wanted}")
        over = rows.canonical(given, like) - rows.canonical(made.expected, like)
        if over:
            raise rows.Different(f"rows that the table lacks: {over}")

    def as_json():
        given = calve.scan_json(made.root)
        if len(given) != made.expected.num_rows:
            raise rows.Different(f"{len(given)} rows, expected {made.expected.num_rows}")
        plain = [f.name for f in like if rows.kind(f.type) in ("integer", "string")]
        seen = sorted(repr([r.get(n) for n in plain]) for r in given)
        wanted = sorted(repr([r[n] for n in plain])
                        for r in made.expected.select(plain).to_pylist())
        if seen != wanted:
            raise rows.Different(f"columns {plain} differ in JSON")

    report.attempt("calve", f"{made.name}: --select in the asked order", select)
    report.attempt("calve", f"{made.name}: --rename", rename)
    report.attempt("calve", f"{made.name}: --limit", limit)
    report.attempt("calve", f"{made.name}: --json", as_json)
