//! Ways to register hooks. All start from what `flightdeck hooks install` wrote.

use serde_json::{Map, Value, json};

/// One way to register hooks.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) name: &'static str,
    /// Nothing is registered.
    pub(super) without_hooks: bool,
    /// Changes one handler; false removes it.
    edit: fn(&mut Handler<'_>) -> bool,
}

/// One registered handler.
struct Handler<'a> {
    event: &'a str,
    /// The daemon's address, for http handlers.
    url: &'a str,
    value: &'a mut Map<String, Value>,
}

impl Handler<'_> {
    fn is_async(&self) -> bool {
        self.value.get("async") == Some(&json!(true))
    }

    fn set(&mut self, key: &str, value: Value) -> bool {
        self.value.insert(key.to_owned(), value);
        true
    }
}

const fn form(name: &'static str, edit: fn(&mut Handler<'_>) -> bool) -> Form {
    Form { name, without_hooks: false, edit }
}

const NONE: Form = Form { name: "no hooks", without_hooks: true, edit: |_| true };
const TRUE: Form = form("true", |handler| handler.set("command", json!("true")));
const OURS: Form = form("ours", |_| true);

/// The forms that the promise is about.
pub(super) fn compared() -> Vec<Form> {
    vec![NONE, TRUE, OURS]
}

/// These and the alternatives.
pub(super) fn all() -> Vec<Form> {
    let alternatives = [
        form("no message", |handler| {
            handler.value.remove("statusMessage");
            true
        }),
        form("named message", |handler| handler.set("statusMessage", json!("Flightdeck"))),
        form("all async", |handler| handler.set("async", json!(true))),
        form("all sync", |handler| {
            handler.value.remove("async");
            true
        }),
        form("only sync events", |handler| !handler.is_async()),
        form("no PostToolBatch", |handler| handler.event != "PostToolBatch"),
        form("http for async events", over_http),
        form("no shell", without_shell),
    ];
    compared().into_iter().chain(alternatives).collect()
}

/// Setup is never sent over http.
fn over_http(handler: &mut Handler<'_>) -> bool {
    if handler.is_async() && handler.event != "Setup" {
        let url = format!("{}/api/live/hook?via=flightdeck-hook", handler.url);
        for key in ["command", "async"] {
            handler.value.remove(key);
        }
        handler.set("type", json!("http"));
        handler.set("url", json!(url));
    }
    true
}

fn without_shell(handler: &mut Handler<'_>) -> bool {
    let command = handler.value.get("command").and_then(Value::as_str).unwrap_or_default();
    let plain = command.split(" 2>").next().unwrap_or_default();
    let words: Vec<String> = plain.split(' ').map(unquoted).collect();
    if let [program, args @ ..] = words.as_slice() {
        handler.set("command", json!(program));
        handler.set("args", json!(args));
    }
    true
}

/// The paths of a lab contain neither spaces nor quotes.
fn unquoted(word: &str) -> String {
    word.trim_matches('\'').to_owned()
}

impl Form {
    /// Whether the daemon hears from the handlers.
    pub(super) fn reports(&self) -> bool {
        !self.without_hooks && self.name != TRUE.name
    }

    /// Rewrites the settings that `hooks install` wrote.
    pub(super) fn apply(&self, settings: &mut Value, url: &str) {
        let Some(hooks) = settings.get_mut("hooks").and_then(Value::as_object_mut) else { return };
        for (event, groups) in hooks.iter_mut() {
            for group in groups.as_array_mut().into_iter().flatten() {
                let Some(handlers) = group.get_mut("hooks").and_then(Value::as_array_mut) else { continue };
                handlers.retain_mut(|handler| match handler.as_object_mut() {
                    Some(value) => (self.edit)(&mut Handler { event, url, value }),
                    None => true,
                });
            }
        }
        hooks.retain(|_, groups| groups.as_array().is_some_and(|groups| groups.iter().any(has_handlers)));
    }
}

fn has_handlers(group: &Value) -> bool {
    group["hooks"].as_array().is_some_and(|handlers| !handlers.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registered() -> Value {
        let handler = |is_async: bool| {
            let mut handler = json!({"type": "command", "command": "'/opt/fd' hook --home '/h' 2>/dev/null || true # x", "timeout": 5});
            if is_async {
                handler["async"] = json!(true);
            }
            json!([{"hooks": [handler]}])
        };
        json!({"hooks": {"Stop": handler(false), "PreToolUse": handler(true)}})
    }

    fn applied(name: &str) -> Value {
        let form = all().into_iter().find(|form| form.name == name).unwrap();
        let mut settings = registered();
        form.apply(&mut settings, "http://127.0.0.1:1");
        settings["hooks"].take()
    }

    #[test]
    fn true_has_the_registration_of_ours_but_for_the_command() {
        let mut ours = applied("ours");
        for event in ["Stop", "PreToolUse"] {
            ours[event][0]["hooks"][0]["command"] = json!("true");
        }
        assert_eq!(applied("true"), ours);
    }

    #[test]
    fn each_alternative_changes_what_its_name_says() {
        assert_eq!(applied("only sync events").as_object().unwrap().len(), 1);
        assert_eq!(applied("all async")["Stop"][0]["hooks"][0]["async"], true);
        let http = applied("http for async events");
        assert_eq!(http["PreToolUse"][0]["hooks"][0]["type"], "http");
        assert_eq!(http["Stop"][0]["hooks"][0]["type"], "command");
        let exec = applied("no shell");
        let handler = &exec["Stop"][0]["hooks"][0];
        assert_eq!(
            (&handler["command"], &handler["args"]),
            (&json!("/opt/fd"), &json!(["hook", "--home", "/h"]))
        );
    }
}
