use calve_catalog::{Error, ErrorKind, NamespaceIdent, Result, TableIdent};
use calve_uri::GlueDestination;

/// The table's name in Glue: one level, then the table.
pub fn table_ident(glue: &GlueDestination) -> TableIdent {
    TableIdent::new(NamespaceIdent::new(glue.database().to_owned()), glue.table().to_owned())
}

/// Where a new table of this destination lies: `{warehouse}/{database}/{table}`.
///
/// # Errors
/// [`ErrorKind::Input`] when a name holds a slash, which would put the table somewhere else.
pub fn table_location(glue: &GlueDestination) -> Result<String> {
    for name in [glue.database(), glue.table()] {
        if name.contains('/') {
            return Err(Error::new(
                ErrorKind::Input,
                format!("`{name}` can't name a new table's folder: it holds a slash"),
            ));
        }
    }
    Ok(format!("{}/{}/{}", glue.warehouse().trim_end_matches('/'), glue.database(), glue.table()))
}

/// Refuses a new location inside or around another table's, so that a clean-up of one table never
/// reaches the other.
///
/// # Errors
/// [`ErrorKind::Input`] naming both.
pub fn check_apart<'a>(new: &str, others: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<()> {
    let new = folder(new);
    for (name, location) in others {
        let other = folder(location);
        if new.starts_with(&other) || other.starts_with(&new) {
            return Err(Error::new(
                ErrorKind::Input,
                format!("{new} overlaps the location of table {name}, {other}; choose one apart from it"),
            ));
        }
    }
    Ok(())
}

/// One spelling of a folder: scheme `s3`, one slash at the end.
fn folder(location: &str) -> String {
    let trimmed = location.trim_end_matches('/');
    let spelt = match trimmed.split_once("://") {
        Some(("s3a" | "s3n", rest)) => format!("s3://{rest}"),
        _ => trimmed.to_owned(),
    };
    format!("{spelt}/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_inside_or_around_each_other_are_refused() {
        let others = [("orders", "s3a://lake/wh/shop/orders/")];
        for overlapping in ["s3://lake/wh/shop/orders", "s3://lake/wh/shop/orders/v2", "s3://lake/wh/shop"] {
            let error = check_apart(overlapping, others).expect_err(overlapping);
            assert!(error.to_string().contains("orders"), "{error}");
        }
        for apart in ["s3://lake/wh/shop/orders2", "s3://lake/wh/shop/order", "s3://lake2/wh/shop/orders"] {
            check_apart(apart, others).unwrap_or_else(|e| panic!("{apart}: {e}"));
        }
    }
}
