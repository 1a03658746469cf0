//! The client's formats, read leniently: an unknown name or field is stored and changes nothing.

pub mod billed_usage;
pub mod client_notices;
pub mod clip;
pub mod hook;
pub mod hook_name;
pub mod lenient;
pub mod registry;
mod scan;
pub mod status_line;
pub mod suggestion;
pub mod tokens;
pub mod tool_names;
pub mod tool_result;
pub mod transcript;
