//! The samples as a picture: one strip per measurement, over the same time axis.

use std::fmt::Write;

use super::sample::{LoadSize, Sample};

const LEFT_PX: f64 = 190.0;
const WIDE_PX: f64 = 520.0;
const STRIP_PX: f64 = 64.0;

/// The title of a strip, and its value in a sample.
type Strip = (&'static str, fn(&Sample) -> f64);

const STRIPS: [Strip; 7] = [
    ("acknowledged, median, ms", |s| s.ack_p50_ms),
    ("acknowledged, p99, ms", |s| s.ack_p99_ms),
    ("acknowledged, slowest, ms", |s| s.ack_max_ms),
    ("seen by a viewer, p99, ms", |s| s.seen_p99_ms),
    ("resident, MB", |s| s.resident_mb),
    ("database, MB", |s| s.database_mb),
    ("old events removed", |s| s.removals as f64),
];

/// The first sample is left out: all viewers connect in it, and its peak would flatten every other value.
pub(super) fn svg(load: &LoadSize, samples: &[Sample]) -> String {
    let samples = samples.get(1..).unwrap_or_default();
    let (width, height) = (LEFT_PX + WIDE_PX + 80.0, 50.0 + STRIP_PX * STRIPS.len() as f64);
    let end = samples.last().map_or(1.0, |s| s.at);
    // Writing to a String cannot fail.
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"10\" y=\"20\" fill=\"#666\">{} sessions · {} events a second · {} viewers · {end:.0} s</text>\n",
        load.sessions, load.rate, load.viewers
    );
    for (n, (name, of)) in STRIPS.iter().enumerate() {
        let (top, bottom) = (40.0 + STRIP_PX * n as f64, 40.0 + STRIP_PX * (n as f64 + 0.8));
        let most = samples.iter().map(of).fold(0.0, f64::max).max(1e-9);
        let x = |s: &Sample| LEFT_PX + s.at / end * WIDE_PX;
        let y = |s: &Sample| bottom - of(s) / most * (bottom - top);
        let points: Vec<_> = samples.iter().map(|s| format!("{:.1},{:.1}", x(s), y(s))).collect();
        let _ = writeln!(svg, "<text x=\"10\" y=\"{:.1}\" fill=\"#222\">{name}</text>", bottom - 14.0);
        let _ = writeln!(svg, "<path d=\"M{LEFT_PX} {bottom:.1}h{WIDE_PX}\" stroke=\"#e4e4e4\"/>");
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"#57a\" stroke-width=\"1.5\"/>",
            points.join(" ")
        );
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"#666\">{most:.1}</text>",
            LEFT_PX + WIDE_PX + 8.0,
            top + 10.0
        );
    }
    svg + "</svg>\n"
}
