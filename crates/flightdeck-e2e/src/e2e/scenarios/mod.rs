//! The scenarios: what a person can do with a session at the terminal.

mod answer;
mod ask;
mod assignments;
mod away;
mod background;
mod context;
mod dialogs;
mod edges;
mod efforts;
mod end;
mod interrupt;
mod many;
mod numbers;
mod odd;
mod own_hooks;
mod plugin;
mod queue;
mod queue_esc;
mod suspended;
mod terminal;
mod turn;
mod two_terminals;

use anyhow::Result;
use serde_json::Value;

use super::stage::{Setup, Stage};

pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) run: fn(&mut Stage) -> Result<()>,
    /// Takes a minute or more.
    pub(super) slow: bool,
    /// The only scenario with a certain event: `contract` plays it, slow or not.
    pub(super) only_source: bool,
    /// Bash, Read and Agent run without asking.
    pub(super) allow_tools: bool,
    /// Hooks are installed before the client starts.
    pub(super) hooks_first: bool,
    /// Uses the daemon to act, so a recorder cannot play it.
    pub(super) acts: bool,
}

impl Scenario {
    pub(super) fn setup(&self) -> Setup {
        let &Self { name, allow_tools, hooks_first, .. } = self;
        Setup { scenario: name, allow_tools, hooks_first }
    }
}

/// A scenario in which the client asks before each tool.
const fn asking(name: &'static str, about: &'static str, run: fn(&mut Stage) -> Result<()>) -> Scenario {
    Scenario {
        name,
        about,
        run,
        slow: false,
        only_source: false,
        allow_tools: false,
        hooks_first: true,
        acts: false,
    }
}

/// A scenario in which common tools run without asking.
const fn free(name: &'static str, about: &'static str, run: fn(&mut Stage) -> Result<()>) -> Scenario {
    Scenario { allow_tools: true, ..asking(name, about, run) }
}

/// A scenario in which the daemon acts.
const fn acting(name: &'static str, about: &'static str, run: fn(&mut Stage) -> Result<()>) -> Scenario {
    Scenario { acts: true, ..asking(name, about, run) }
}

/// A scenario of an effort, whose tools run without asking.
const fn effort(name: &'static str, about: &'static str, run: fn(&mut Stage) -> Result<()>) -> Scenario {
    Scenario { allow_tools: true, ..acting(name, about, run) }
}

/// A scenario that removes the daemon's hooks. Its tools run without asking.
const fn taking_hooks(
    name: &'static str,
    about: &'static str,
    run: fn(&mut Stage) -> Result<()>,
) -> Scenario {
    Scenario { allow_tools: true, ..acting(name, about, run) }
}

/// The open asks on a card.
fn open_asks(card: &Value) -> impl Iterator<Item = &Value> {
    card["asks"].as_array().into_iter().flatten().filter(|ask| ask["resolution"].is_null())
}

pub(super) static ALL: &[Scenario] = &[
    asking("print", "print mode, with and without a tool it may not use", turn::print),
    asking("print_errors", "the API returns an error in print mode", turn::print_errors),
    free("turn", "plain turns with and without tools", turn::turn),
    free("tool_failure", "a tool fails and Claude continues", turn::tool_failure),
    free("queued_prompt", "a prompt typed while a tool runs", turn::queued_prompt),
    asking("shell_command", "a person runs a command with !", turn::shell_command),
    free("todos", "Claude keeps a list of tasks", turn::todos),
    asking("api_errors", "the API returns errors: after retries, and at once", turn::api_errors),
    Scenario {
        slow: true,
        only_source: true,
        ..asking("idle_notification", "the person does nothing for a minute", turn::idle_notification)
    },
    asking("permission_yes", "a permission is given", ask::permission_yes),
    asking("permission_no", "a permission is refused by its last option", ask::permission_no),
    asking("permission_esc", "a permission is refused by Esc", ask::permission_esc),
    asking("two_permissions", "two permissions wait at once", ask::two_permissions),
    asking("question", "a question is answered", ask::question),
    asking("plan", "a plan is approved", ask::plan),
    asking("menu", "a person opens a menu and closes it", ask::menu),
    asking("plan_sent_back", "a plan is sent back twice and then approved", dialogs::plan_sent_back),
    asking(
        "form_refused",
        "the form of an MCP server is closed, and another one declined",
        dialogs::form_refused,
    ),
    asking("dialog_unhooked", "the client asks about a command, and no hook reports it", dialogs::unhooked),
    asking(
        "request_behind_menu",
        "an agent asks while the person has a menu open",
        dialogs::request_behind_menu,
    ),
    free("agent_in_agent", "an agent waits for an agent of its own", background::agent_in_agent),
    free(
        "agent_in_agent_first",
        "an agent waits for an agent of its own before the turn ends",
        background::agent_in_agent_first,
    ),
    free(
        "exit_over_work",
        "/exit while an agent works: the person stays, and then leaves",
        dialogs::exit_over_work,
    ),
    acting(
        "settings_broken",
        "the settings break and are repaired while a request is open",
        dialogs::settings_broken,
    ),
    asking("esc_before_token", "Esc before the first token", interrupt::before_token),
    asking("esc_streaming", "Esc while text streams", interrupt::streaming),
    free("esc_tool", "Esc while a tool runs", interrupt::tool),
    asking("esc_question", "Esc on a question", interrupt::question),
    asking("esc_plan", "Esc on a plan", interrupt::plan),
    asking("esc_retry", "Esc while the client waits to retry", interrupt::retry),
    free("esc_foreground_agent", "Esc while a foreground agent works", interrupt::foreground_agent),
    Scenario {
        hooks_first: false,
        ..asking(
            "esc_pre_tool_hook",
            "Esc while the person's own PreToolUse hook delays a tool",
            interrupt::pre_tool_hook,
        )
    },
    Scenario {
        hooks_first: false,
        ..asking(
            "esc_stop_hook",
            "Esc while the person's own Stop hook delays the end of the turn",
            interrupt::stop_hook,
        )
    },
    free("background_agent", "an agent keeps working after the turn", many::background_agent),
    free("foreground_agent", "the turn waits for its agent", many::foreground_agent),
    asking("agent_permission", "a background agent asks for permission", many::agent_permission),
    asking(
        "fg_agent_permission",
        "a foreground agent asks for permission",
        many::foreground_agent_permission,
    ),
    free("background_shell", "a command keeps running after the turn", many::background_shell),
    asking("four_at_once", "four terminals in four states", many::four_at_once),
    Scenario {
        slow: true,
        ..asking("twenty_at_once", "twenty terminals in four states", many::twenty_at_once)
    },
    free("queue_absorbed", "two prompts typed ahead, absorbed by the turn", queue::absorbed),
    free("queue_esc_call", "three prompts typed ahead, Esc during the call", queue::esc_in_call),
    free("queue_esc_writing", "three prompts typed ahead, Esc while Claude writes", queue::esc_while_writing),
    free("queue_esc_after", "two prompts typed ahead, Esc after they were absorbed", queue::esc_after),
    free("queue_own_turn", "two prompts typed ahead become the next turn", queue::own_turn),
    taking_hooks(
        "queue_esc_dialog",
        "Esc in a dialog with a prompt typed ahead, held and not held",
        queue_esc::in_dialog,
    ),
    free(
        "queue_esc_beside_agent",
        "a prompt typed ahead, Esc on a command while a background agent works",
        queue_esc::beside_agent_in_call,
    ),
    free(
        "queue_esc_agent_write",
        "a prompt typed ahead, Esc while Claude writes and a background agent works",
        queue_esc::beside_agent_while_writing,
    ),
    free("queue_esc_agent", "a prompt typed ahead, Esc while a foreground agent works", queue_esc::on_agent),
    free("agent_fails", "an agent fails at once", background::fails_early),
    free("agent_fails_late", "an agent fails after some work", background::fails_late),
    free("agents_fail_all", "three agents fail at once", background::fail_all),
    free("agent_stopped", "the person stops a background agent in /tasks", background::agent_stopped),
    free(
        "agent_stopped_of_two",
        "the person stops one of two background agents",
        background::one_agent_stopped,
    ),
    Scenario { slow: true, ..free("cron", "a prompt that Claude scheduled", background::scheduled_prompt) },
    free("shell_killed", "the person kills one of two background commands", background::one_shell_killed),
    free("ctrl_b", "Ctrl-B moves a running command to the background", background::ctrl_b),
    asking("agent_permission_esc", "an agent's request is refused by Esc", background::permission_esc),
    asking("bang", "a command with ! is the last message", odd::bang),
    asking("rewind", "/rewind takes a prompt back", odd::rewind),
    free("rewind_queue", "/rewind while a command runs and a prompt waits", odd::rewind_over_queue),
    free("menus", "menus over running work", odd::menus),
    free("stopped_client", "the client is stopped by a signal and continued", odd::stopped_client),
    acting("suspended", "client and daemon stand still in each phase, and go on", suspended::machine),
    acting("suspended_daemon", "the daemon stands still while the client works on", suspended::daemon),
    asking("deleted_folder", "the session's folder is deleted", odd::deleted_folder),
    Scenario {
        hooks_first: false,
        ..free(
            "stop_hook_goes_on",
            "the person's Stop hook sends Claude on, then Esc",
            own_hooks::stop_hook_goes_on,
        )
    },
    Scenario {
        hooks_first: false,
        ..asking(
            "prompt_blocked",
            "the person's hook blocks prompts, in three ways",
            own_hooks::prompt_blocked,
        )
    },
    Scenario {
        hooks_first: false,
        ..free("turn_stopped", "the person's hooks around a call end the turn", own_hooks::turn_stopped)
    },
    Scenario {
        hooks_first: false,
        ..free(
            "stopped_beside_agent",
            "the person's hook ends the turn while a background agent works",
            own_hooks::stopped_beside_agent,
        )
    },
    Scenario {
        hooks_first: false,
        ..free(
            "queue_blocked",
            "the person's hook blocks a prompt typed ahead",
            own_hooks::queued_prompt_blocked,
        )
    },
    Scenario {
        hooks_first: false,
        ..free("notice_blocked", "the person's hook blocks the report of an agent", own_hooks::notice_blocked)
    },
    Scenario {
        hooks_first: false,
        ..free("agent_hook_stopped", "the person's hook ends a background agent", own_hooks::agent_stopped)
    },
    Scenario {
        hooks_first: false,
        ..free(
            "two_blocked",
            "the person's hook blocks a prompt in one of two terminals",
            own_hooks::blocked_in_one_of_two,
        )
    },
    acting(
        "agent_fails_beside_ask",
        "an agent fails while another asks, and the daemon restarts",
        edges::agent_fails_beside_ask,
    ),
    taking_hooks("queue_restart", "the daemon restarts while a prompt waits, then Esc", edges::queue_restart),
    free("bang_beside_agent", "a command with ! while a background agent works", edges::bang_beside_agent),
    asking("fork_beside_ask", "a session is forked while it asks", edges::fork_beside_ask),
    free("agent_beside_esc", "Esc on a command while a background agent works", edges::agent_beside_esc),
    free("agent_beside_done", "an agent ends while the main agent runs a command", edges::agent_beside_done),
    free("agent_beside_error", "the API fails while a background agent works", edges::agent_beside_error),
    asking(
        "hangup_in_dialog",
        "the terminal is closed, and a signal ends it, while it asks",
        edges::hangup_in_dialog,
    ),
    asking(
        "refused_with_words",
        "a request is refused with words, and Claude goes on",
        edges::refused_with_words,
    ),
    free("queue_taken_back", "a prompt typed ahead is taken back and sent again", edges::queue_taken_back),
    free(
        "queue_all_taken_back",
        "two prompts typed ahead are taken back, and one is sent",
        queue::taken_back,
    ),
    free("queue_command", "a command of the project is typed ahead", edges::queue_command),
    free("queue_error", "the API fails while a prompt waits", edges::queue_error),
    asking("compact_queue", "a prompt is typed during /compact", edges::compact_queue),
    asking("compact_fails", "the API fails during /compact", edges::compact_fails),
    asking("compact_esc", "Esc during /compact", edges::compact_esc),
    free("clear_with_shell", "/clear while a background command runs", edges::clear_with_shell),
    free("clear_with_agent", "/clear while a background agent works", edges::clear_with_agent),
    asking("agent_own_mode", "an agent with a permission mode of its own", edges::agent_own_mode),
    asking("killed_in_dialog", "the client is killed while it asks", odd::killed_in_dialog),
    taking_hooks("hooks_gone_idle", "the hooks go and return between turns", away::gone_idle),
    taking_hooks("hooks_gone_thinking", "the hooks go while Claude writes", away::gone_thinking),
    taking_hooks("hooks_gone_tool", "the hooks go while a command runs", away::gone_tool),
    acting("hooks_gone_dialog", "the hooks go while a request is open", away::gone_dialog),
    taking_hooks("hooks_gone_esc", "the hooks go, then the person presses Esc", away::gone_esc),
    taking_hooks("hooks_returned", "the hooks go and return while a command runs", away::returned_tool),
    taking_hooks(
        "hooks_returned_writing",
        "the hooks go and return while Claude writes",
        away::returned_writing,
    ),
    acting("hooks_returned_dialog", "the hooks go and return while a request is open", away::returned_dialog),
    acting("hooks_gone_dialogs", "the hooks go, and two requests follow each other", away::gone_dialogs),
    taking_hooks("daemon_down", "neither hooks nor daemon when the turn ends", away::daemon_down),
    asking("clear", "/clear replaces the session with a new one", context::clear),
    asking("model", "/model switches to another model", context::model),
    asking("compact", "/compact", context::compact),
    asking("auto_compact", "the context is full", context::auto_compact),
    asking("resume", "a session is resumed by id", context::resume),
    asking("fork", "a session is forked", context::fork),
    asking(
        "in_app_resume",
        "/resume switches to another session in the same terminal",
        context::in_app_resume,
    ),
    Scenario {
        hooks_first: false,
        ..asking(
            "hooks_into_running",
            "hooks are installed while a session runs",
            context::hooks_into_running,
        )
    },
    acting(
        "answer",
        "a permission is allowed, denied and always allowed on the board; the delay is measured",
        answer::permission::permission_answered,
    ),
    acting("answer_question", "questions are answered on the board", answer::question::question_answered),
    acting("answer_plan", "plans are sent back and approved on the board", answer::plan::plan_answered),
    acting("answer_several", "two requests at once, and the requests of an agent", answer::agents::several),
    acting(
        "answer_terminal",
        "the person answers in the terminal before the board",
        answer::race::terminal_first,
    ),
    acting("answer_race", "terminal and board answer at the same moment", answer::race::both_at_once),
    acting("answer_cli", "answers and a prompt are sent with the command line", answer::cli::answered),
    acting("answer_tui", "the TUI shows, allows, denies, prompts and jumps", answer::tui::answered),
    acting(
        "answer_two_servers",
        "the TUI answers, jumps and colours for two clients on two tmux servers",
        answer::two_servers::told_apart,
    ),
    acting(
        "answer_hub",
        "a permission is allowed and denied on the board of another machine",
        answer::hub::allowed_on_a_hub,
    ),
    acting(
        "act_hub",
        "a prompt, an interrupt and a focus are sent from the board of another machine",
        answer::hub::prompted_from_a_hub,
    ),
    acting("answer_timeout", "no answer before the hold times out", answer::hold::timeout),
    acting("answer_killed", "the daemon dies while a hook waits", answer::hold::daemon_killed),
    acting("answer_print", "print mode: a request is held only if hold_print is set", answer::hold::print),
    acting(
        "answer_elicitation",
        "the form of an MCP server is filled in on the board",
        answer::elicitation::elicitation,
    ),
    acting(
        "assignment_asks",
        "the log of questions that were answered: in a dialog and in the text",
        assignments::asked_and_answered,
    ),
    acting(
        "assignment_esc",
        "the log of a command that was interrupted and continued",
        assignments::interrupted_and_asked_again,
    ),
    acting("assignment_clear", "the log of a question that /clear left unanswered", assignments::cleared),
    Scenario {
        allow_tools: true,
        ..acting(
            "assignment_background",
            "the log of work that a background agent continues",
            assignments::background_agent,
        )
    },
    effort("effort_heartbeat", "the tenth call without a log entry is denied", efforts::heartbeat_limit),
    effort("effort_overflow", "the agent is warned when its context is 90 % full", efforts::overflow_warning),
    effort("effort_handoff", "a handoff is in the first request of the next session", efforts::handoff),
    effort("effort_guard", "a guard rule denies `git push --force`", efforts::guard),
    effort("effort_slash", "the prompt /implement starts an effort", efforts::slash_command),
    effort(
        "effort_run",
        "`run` starts the client fresh twice, instead of two compactions",
        efforts::supervised,
    ),
    effort(
        "effort_elsewhere",
        "an effort in another directory does not change the client's requests",
        efforts::elsewhere,
    ),
    Scenario {
        hooks_first: false,
        ..acting("plugin", "the plugin's hooks with and without our program on the PATH", plugin::loaded)
    },
    acting("send", "the daemon types prompts of all kinds", terminal::send),
    acting(
        "send_command",
        "the daemon types text that the client would run as a command",
        terminal::send_command,
    ),
    acting("send_draft", "the daemon finds a draft, a menu or a question in the pane", terminal::send_draft),
    Scenario {
        allow_tools: true,
        ..acting("send_interrupt", "the daemon interrupts a tool and ends the client", terminal::interrupt)
    },
    Scenario {
        allow_tools: true,
        ..acting("send_vim", "the daemon types and interrupts in vim mode", terminal::vim)
    },
    acting("focus", "the daemon shows a pane only in the tmux client that was used last", terminal::focus),
    acting("two_exit", "two terminals on one session, /exit in one", two_terminals::exit),
    acting("two_print", "`claude -p --resume` beside a terminal that asks", two_terminals::print),
    acting("two_dialogs", "a permission and a question in two terminals", two_terminals::dialogs),
    acting("two_kill", "kill -9 of one of two terminals", two_terminals::kill),
    Scenario {
        allow_tools: true,
        ..acting("two_at_work", "a second terminal while the first works", two_terminals::at_work)
    },
    acting("two_idle", "two idle terminals are closed", two_terminals::both_idle),
    Scenario {
        allow_tools: true,
        ..acting("two_first_leaves", "the first of two terminals is closed", two_terminals::first_leaves)
    },
    Scenario {
        allow_tools: true,
        ..acting("two_queue", "a prompt typed ahead in one of two terminals, then Esc", two_terminals::queue)
    },
    Scenario {
        allow_tools: true,
        ..acting(
            "two_esc_beside_agent",
            "Esc in one of two terminals while a background agent works there",
            two_terminals::esc_beside_agent,
        )
    },
    Scenario {
        allow_tools: true,
        ..acting(
            "two_hooks_gone",
            "the hooks go while two terminals work; Esc in one, the other ends its turn",
            two_terminals::hooks_gone,
        )
    },
    acting(
        "two_http",
        "a turn in one of two terminals while the other asks, with http hooks",
        two_terminals::http,
    ),
    acting("two_clear", "/clear in one of two terminals", two_terminals::clear),
    Scenario {
        hooks_first: false,
        ..asking("status_line", "our status line wraps the person's own", numbers::status_line)
    },
    asking("end_exit", "/exit", end::exit),
    asking("end_ctrl_c", "Ctrl-C twice", end::ctrl_c),
    asking("end_ctrl_d", "Ctrl-D twice", end::ctrl_d),
    asking("end_signals", "TERM, HUP and INT", end::signals),
    asking("end_terminal", "the terminal is closed", end::terminal),
    asking("end_kill", "kill -9, idle and in the middle of a turn", end::kill),
];
