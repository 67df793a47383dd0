//! Text for people: fields, tables, sizes.

use std::io::{self, Write};

use serde_json::Value;

/// `name  value`, one a line, values aligned.
pub(crate) fn fields(out: &mut impl Write, fields: &[(&str, Value)]) -> io::Result<()> {
    let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in fields {
        writeln!(out, "{name:width$}  {}", plain(value))?;
    }
    Ok(())
}

/// Rows under headers, columns as wide as they need; numbers to the right.
pub(crate) fn table(out: &mut impl Write, headers: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let wide = |text: &str| text.chars().count();
    let mut widths: Vec<usize> = headers.iter().map(|h| wide(h)).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(wide(cell));
        }
    }
    let numeric: Vec<bool> = (0..headers.len())
        .map(|i| {
            !rows.is_empty()
                && rows.iter().all(|r| r[i].chars().all(|c| c.is_ascii_digit() || "-.".contains(c)))
        })
        .collect();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| -> io::Result<()> {
        let padded: Vec<String> = cells
            .enumerate()
            .map(|(i, cell)| {
                let gap = " ".repeat(widths[i].saturating_sub(wide(cell)));
                if numeric[i] { format!("{gap}{cell}") } else { format!("{cell}{gap}") }
            })
            .collect();
        writeln!(out, "  {}", padded.join("  ").trim_end())
    };
    line(&mut headers.iter().copied())?;
    for row in rows {
        line(&mut row.iter().map(String::as_str))?;
    }
    Ok(())
}

/// Bytes in the largest unit that keeps a digit before the point.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    #[allow(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut size = count as f64 / 1024.0;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = next;
    }
    format!("{size:.1} {unit}")
}

/// `1 file`, `2 files`.
pub(crate) fn count(number: u64, of: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {of}{plural}")
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
