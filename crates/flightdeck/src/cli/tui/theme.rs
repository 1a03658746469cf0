//! The styles of colour roles. Only the 16 colours of the terminal are used and no background, so the person's own colour scheme
//! applies.

use clap::ValueEnum;
use flightdeck_core::view::lens::Role;
use ratatui::style::{Color, Modifier, Style};

/// The colours that fit the terminal's background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum TerminalBackground {
    Dark,
    Light,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Theme {
    /// False with `NO_COLOR`: only bold, dim and reverse are used.
    pub(super) colour: bool,
    pub(super) background: TerminalBackground,
}

impl Theme {
    /// `NO_COLOR` turns colours off. `COLORFGBG`, which many terminals set, tells a light background from a dark one.
    pub(super) fn from_environment(
        wish: Option<TerminalBackground>,
        env: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let no_colour = env("NO_COLOR").is_some_and(|value| !value.is_empty());
        let told = env("COLORFGBG").and_then(|told| told.rsplit(';').next()?.parse::<u8>().ok());
        let is_light = told.is_some_and(|colour| colour == 7 || colour == 15);
        let detected = if is_light { TerminalBackground::Light } else { TerminalBackground::Dark };
        Self { colour: !no_colour, background: wish.unwrap_or(detected) }
    }

    /// The style of a card's state.
    pub(super) fn role(self, role: Role) -> Style {
        match role {
            Role::Urgent => self.urgent(),
            Role::Orange => self.paint(Color::Yellow, Color::Magenta),
            Role::Red => self.paint(Color::LightRed, Color::Red).add_modifier(Modifier::BOLD),
            Role::Working => self.paint(Color::Cyan, Color::Blue),
            Role::Calm => Style::new(),
            Role::Muted => self.dim(),
        }
    }

    /// The style of sessions and times that wait for the person.
    pub(super) fn urgent(self) -> Style {
        self.paint(Color::LightYellow, Color::Magenta).add_modifier(Modifier::BOLD)
    }

    pub(super) fn dim(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// For keys and for the bar beside the selected session.
    pub(super) fn accent(self) -> Style {
        self.paint(Color::LightGreen, Color::Blue).add_modifier(Modifier::BOLD)
    }

    pub(super) fn added(self) -> Style {
        self.paint(Color::Green, Color::Green)
    }

    pub(super) fn removed(self) -> Style {
        self.paint(Color::Red, Color::Red)
    }

    /// For a request that cannot be undone, and for a lost connection.
    pub(super) fn alarm(self) -> Style {
        self.paint(Color::LightRed, Color::Red).add_modifier(Modifier::BOLD)
    }

    /// For the line at the bottom while it asks something.
    pub(super) fn question(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// A gauge turns from calm to alarm.
    pub(super) fn gauge(self, percent: f64) -> Style {
        match percent {
            80.0.. => self.paint(Color::LightRed, Color::Red),
            60.0.. => self.paint(Color::Yellow, Color::Magenta),
            _ => self.paint(Color::Green, Color::Blue),
        }
    }

    fn paint(self, dark: Color, light: Color) -> Style {
        match (self.colour, self.background) {
            (false, _) => Style::new(),
            (true, TerminalBackground::Dark) => Style::new().fg(dark),
            (true, TerminalBackground::Light) => Style::new().fg(light),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn theme(env: &[(&str, &str)]) -> Theme {
        let find = |name: &str| env.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        Theme::from_environment(None, find)
    }

    #[test]
    fn the_environment_decides_about_colours_and_background() {
        assert!(!theme(&[("NO_COLOR", "1")]).colour);
        assert!(theme(&[("NO_COLOR", "")]).colour);
        assert_eq!(theme(&[("COLORFGBG", "0;15")]).background, TerminalBackground::Light);
        assert_eq!(theme(&[("COLORFGBG", "15;default;0")]).background, TerminalBackground::Dark);
        assert_eq!(theme(&[]).background, TerminalBackground::Dark);
    }

    #[test]
    fn without_colours_no_style_has_a_colour() {
        let plain = theme(&[("NO_COLOR", "1")]);
        let roles = [Role::Urgent, Role::Orange, Role::Red, Role::Calm, Role::Working, Role::Muted]
            .map(|role| plain.role(role));
        let others = [plain.accent(), plain.added(), plain.alarm(), plain.gauge(90.0), plain.question()];
        assert!(roles.iter().chain(&others).all(|style| style.fg.is_none() && style.bg.is_none()));
    }
}
