//! What the outside writes, read leniently: an unknown name or field is kept and changes nothing.

pub mod clip;
pub mod growth;
pub mod hook;
pub mod hook_name;
pub mod lenient;
pub mod registry;
mod scan;
pub mod statusline;
pub mod transcript;
