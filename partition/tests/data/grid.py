"""Writes grid.tsv, what Values.java reads: the questions of pyiceberg.jsonl and those that Python can't ask.

    python3 grid.py > grid.tsv
"""

import json

EXTREMES = [-(2**63), 2**63 - 1, -62135596800000001, 253402300800000000, 7827577896959999999, 7900000000000000000,
            -7850000000000000000]
TIME = ["year", "month", "day", "hour"]
MORE = [
    *[("timestamp", t, v) for t in [*TIME, "identity", "bucket[16]"] for v in EXTREMES],
    *[("timestamp_ns", t, v) for t in [*TIME, "bucket[16]"] for v in (-(2**63), 2**63 - 1)],
    *[("date", t, v) for t in ["year", "month", "day", "bucket[16]"] for v in (-(2**31) + 719528, 365000000, -719529, 2932897)],
    *[("timestamptz", "identity", v) for v in (0, -1, 1717200000000000, 1717200000123000, 1717200000123456, 1717200000120000, 253402300800000000)],
    *[("time", "identity", v) for v in (120000, 3600000000, 60000000, 1000000, 1000)],
    *[("timestamp_ns", "identity", v) for v in (0, -1, 1717200000000000001, 1717200000123000000, 1717200000123456000)],
    *[("int", "truncate[10000]", v) for v in (-(2**31), -(2**31) + 1)],
    *[("long", "truncate[10000]", v) for v in (-(2**63),)],
    ("decimal(7,3)", "truncate[10]", -9999999),
    *[("boolean", "identity", v) for v in ("true", "false")],
    *[(of, "identity", v) for of in ("float", "double") for v in (
        "0.0", "1.0", "-1.5", "100.0", "1.0E7", "9999999.0", "0.001", "9.99E-4", "1.0E10", "-1.2345E-7", "123456.79",
        "NaN", "Infinity", "-Infinity", "0.1", "10.25")],
    *[("decimal(38,10)", "identity", v) for v in (0, 1, -1, 12345, 10**10, -(10**37))],
    *[("string", "identity", v) for v in ("x/y", "ü", "", "a=b", "..", "a+b", "*-._~", "\U0001F600", "100%")],
]

rows = [json.loads(line) for line in open("pyiceberg.jsonl")]
rows = [(row["type"], row["transform"], row["value"]) for row in rows] + MORE
for of, transform, value in rows:
    print(of, transform, "\\N" if value is None else str(value).encode().hex(), sep="\t")
