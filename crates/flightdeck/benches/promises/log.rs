//! `GET /api/assignments`, `GET /api/digest` and `flightdeck log` with as many assignments as a person has after years.

use std::process::Stdio;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use flightdeck::store::Store;
use flightdeck_core::assignment::intent::Intent;
use flightdeck_core::assignment::transition::Actor;
use flightdeck_core::assignment::{Assignment, AssignmentMessage, AwaitReason, Opening};
use flightdeck_core::ids::HostId;
use flightdeck_core::project::Project;
use flightdeck_core::session::SessionAssignment;
use flightdeck_core::time::{Millis, Timestamp};

use crate::daemon::Daemon;
use crate::world::{World, runtime, session};
use crate::{PromisePlan, Series};

const ASSIGNMENTS: i64 = 100_000;
const PROJECTS: i64 = 9;
/// Assignments in one transaction.
const BATCH: usize = 5_000;
/// One every ten minutes.
const EVERY: Millis = Millis::minutes(10);

pub(crate) fn measure(plan: &PromisePlan) -> Result<Vec<Series>> {
    let world = World::new(plan)?;
    fill(&world)?;
    let daemon = Daemon::start(&world)?;
    let queries = [
        ("the newest page", "/api/assignments"),
        ("a page of one project", "/api/assignments?project=project-3"),
        ("what waits", "/api/assignments?state=awaiting_input"),
        // The longest search: no row matches, so a page reads as many rows as it may.
        ("a page of a search", "/api/assignments?text=nowhere"),
        ("a digest of seven days", "/api/digest?since=7d"),
    ];
    let mut series: Vec<_> = queries.iter().map(|(name, _)| Series::new(*name, "ms")).collect();
    series.push(Series::new("flightdeck log", "ms"));
    for _ in 0..plan.rounds(10, 50) {
        let mut samples = Vec::new();
        for (_, path) in queries {
            let begun = Instant::now();
            daemon.get(path)?;
            samples.push(begun.elapsed());
        }
        samples.push(log(plan, &world)?);
        series.iter_mut().zip(samples).for_each(|(s, took)| s.samples.push(took.as_secs_f64() * 1e3));
    }
    Ok(series)
}

/// With the time that the process needs to start.
fn log(plan: &PromisePlan, world: &World) -> Result<std::time::Duration> {
    let begun = Instant::now();
    let mut log = world.command(&plan.binary);
    let done = log.arg("log").stdout(Stdio::null()).status().context("cannot run flightdeck log")?;
    ensure!(done.success(), "flightdeck log failed");
    Ok(begun.elapsed())
}

fn fill(world: &World) -> Result<()> {
    std::fs::create_dir_all(world.home().flightdeck_home())?;
    let store = Store::open(&world.home().flightdeck_home().join("flightdeck.db"))?.store;
    let begin = flightdeck::clock::now() - Millis(EVERY.0 * ASSIGNMENTS);
    let all: Vec<i64> = (0..ASSIGNMENTS).collect();
    runtime()?.block_on(async {
        for batch in all.chunks(BATCH) {
            let rows = batch.iter().map(|n| assignment(*n, begin + Millis(EVERY.0 * n)));
            store.put_assignments(rows.collect::<Result<_>>()?).await?;
        }
        store.close().await?;
        Ok(())
    })
}

/// At work for two minutes, then waiting for three, then at work for one.
fn assignment(n: i64, at: Timestamp) -> Result<SessionAssignment> {
    let prompt = Some(format!("fix the parser of file {n}, and write a test for it"));
    let mut assignment = Assignment::open(Opening { id: format!("a-{n:032x}").into(), seq: 1, at, prompt });
    assignment.await_input(AwaitReason::Asked, at + Millis::minutes(2))?;
    assignment.step(Actor::User, Intent::Answer, at + Millis::minutes(5))?;
    let done = at + Millis::minutes(6);
    assignment.add_message(AssignmentMessage::certain(
        2,
        done,
        Actor::Agent,
        Intent::Completion,
        "Fixed.".repeat(40),
    ));
    assignment.step(Actor::Agent, Intent::Completion, done)?;
    Ok(SessionAssignment {
        session_id: session(n as u64 % 500).into(),
        seat: Some("%1".to_owned()),
        host: HostId::this_machine(),
        project: Project { path: Some(format!("/home/dev/work/project-{}", n % PROJECTS)), certain: true },
        assignment,
    })
}
