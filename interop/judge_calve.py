"""Judges the calve command with engines its authors did not write, in both directions.

calve writes tables and every engine must read the rows of the input files from them, after the
first commit and after the third. PyIceberg writes tables and calve must read those. Spark and Sail
write table roots: calve must read them and write on, and so must they after calve. One line per
check. Started by interop/run, which installs the engines first.
"""

import argparse
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import traceback
from urllib.parse import quote

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

import check_calve_reads
import inputs
import judges
import layout
import make_pyiceberg
import make_roots

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def main() -> int:
    # Stopped from outside, it still stops its engines and cleans up.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    parser = argparse.ArgumentParser(prog="interop/run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calve", type=pathlib.Path, default=os.environ.get("CALVE_BIN"),
                        help="the binary to judge (default: $CALVE_BIN)")
    parser.add_argument("--venv", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--engine", action="append", help="only this one (again for more)")
    parser.add_argument("--direction", choices=["writes", "reads"], help="only one of the two")
    parser.add_argument("--scale", type=int, default=1, help="this many times the rows")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folder")
    args = parser.parse_args()
    if not args.calve or not os.access(args.calve, os.X_OK):
        parser.error(f"--calve or CALVE_BIN must name an executable, not {args.calve}")
    # Resolved: a table's location must be the folder that engines are pointed at.
    temp = pathlib.Path(tempfile.mkdtemp(prefix="calve-interop-")).resolve()
    report = judges.Report()
    try:
        calve = check_calve_reads.Calve(args.calve.resolve(), temp / "out")
        with judges.Judges(args.venv.resolve(), temp / "log", args.engine) as engines:
            if args.direction != "reads":
                calve_writes(calve, temp, engines, args.scale, report)
            if args.direction != "writes":
                calve_reads(calve, temp, args.scale, report)
                engines.each(lambda engine: engine.engine in judges.WRITERS
                             and roots_are_shared(calve, temp / engine.engine, engine, report))
    except Exception:
        report.check("interop", "ran to its end", traceback.format_exc())
    finally:
        if args.keep:
            print(f"kept {temp}")
        else:
            shutil.rmtree(temp, ignore_errors=True)
    return report.close()


def calve_writes(calve, temp: pathlib.Path, engines, scale: int, report) -> None:
    for table in inputs.make(temp / "in", DATA / "flights.parquet", scale):
        # Each table in a folder of its own kind, so that a stray file of one is seen.
        root = temp / "lake/air" / table.name
        destination = f"iceberg+local://{quote(str(root))}"
        if table.partition:
            destination += f"?partition={table.partition}"
        for times in (1, 2, 3):
            wrote = report.attempt(
                "calve", f"{table.name}: write number {times}",
                lambda d=destination, f=table.file: calve.run("write", d, f))
            if not wrote:
                break
            if times != 2:
                judge(calve, root, table, times, engines, report)
    other_formats(calve, temp, engines, report)


def judge(calve, root: pathlib.Path, table: inputs.Input, times: int, engines, report) -> None:
    version = times - 1
    label = f"{table.name} v{version}"
    layout.check(root, version, label, table.fields, report)
    engines.judge({"label": label, "root": str(root),
                   "metadata": str(root / f"metadata/v{version}.metadata.json"),
                   "source": str(table.file), "times": times, "filters": table.filters}, report)
    # And by calve itself, rows and not only counts for each filter.
    source = pq.read_table(table.file)
    made = make_pyiceberg.Made(
        f"its own {label}", root, root / f"metadata/v{version}.metadata.json",
        pa.concat_tables([source] * times), table.filters)
    check_calve_reads.check(calve, made, report)


def other_formats(calve, temp: pathlib.Path, engines, report) -> None:
    """A table made from Parquet takes CSV, JSON lines and Arrow IPC of the same columns."""
    root = temp / "lake/air/formats"
    first = pq.read_table(DATA / "flights.parquet")
    # The text samples are these rows, see scripts/make-flights.
    few = first.take(pa.array(range(0, 20_000, 100)))
    arrow = temp / "in/flights.arrow"
    pyarrow.feather.write_feather(few, arrow, compression="uncompressed")
    files = [DATA / "flights.parquet", DATA / "flights.csv", DATA / "flights.jsonl", arrow]
    for file in files:
        if not report.attempt("calve", f"formats: writes {file.suffix[1:]}",
                              lambda f=file: calve.run("write", f"iceberg+local://{root}", f)):
            return
    expected = temp / "in/formats.parquet"
    pq.write_table(pa.concat_tables([first, few, few, few]), expected)
    table = inputs.Input("formats", expected, None, inputs.FLIGHTS)
    version = len(files) - 1
    layout.check(root, version, "formats", (), report)
    engines.judge({"label": "formats", "root": str(root), "times": 1, "source": str(expected),
                   "metadata": str(root / f"metadata/v{version}.metadata.json"),
                   "filters": table.filters}, report)


def calve_reads(calve, temp: pathlib.Path, scale: int, report) -> None:
    for made in make_pyiceberg.make(temp / "pyiceberg", DATA / "flights.parquet", scale):
        check_calve_reads.check(calve, made, report)


def roots_are_shared(calve, temp: pathlib.Path, engine: judges.Judge, report) -> None:
    """The engine makes table roots, then calve and the engine append to each by turns."""
    made = engine.judge({"label": "its own roots", "make": str(temp),
                         "flights": str(DATA / "flights.parquet")}, report)
    for given in made:
        name, root, file = f"{engine.engine}'s {given['name']}", given["root"], given["expected"]
        snapshots = {i: pq.read_table(rows) for i, rows in given["snapshots"].items()}

        def reads(label, times, root=root, file=file, filters=given["filters"],
                  snapshots=snapshots):
            metadata = make_roots.current(pathlib.Path(root))
            expected = pa.concat_tables([pq.read_table(file)] * times)
            check_calve_reads.check(calve, make_pyiceberg.Made(
                label, pathlib.Path(root), metadata, expected, filters, snapshots), report)
            return metadata

        reads(name, 1)
        if not report.attempt("calve", f"{name}: appends",
                              lambda: calve.run("write", f"iceberg+local://{root}", file)):
            continue
        metadata = reads(f"{name} after calve", 2)
        engine.judge({"label": f"{name} after calve", "root": root, "metadata": str(metadata),
                      "source": file, "times": 2, "filters": given["filters"]}, report)
        engine.judge({"label": f"{name} after calve", "append": root, "source": file}, report)
        reads(f"{name} after both", 3)


if __name__ == "__main__":
    sys.exit(main())
