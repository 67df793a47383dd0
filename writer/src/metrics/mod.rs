//! Column statistics, computed from the rows as they are written.

mod bounds;
mod gather;
mod mode;
mod range;

pub(crate) use gather::{Metrics, MetricsPlan};
pub(crate) use mode::metrics_modes;
pub(crate) use range::crosses_sign;
