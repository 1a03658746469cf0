//! The command line: one file per command, and the shared files for finding sessions, drawing and output.

mod answer;
mod ask_text;
mod assignments;
mod card_filter;
mod change_lines;
mod demo;
mod doctor;
mod draw;
mod effort;
mod explain;
mod fleet;
pub mod fleet_line;
mod fleet_status;
mod guard;
pub mod hooks;
mod hosts;
mod line;
mod local_time;
mod lookup;
mod ls;
mod man;
mod next;
mod notify;
mod out;
mod owner;
mod peek;
mod policy;
mod replay;
mod requests;
mod rpc;
mod run;
mod service;
mod show;
mod status;
mod suggestion_text;
mod template;
mod terminal;
mod tmux;
mod tui;
mod up;
mod usage;
mod wait;
mod wait_counts;
mod watch;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use crate::paths::Paths;
use crate::program;
use out::Out;

/// Mission control for people who run many Claude Code sessions at once
#[derive(Debug, Parser)]
#[command(
    name = "flightdeck",
    version,
    after_help = "Without a command, `flightdeck` runs `up` and takes its options."
)]
struct Cli {
    /// Folder for Flightdeck's files [default: FLIGHTDECK_HOME, else the XDG folders]
    #[arg(long, global = true, value_name = "DIR")]
    home: Option<PathBuf>,
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Debug, Subcommand)]
enum CliCommand {
    /// Start the daemon and the board (the default command)
    Up(up::UpArgs),
    /// Send one hook event from standard input to the daemon; Claude Code runs this
    Hook,
    /// Send the data of the status line to the daemon, then print a status line or run your own command given after `--`; Claude Code runs this
    Statusline,
    /// Run Claude Code, and start it fresh with the handoff when its context is full
    Run(run::RunArgs),
    /// Show the status of all seats; start, stop or attach those of a fleet.yaml in tmux
    Fleet(fleet::FleetArgs),
    /// Install, check, repair or remove our hooks in Claude Code's settings
    Hooks(hooks::HooksArgs),
    /// List all sessions, those that need you first
    Ls(ls::LsArgs),
    /// Show one session and its last events
    Show(show::ShowArgs),
    /// Explain a session's state: the event, the rule and the time
    Explain(explain::ExplainArgs),
    /// Show the session that needs you most
    Next(next::NextArgs),
    /// Show the board in this terminal, and answer, prompt and jump from it
    Tui(tui::TuiArgs),
    /// Answer a request of a session: allow, deny, pick an option, approve a plan
    Answer(answer::AnswerArgs),
    /// Show the rules that answer requests automatically, test them, or list what they answered
    Policy(policy::PolicyArgs),
    /// Type the next prompt into a session's tmux pane
    Send(terminal::SendArgs),
    /// Bring a session's terminal to the front
    Focus(terminal::FocusArgs),
    /// Press Esc in a session's tmux pane, or end its Claude Code
    Interrupt(terminal::InterruptArgs),
    /// Print the screen of a session's tmux pane
    Peek(peek::PeekArgs),
    /// Wait until a session is idle, needs you or has ended
    Wait(wait::WaitArgs),
    /// Print every change of the board as a line of JSON
    Watch(change_lines::WatchArgs),
    /// Install key bindings, a status bar and colours into tmux, or remove them
    Tmux(tmux::TmuxArgs),
    /// Put several machines on one board: join, leave, list, print a server's configuration
    Hosts(hosts::HostsArgs),
    /// Test the targets of notifications
    Notify(notify::NotifyArgs),
    /// Show the daemon's health and counts
    Status(status::StatusArgs),
    /// Show tokens and cost by day, project, model and session
    Usage(usage::UsageArgs),
    /// List what you asked of sessions: outcome, turns, time working, time waiting for you, cost
    Log(assignments::LogArgs),
    /// Sum up what happened since a time, and what waits for you
    Digest(assignments::DigestArgs),
    /// Start, follow and hand over work that continues over several context windows
    Effort(effort::EffortArgs),
    /// Add, list, remove or test rules that deny tool calls of an effort
    Guard(guard::GuardArgs),
    /// Call a command of the daemon's socket, or list all of them
    Rpc(rpc::RpcArgs),
    /// Replay recorded hook events and print the state after each
    Replay(replay::ReplayArgs),
    /// Check the installation and say how to fix problems
    Doctor(doctor::DoctorArgs),
    /// Run a simulated fleet on a real daemon in a temporary home
    Demo(demo::DemoArgs),
    /// Run the daemon from login on, with systemd or launchd
    Service(service::ServiceArgs),
    /// Print the manual page, or write the pages of all commands
    Man(man::ManArgs),
    /// Print the completion script of a shell
    Completions {
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
}

/// The number of arguments before the command: `--home DIR` or `--home=DIR` may come first, also for a hook.
pub fn options_before_the_command(args: &[OsString]) -> usize {
    match args.first().and_then(|first| first.to_str()) {
        Some("--home") => 2,
        Some(first) if first.starts_with("--home=") => 1,
        _ => 0,
    }
}

/// Inserts `up` if the arguments name no command.
fn with_a_command(mut args: Vec<OsString>) -> Vec<OsString> {
    let place = options_before_the_command(&args).min(args.len());
    let named = args.get(place).and_then(|word| word.to_str());
    if named.is_none_or(|word| word.starts_with('-') && !["-h", "--help", "-V", "--version"].contains(&word))
    {
        args.insert(place, "up".into());
    }
    args
}

/// Exit codes: 0 success, 1 failure, 2 wrong arguments.
pub fn main() -> ExitCode {
    let args = with_a_command(std::env::args_os().skip(1).collect());
    let cli = match Cli::try_parse_from(std::iter::once("flightdeck".into()).chain(args.clone())) {
        Ok(cli) => cli,
        Err(error) => {
            // Fails if the terminal is gone; then the message cannot be shown.
            let _ = error.print();
            if error.kind() == clap::error::ErrorKind::UnknownArgument {
                let _ = writeln!(std::io::stderr(), "{}", options_of_the_command(&args));
            }
            return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
        }
    };
    let mut out = Out::stdout();
    match run(cli, &mut out) {
        Ok(code) => ExitCode::from(code),
        Err(error) if out::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            Out::error(&error);
            ExitCode::FAILURE
        }
    }
}

/// `Options of answer: --message, --interrupt, …`, for a command line with an unknown option.
fn options_of_the_command(words: &[OsString]) -> String {
    let mut command = Cli::command();
    let mut named = Vec::new();
    for word in words {
        let Some(sub) = command.find_subcommand(word).cloned() else { continue };
        named.push(word.to_string_lossy());
        command = sub;
    }
    let shown = command.get_arguments().filter(|option| !option.is_hide_set());
    let names: Vec<String> = shown.filter_map(|option| Some(format!("--{}", option.get_long()?))).collect();
    format!("\nOptions of {}: {}", named.join(" "), names.join(", "))
}

/// The beginning of a command line that a person can type for the same home: the program, and `--home` if the environment
/// names another home.
fn command_prefix(paths: &Paths) -> String {
    let env = |name: &str| std::env::var_os(name);
    let program = std::env::current_exe()
        .map_or("flightdeck".to_owned(), |binary| program::called(&binary, env("PATH").as_deref()));
    match Paths::resolve(None, env) {
        Ok(usual) if usual.home == paths.home => program,
        _ => format!("{program} --home {}", program::shell_word(&paths.home.display().to_string())),
    }
}

fn run(cli: Cli, out: &mut Out) -> anyhow::Result<u8> {
    let env = |name: &str| std::env::var_os(name);
    if let CliCommand::Completions { shell } = cli.command {
        // `generate` panics if it cannot write, and a pipe may be closed.
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "flightdeck", &mut script);
        out.write_all(&script)?;
        return Ok(0);
    }
    if let CliCommand::Man(args) = &cli.command {
        return man::run(args, Cli::command(), out);
    }
    let paths = Paths::resolve(cli.home.as_deref(), env)?;
    match cli.command {
        CliCommand::Up(args) => up::run(&args, paths, out),
        CliCommand::Hooks(args) => {
            let cwd = std::env::current_dir()?;
            let (binary, ask) = (std::env::current_exe()?, &mut hooks::ask_on_terminal);
            let code = hooks::run(&args, &paths, &env, &cwd, &binary, ask, out)?;
            Ok(u8::try_from(code).unwrap_or(1))
        }
        CliCommand::Run(args) => run::run(args, paths),
        CliCommand::Fleet(args) => fleet::run(&args, &paths, out),
        CliCommand::Ls(args) => ls::run(&args, &paths, out),
        CliCommand::Show(args) => show::run(&args, &paths, out),
        CliCommand::Explain(args) => explain::run(&args, &paths, out),
        CliCommand::Next(args) => next::run(&args, &paths, out),
        CliCommand::Tui(args) => tui::run(&args, &paths),
        CliCommand::Answer(args) => answer::run(&args, &paths, out),
        CliCommand::Policy(args) => policy::run(&args, &paths, out),
        CliCommand::Send(args) => terminal::send(&args, &paths, out),
        CliCommand::Focus(args) => terminal::focus(&args, &paths, out),
        CliCommand::Interrupt(args) => terminal::interrupt(&args, &paths, out),
        CliCommand::Peek(args) => peek::run(&args, &paths, out),
        CliCommand::Wait(args) => wait::run(&args, &paths, out),
        CliCommand::Watch(args) => change_lines::run(&args, &paths, out),
        CliCommand::Tmux(args) => tmux::run(&args, &paths, out),
        CliCommand::Hosts(args) => hosts::run(&args, &paths, out),
        CliCommand::Notify(args) => notify::run(&args, &paths, out),
        CliCommand::Status(args) => status::run(&args, &paths, out),
        CliCommand::Usage(args) => usage::run(&args, &paths, out),
        CliCommand::Log(args) => assignments::log(&args, &paths, out),
        CliCommand::Digest(args) => assignments::digest(&args, &paths, out),
        CliCommand::Effort(args) => effort::run(&args, &paths, out),
        CliCommand::Guard(args) => guard::run(&args, &paths, out),
        CliCommand::Rpc(args) => rpc::run(&args, &paths, out),
        CliCommand::Replay(args) => replay::run(&args, out),
        CliCommand::Doctor(args) => doctor::run(&args, &paths, out),
        CliCommand::Demo(args) => demo::run(&args, out),
        CliCommand::Service(args) => service::run(&args, &paths, out),
        // `main.rs` runs `hook` and `statusline` before it comes here; `completions` and `man` have returned above.
        CliCommand::Hook | CliCommand::Statusline | CliCommand::Completions { .. } | CliCommand::Man(_) => {
            Ok(0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn without_a_command_up_runs_with_its_options() {
        let completed = |line: &str| {
            let args = line.split_whitespace().map(OsString::from).collect();
            with_a_command(args).join(std::ffi::OsStr::new(" ")).into_string().unwrap()
        };
        assert_eq!(completed(""), "up");
        assert_eq!(completed("--port 4000 --no-hooks"), "up --port 4000 --no-hooks");
        assert_eq!(completed("--home /h --open"), "--home /h up --open");
        for unchanged in ["ls", "--home=/h ls", "--help", "-V", "up --open"] {
            assert_eq!(completed(unchanged), unchanged);
        }
    }
}
