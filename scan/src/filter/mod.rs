//! What a filter says, resolved against one schema.
//!
//! Text and predicates become an [`Expr`] without NOT: negation is moved to the leaves while they are
//! bound, where `NOT (a < 1)` is `a >= 1` and both are unknown for null. No stage after that negates
//! anything, least of all a "might match".

mod bind;
mod compare;
mod expr;
mod literal;
mod moment;
mod sql;

pub(crate) use bind::bind_predicate;
pub(crate) use expr::{Column, Comparison, Expr, Test};
pub(crate) use sql::bind_sql;
