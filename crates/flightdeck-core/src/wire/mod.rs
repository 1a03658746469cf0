//! What the outside writes, read leniently: an unknown name or field is kept and changes nothing.

pub mod hook_name;
