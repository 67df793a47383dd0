//! What a name in a request means: the table's own name, or the one a rename gives.

use iceberg::spec::{NestedFieldRef, Schema, Type};

use crate::{Error, Result};

/// Finds columns by either of their names.
pub(crate) struct Names<'a> {
    schema: &'a Schema,
    renames: &'a [(String, String)],
}

/// A column and the way to it from the top of the schema.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// From the top-level field to the field meant.
    pub(crate) path: Vec<NestedFieldRef>,
    /// The column's name in the table, with dots.
    pub(crate) name: String,
}

impl<'a> Names<'a> {
    pub(crate) fn new(schema: &'a Schema, renames: &'a [(String, String)]) -> Result<Self> {
        let names = Self { schema, renames };
        for (i, (from, to)) in renames.iter().enumerate() {
            if names.in_table(from).is_none() {
                return Err(names.unknown("rename", from));
            }
            if renames[..i].iter().any(|(earlier, _)| earlier == from) {
                return Err(Error::input(format!(
                    "rename names column `{from}` twice; give it one new name"
                )));
            }
            if to.is_empty() {
                return Err(Error::input(format!("rename gives column `{from}` an empty name")));
            }
        }
        Ok(names)
    }

    /// The column that `name` means to `asker`, such as "filter".
    pub(crate) fn find(&self, asker: &str, name: &str) -> Result<Found> {
        let own = self.in_table(name);
        let renamed = self.renames.iter().find_map(|(from, to)| {
            let rest = name.strip_prefix(to.as_str())?;
            (rest.is_empty() || rest.starts_with('.')).then(|| self.in_table(&format!("{from}{rest}")))?
        });
        match (own, renamed) {
            (Some(own), Some(renamed)) if own.path.last() != renamed.path.last() => {
                Err(Error::input(format!(
                    "{asker} names `{name}`, which is both a column of the table and the new name of `{}`; rename it otherwise",
                    renamed.name
                )))
            }
            (Some(found), _) | (None, Some(found)) => Ok(found),
            (None, None) => Err(self.unknown(asker, name)),
        }
    }

    /// The name a column has in the output, when the request called it `asked`.
    pub(crate) fn output(&self, found: &Found, asked: &str) -> String {
        match self.renames.iter().find(|(from, _)| *from == found.name) {
            Some((_, to)) => to.clone(),
            None => asked.to_owned(),
        }
    }

    fn in_table(&self, name: &str) -> Option<Found> {
        let id = self.schema.field_id_by_name(name)?;
        let path = path_to(self.schema, id)?;
        Some(Found { path, name: name.to_owned() })
    }

    fn unknown(&self, asker: &str, name: &str) -> Error {
        if let Some(id) = self.schema.field_id_by_name(name)
            && path_to(self.schema, id).is_none()
        {
            return Error::input(format!(
                "{asker} names `{name}`, which lies inside a list or map; name the whole column"
            ));
        }
        let mut known: Vec<&str> = self.schema.field_id_to_name_map().values().map(String::as_str).collect();
        known.extend(self.renames.iter().map(|(_, to)| to.as_str()));
        known.sort_unstable();
        match calve_uri::nearest(name, known) {
            Some(near) => Error::input(format!(
                "{asker} names `{name}`, which the table does not have; did you mean `{near}`?"
            )),
            None => {
                let top: Vec<&str> =
                    self.schema.as_struct().fields().iter().map(|f| f.name.as_str()).collect();
                Error::input(format!(
                    "{asker} names `{name}`, which the table does not have; its columns are {}",
                    top.join(", ")
                ))
            }
        }
    }
}

/// The fields from the top of `schema` down to `id`, through structs only.
pub(crate) fn path_to(schema: &Schema, id: i32) -> Option<Vec<NestedFieldRef>> {
    fn below(fields: &[NestedFieldRef], id: i32, path: &mut Vec<NestedFieldRef>) -> bool {
        for field in fields {
            path.push(field.clone());
            if field.id == id {
                return true;
            }
            if let Type::Struct(inner) = field.field_type.as_ref()
                && below(inner.fields(), id, path)
            {
                return true;
            }
            path.pop();
        }
        false
    }
    let mut path = Vec::new();
    below(schema.as_struct().fields(), id, &mut path).then_some(path)
}
