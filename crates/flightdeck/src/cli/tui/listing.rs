//! Which sessions are listed, in which order and below which headings.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use flightdeck_core::ids::SessionId;
use flightdeck_core::session::state_name::Group;
use flightdeck_core::view::card::Card;
use fuzzy_matcher::FuzzyMatcher;
use fuzzy_matcher::skim::SkimMatcherV2;

use super::super::owner;
use super::alike::Bunches;

/// Subagents listed below a session; the details list all.
const AGENTS_SHOWN_MAX: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    List,
    Columns,
    Tree,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    All,
    NeedsYou,
    Running,
    Done,
    Parked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Rank,
    Urgency,
    Waiting,
    Cost,
    Context,
    Age,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    State,
    Project,
    Host,
    None,
}

/// What the person chose to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ViewOptions {
    pub(super) filter: Filter,
    pub(super) sort: Sort,
    pub(super) grouping: Grouping,
    pub(super) search: String,
    /// Whether the best match of the search comes first, in whatever state it is.
    pub(super) best_match_first: bool,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            filter: Filter::All,
            sort: Sort::Rank,
            grouping: Grouping::State,
            search: String::new(),
            best_match_first: false,
        }
    }
}

/// One line, or the lines of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ListingRow {
    Heading {
        text: String,
        count: usize,
        /// Sessions below the heading that `count` leaves out: they wait, but neither block nor ask.
        idle: usize,
        indent: u16,
    },
    Session {
        id: SessionId,
        indent: u16,
    },
    /// A subagent, by its position on the card. `last` is true if no other subagent follows.
    Agent {
        session: SessionId,
        agent: usize,
        indent: u16,
        last: bool,
    },
    MoreAgents {
        count: usize,
        indent: u16,
    },
    /// Sessions that the person put aside, folded.
    Parked {
        count: usize,
    },
}

/// The cards that filter and search let through, in the chosen order.
#[derive(Debug)]
pub(super) struct ShownCards<'a> {
    pub(super) cards: Vec<&'a Card>,
    /// Parked sessions that are left out.
    parked: usize,
}

#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) rows: Vec<ListingRow>,
    /// The sessions in the order of the rows.
    pub(super) order: Vec<SessionId>,
    /// The sessions of the three columns.
    pub(super) columns: [Vec<SessionId>; 3],
    /// What each column shows: its sessions with their subagents, below headings if it is grouped.
    pub(super) column_rows: [Vec<ListingRow>; 3],
    /// Sessions whose requests are alike: one line stands for them.
    pub(super) bunches: Bunches,
    /// Parked sessions that are folded.
    pub(super) parked: usize,
}

/// How many sessions of the whole board wait, work, are done and are put aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BoardCounts {
    /// Sessions that block or ask.
    pub(super) waiting: usize,
    pub(super) running: usize,
    pub(super) done: usize,
    pub(super) parked: usize,
}

const NEEDS_YOU: &str = "NEEDS YOU";
pub(super) const GROUPS: [(Group, &str); 3] =
    [(Group::NeedsYou, NEEDS_YOU), (Group::Running, "RUNNING"), (Group::Done, "DONE")];

impl BoardCounts {
    pub(super) fn new<'a>(cards: impl Iterator<Item = &'a Card>) -> Self {
        cards.fold(Self::default(), |counts, card| {
            let group = card.agent_state.group;
            Self {
                waiting: counts.waiting + usize::from(card.needs_person()),
                running: counts.running + usize::from(group == Group::Running),
                done: counts.done + usize::from(group == Group::Done),
                parked: counts.parked + usize::from(card.parked.is_some()),
            }
        })
    }
}

impl Filter {
    pub(super) fn next(self) -> Self {
        match self {
            Self::All => Self::NeedsYou,
            Self::NeedsYou => Self::Running,
            Self::Running => Self::Done,
            Self::Done => Self::Parked,
            Self::Parked => Self::All,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::NeedsYou => "needs you",
            Self::Running => "running",
            Self::Done => "done",
            Self::Parked => "parked",
        }
    }

    fn takes(self, card: &Card) -> bool {
        let group = card.agent_state.group;
        match self {
            Self::All => true,
            Self::Parked => card.parked.is_some(),
            Self::NeedsYou => group == Group::NeedsYou,
            Self::Running => group == Group::Running,
            Self::Done => group == Group::Done,
        }
    }
}

impl Sort {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Rank => Self::Urgency,
            Self::Urgency => Self::Waiting,
            Self::Waiting => Self::Cost,
            Self::Cost => Self::Context,
            Self::Context => Self::Age,
            Self::Age => Self::Rank,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rank => "rank",
            Self::Urgency => "urgency",
            Self::Waiting => "waiting time",
            Self::Cost => "cost",
            Self::Context => "context",
            Self::Age => "age",
        }
    }

    fn sort(self, cards: &mut [&Card]) {
        match self {
            // Ranks order the sessions of one column; a project has sessions of all three.
            Self::Rank => {
                cards.sort_by(|a, b| column_rank(a, &a.rank.default).cmp(&column_rank(b, &b.rank.default)))
            }
            Self::Urgency => {
                cards.sort_by(|a, b| column_rank(a, &a.rank.urgency).cmp(&column_rank(b, &b.rank.urgency)))
            }
            Self::Waiting => {
                cards.sort_by(|a, b| column_rank(a, &a.rank.waiting).cmp(&column_rank(b, &b.rank.waiting)))
            }
            Self::Cost => cards.sort_by_key(|card| Reverse(card.cost.as_ref().map(|cost| cost.usd_micros))),
            Self::Context => {
                cards.sort_by_key(|card| Reverse(card.context.as_ref().map(|context| context.tokens)))
            }
            Self::Age => cards.sort_by_key(|card| card.started_at),
        }
    }
}

impl Grouping {
    /// The next way to group that looks different in this view. The hosts are left out if there is only one.
    pub(super) fn next(self, view: View, many_hosts: bool) -> Self {
        match (view, self) {
            (View::Tree, Self::Host) => Self::Project,
            (View::Tree, _) => Self::Host,
            (_, Self::State) | (View::Columns, Self::None) => Self::Project,
            (_, Self::Project) if many_hosts => Self::Host,
            (View::Columns, _) | (View::List, Self::None) => Self::State,
            (View::List, Self::Project | Self::Host) => Self::None,
        }
    }

    /// What the view makes of it: a column is a state already, and a tree is always grouped by project.
    pub(super) fn in_view(self, view: View) -> Self {
        match (view, self) {
            (View::Tree, Self::Host) => Self::Host,
            (View::Tree, _) => Self::Project,
            (View::Columns, Self::None) => Self::State,
            (_, grouping) => grouping,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::State => "by state",
            Self::Project => "by project",
            Self::Host => "by host",
            Self::None => "not grouped",
        }
    }

    /// The headings with their sessions; one without a heading if the sessions are not grouped by project or host.
    fn groups<'a>(self, cards: &[&'a Card]) -> Vec<(Option<String>, Vec<&'a Card>)> {
        match self {
            Self::State | Self::None => vec![(None, cards.to_vec())],
            Self::Project => {
                by_project(cards).into_iter().map(|(name, members)| (Some(name), members)).collect()
            }
            Self::Host => by_key(cards, host_key)
                .into_values()
                .map(|members| (Some(host_heading(&members)), members))
                .collect(),
        }
    }
}

impl Listing {
    pub(super) fn new(
        shown: &ShownCards<'_>,
        view: View,
        view_options: &ViewOptions,
        bunches: Bunches,
    ) -> Self {
        let hidden: BTreeSet<&SessionId> =
            bunches.values().flat_map(|members| members.iter().skip(1)).collect();
        let cards: Vec<&Card> =
            shown.cards.iter().copied().filter(|card| !hidden.contains(&card.id)).collect();
        let mut listing = Self { parked: shown.parked, bunches, ..Self::default() };
        match view {
            View::List => listing.add_groups(&cards, view_options),
            View::Columns => listing.add_columns(&cards, view_options.grouping),
            View::Tree => listing.add_tree(&cards, view_options.grouping),
        }
        if shown.parked > 0 && view != View::Columns {
            listing.rows.push(ListingRow::Parked { count: shown.parked });
        }
        listing
    }

    /// How many sessions the lines stand for.
    pub(super) fn count<'a>(&self, ids: impl Iterator<Item = &'a SessionId>) -> usize {
        ids.map(|id| self.bunches.get(id).map_or(1, Vec::len)).sum()
    }

    /// A heading for these sessions. That of the sessions that need the person counts what the first line of the screen counts.
    fn heading(&self, text: &str, members: &[&Card], indent: u16) -> ListingRow {
        let count = self.count(members.iter().map(|card| &card.id));
        let idle = match text == NEEDS_YOU {
            true => members.iter().filter(|card| !card.needs_person()).count(),
            false => 0,
        };
        ListingRow::Heading { text: text.to_owned(), count: count - idle, idle, indent }
    }

    fn add_groups(&mut self, cards: &[&Card], view_options: &ViewOptions) {
        match view_options.grouping {
            _ if view_options.best_match_first && !view_options.search.is_empty() => {
                self.add_sessions(cards, 0)
            }
            Grouping::State => {
                for (group, title) in GROUPS {
                    self.add_group(title, &of_group(cards, group), 0);
                }
            }
            grouping => {
                for (heading, members) in grouping.groups(cards) {
                    match heading {
                        Some(heading) => self.add_group(&heading, &members, 0),
                        None => self.add_sessions(&members, 0),
                    }
                }
            }
        }
    }

    fn add_columns(&mut self, cards: &[&Card], grouping: Grouping) {
        for (column, (group, _)) in GROUPS.into_iter().enumerate() {
            let from = self.order.len();
            for (heading, members) in grouping.groups(&of_group(cards, group)) {
                match heading {
                    Some(heading) => self.add_group(&heading, &members, 0),
                    None => self.add_sessions(&members, 0),
                }
            }
            self.columns[column] = self.order[from..].to_vec();
            self.column_rows[column] = std::mem::take(&mut self.rows);
        }
    }

    /// Project, worktree, session, subagents; grouped by host, below the hosts.
    fn add_tree(&mut self, cards: &[&Card], grouping: Grouping) {
        if grouping != Grouping::Host {
            return self.add_projects(cards, 0);
        }
        for (heading, members) in grouping.groups(cards) {
            self.rows.push(self.heading(&heading.unwrap_or_default(), &members, 0));
            self.add_projects(&members, 1);
        }
    }

    fn add_projects(&mut self, cards: &[&Card], indent: u16) {
        for (project, members) in by_project(cards) {
            self.rows.push(self.heading(&project, &members, indent));
            for (worktree, members) in
                by_key(&members, |card| card.project.worktree.clone().unwrap_or_default())
            {
                match worktree.is_empty() {
                    true => self.add_sessions(&members, indent + 1),
                    false => self.add_group(&worktree, &members, indent + 1),
                }
            }
        }
    }

    fn add_group(&mut self, title: &str, members: &[&Card], indent: u16) {
        if !members.is_empty() {
            self.rows.push(self.heading(title, members, indent));
            self.add_sessions(members, indent + u16::from(indent > 0));
        }
    }

    fn add_sessions(&mut self, members: &[&Card], indent: u16) {
        for card in members {
            self.order.push(card.id.clone());
            self.rows.push(ListingRow::Session { id: card.id.clone(), indent });
            self.add_agents(card, indent);
        }
    }

    /// The subagents that have not ended.
    fn add_agents(&mut self, card: &Card, indent: u16) {
        let living = card.sub_agents.iter().enumerate().filter(|(_, agent)| agent.ended_at.is_none());
        let living: Vec<usize> = living.map(|(at, _)| at).collect();
        let hidden = living.len().saturating_sub(AGENTS_SHOWN_MAX);
        let shown = living.len() - hidden;
        for (n, agent) in living.into_iter().take(shown).enumerate() {
            let last = n + 1 == shown && hidden == 0;
            self.rows.push(ListingRow::Agent { session: card.id.clone(), agent, indent, last });
        }
        if hidden > 0 {
            self.rows.push(ListingRow::MoreAgents { count: hidden, indent });
        }
    }

    /// The column of a session, and its place in it.
    pub(super) fn place_in_columns(&self, id: &str) -> Option<(usize, usize)> {
        self.columns.iter().enumerate().find_map(|(column, members)| {
            members.iter().position(|member| member.as_str() == id).map(|at| (column, at))
        })
    }
}

fn column_rank<'a>(card: &Card, rank: &'a str) -> (Group, &'a str) {
    (card.agent_state.group, rank)
}

fn of_group<'a>(cards: &[&'a Card], group: Group) -> Vec<&'a Card> {
    cards.iter().copied().filter(|card| card.agent_state.group == group).collect()
}

/// The groups in the order of their keys; the cards keep their order.
fn by_key<'a, K: Ord>(cards: &[&'a Card], key: impl Fn(&'a Card) -> K) -> BTreeMap<K, Vec<&'a Card>> {
    let mut groups: BTreeMap<K, Vec<&Card>> = BTreeMap::new();
    for card in cards {
        groups.entry(key(card)).or_default().push(card);
    }
    groups
}

/// The cards by project. A project is one folder on one host. The headings of projects with the same name also show their folders.
fn by_project<'a>(cards: &[&'a Card]) -> Vec<(String, Vec<&'a Card>)> {
    type Key<'a> = (&'a str, Option<&'a str>, Option<&'a str>);
    let key =
        |card: &'a Card| -> Key<'a> { (&card.project.name, owner::host(card), card.project.path.as_deref()) };
    let groups = by_key(cards, key);
    let is_alone =
        |(name, host, _): Key<'_>| groups.keys().filter(|k| (k.0, k.1) == (name, host)).count() < 2;
    let heading = |key: Key<'_>| match key {
        (name, Some(host), _) if is_alone(key) => format!("{host}:{name}"),
        (name, None, _) if is_alone(key) => name.to_owned(),
        (name, host, path) => {
            let host = host.map(|host| format!("{host}:")).unwrap_or_default();
            format!("{host}{name} · {}", path.unwrap_or("no folder"))
        }
    };
    groups.iter().map(|(key, members)| (heading(*key), members.clone())).collect()
}

/// The sorting key of hosts: this machine comes first.
fn host_key(card: &Card) -> (bool, Option<&str>) {
    (card.owner.is_some(), owner::host(card))
}

/// `build-2 · unreachable since 14:05`
fn host_heading(members: &[&Card]) -> String {
    let host = members.iter().find_map(|card| card.host.clone()).unwrap_or_else(|| "this machine".to_owned());
    let unreachable = members.iter().find_map(|card| owner::unreachable(card));
    [host].into_iter().chain(unreachable).collect::<Vec<_>>().join(" · ")
}

impl<'a> ShownCards<'a> {
    /// Parked sessions are left out and counted, unless the person searches or filters for them.
    pub(super) fn new(cards: impl Iterator<Item = &'a Card>, view_options: &ViewOptions) -> Self {
        let mut cards: Vec<&Card> = cards.filter(|card| view_options.filter.takes(card)).collect();
        view_options.sort.sort(&mut cards);
        if !view_options.search.is_empty() {
            cards.sort_by_key(|card| card.parked.is_some());
            return Self { cards: found(cards, view_options), parked: 0 };
        }
        let all = cards.len();
        cards.retain(|card| card.parked.is_none() || view_options.filter == Filter::Parked);
        Self { parked: all - cards.len(), cards }
    }
}

/// The cards that match the search: those that contain every word in one of their texts. If there are none, those whose texts have the
/// letters of each word in order.
fn found<'a>(cards: Vec<&'a Card>, view_options: &ViewOptions) -> Vec<&'a Card> {
    let words: Vec<String> = view_options.search.split_whitespace().map(str::to_lowercase).collect();
    let literal: Vec<&Card> = cards.iter().copied().filter(|card| has_words(card, &words)).collect();
    let cards = if literal.is_empty() { cards } else { literal };
    let matcher = SkimMatcherV2::default();
    let mut scored: Vec<(i64, &Card)> =
        cards.into_iter().filter_map(|card| Some((score(&matcher, card, &words)?, card))).collect();
    if view_options.best_match_first {
        scored.sort_by_key(|(score, _)| Reverse(*score));
    }
    scored.into_iter().map(|(_, card)| card).collect()
}

fn has_words(card: &Card, words: &[String]) -> bool {
    let texts: Vec<String> = searched_texts(card).map(str::to_lowercase).collect();
    words.iter().all(|word| texts.iter().any(|text| text.contains(word)))
}

/// Every word of the search must be found, in any order.
fn score(matcher: &SkimMatcherV2, card: &Card, words: &[String]) -> Option<i64> {
    words.iter().try_fold(0, |sum, word| {
        let best = searched_texts(card).filter_map(|text| score_if_near(matcher, text, word)).max()?;
        Some(sum + best)
    })
}

/// The score of the word in the text, if its letters are near each other: those of a long text contain almost every word.
fn score_if_near(matcher: &SkimMatcherV2, text: &str, word: &str) -> Option<i64> {
    let (score, places) = matcher.fuzzy_indices(text, word)?;
    let span = places.last()? - places.first()? + 1;
    (span < 2 * places.len()).then_some(score)
}

fn searched_texts(card: &Card) -> impl Iterator<Item = &str> {
    [
        card.title.as_deref(),
        Some(card.project.name.as_str()),
        card.project.worktree.as_deref(),
        card.git_branch.as_deref(),
        card.seat.name.as_deref(),
        owner::host(card),
        Some(card.agent_state.label.as_str()),
        Some(card.id.as_str()),
    ]
    .into_iter()
    .flatten()
}
