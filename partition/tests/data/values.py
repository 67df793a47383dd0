"""Writes partition values as PyIceberg computes them, one JSON object a line.

    python3 -m venv venv && venv/bin/pip install 'pyiceberg==0.12.0' pyiceberg-core==0.11.0
    venv/bin/python values.py > pyiceberg.jsonl

Values are in Iceberg's single-value JSON manner, except that integers, dates, times, timestamps
and unscaled decimals are decimal strings, and binaries hexadecimal ones. Python can't date every
instant; what it refuses is left out.
"""

import decimal
import json
import uuid
from decimal import Decimal

from pyiceberg.transforms import parse_transform
from pyiceberg.types import (
    BinaryType, DateType, DecimalType, FixedType, IntegerType, LongType, StringType,
    TimestampNanoType, TimestampType, TimestamptzNanoType, TimestamptzType, TimeType, UUIDType,
)

decimal.getcontext().prec = 60
HOUR, DAY = 3_600_000_000, 86_400_000_000
INTS = [0, 1, -1, 5, 9, 10, -9, -10, -11, 34, 99, 100, -100, 2**31 - 1, -(2**31), -(2**31) + 10000]
LONGS = INTS + [2**63 - 1, -(2**63), -(2**63) + 10000, 2**40 + 7, -(2**40) - 7]
# Leap days, turns of years and centuries, the ends of what Python can date.
DATES = [0, 1, -1, 58, 59, 60, 364, 365, -365, -366, 11016, 11017, 17486, 19782, 19783, 19875,
         -25509, -25508, -719162, 2932896, -141428, 47540, 47541]
MICROS = [d * DAY + t for d in DATES for t in (0, 1, HOUR - 1, HOUR, DAY - 1)] + [
    -1, 1510871468000000, 1510871468000001, -62135596800000000, 253402300799999999]
TIMES = [0, 1, 81068000000, DAY - 1]
STRINGS = ["", "a", "iceberg", "abc", "abcd", "ab\U0001F600cd", "\U0001F600\U0001F601\U0001F602\U0001F603",
           "\ud7ff\ue000", "\U0010FFFF" * 5, "ü\u0308", "日本語テキスト", "a b/c=d%+", "\0x", "e\u0301e\u0301e\u0301"]
BINARIES = [b"", b"\0", b"\x00\x01\x02\x03", b"\xff" * 9, b"\x80abc", bytes(range(40))]
UUIDS = [uuid.UUID(int=v) for v in (0, 1, 2**128 - 1, 2**127, 0xF79C3E09677C4BBDA479349CB785E7F0)] + [
    uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")]
DECIMALS = {
    (9, 2): [0, 1, -1, 1420, -50, -51, 1065, 999999999, -999999999 + 49, -128, 127, 128, -129],
    (18, 6): [0, -1, 123456789012345678, -123456789012345678, 2**40],
    (38, 0): [0, 1, -1, 10**38 - 1, -(10**38) + 10000, 2**63, -(2**63), -(2**63) - 1, 2**64],
    (38, 38): [1, 10**38 - 1, -5],
}
TIME_TRANSFORMS = ["year", "month", "day"]
BUCKETS = ["bucket[1]", "bucket[16]", "bucket[7]", "bucket[2147483647]"]
TRUNCATES = ["truncate[1]", "truncate[3]", "truncate[10]", "truncate[50]", "truncate[10000]"]

GRID = [
    (IntegerType(), INTS, ["identity", *BUCKETS, *TRUNCATES]),
    (LongType(), LONGS, ["identity", *BUCKETS, *TRUNCATES]),
    (DateType(), DATES, ["identity", *BUCKETS, *TIME_TRANSFORMS]),
    (TimeType(), TIMES, ["identity", *BUCKETS]),
    (TimestampType(), MICROS, ["identity", *BUCKETS, *TIME_TRANSFORMS, "hour"]),
    (TimestamptzType(), MICROS, ["bucket[16]", *TIME_TRANSFORMS, "hour"]),
    (TimestampNanoType(), [m * 1000 + n for m in MICROS if abs(m) < 2**63 // 1000 for n in (0, 1, 999)],
     ["bucket[16]", *TIME_TRANSFORMS, "hour"]),
    (TimestamptzNanoType(), [-1, -1000, -999, 0, 1510871468000001001], ["bucket[16]", *TIME_TRANSFORMS, "hour"]),
    (StringType(), STRINGS, ["identity", *BUCKETS, *TRUNCATES]),
    (BinaryType(), BINARIES, ["identity", *BUCKETS, *TRUNCATES]),
    (FixedType(4), [b"\x00\x01\x02\x03", b"\xff" * 4], ["identity", *BUCKETS]),
    (UUIDType(), UUIDS, ["identity", *BUCKETS]),
] + [
    (DecimalType(p, s), [Decimal(v).scaleb(-s) for v in values], ["identity", *BUCKETS, *TRUNCATES])
    for (p, s), values in DECIMALS.items()
]


def shown(value):
    if value is None:
        return None
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Decimal):
        return str(int(value.scaleb(-value.as_tuple().exponent)))
    return str(value)


def unscaled(value, of):
    """A decimal in its column's scale."""
    return value.quantize(Decimal(1).scaleb(-of.scale)) if isinstance(value, Decimal) else value


for of, values, transforms in GRID:
    for name in transforms:
        transform = parse_transform(name).transform(of)
        for value in [*values, None]:
            try:
                given = value.bytes if isinstance(value, uuid.UUID) and name != "identity" else value
                result = transform(given)
            except (OverflowError, ValueError):
                continue
            print(json.dumps({
                "type": str(of).replace(" ", ""), "transform": name,
                "value": shown(unscaled(value, of)), "result": shown(unscaled(result, of) if isinstance(of, DecimalType) else result),
            }))
