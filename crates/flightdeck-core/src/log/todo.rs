//! A to-do of the client: from TodoWrite, TaskCreate or the client's own task list.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "ProgressItem"))]
pub struct Todo {
    pub id: String,
    pub title: String,
    pub status: String,
}
