//! The ratios as a picture: a bar from p10 to p90, a dot at the median, a line where the promise is.

use std::fmt::Write;

use super::table::{TableLine, short};
use crate::machine::Machine;

const LABELS_PX: f64 = 270.0;
const BARS_PX: f64 = 420.0;
const ROW_PX: f64 = 26.0;
const HEAD_PX: f64 = 54.0;

/// Ratios on a logarithmic scale, from 0.1 × to 20 ×.
fn x(ratio: f64) -> f64 {
    let (from, to) = (0.1_f64.ln(), 20_f64.ln());
    LABELS_PX + ((ratio.clamp(0.1, 20.0).ln() - from) / (to - from)) * BARS_PX
}

pub(super) fn svg(machine: &Machine, lines: &[TableLine]) -> String {
    let ratios: Vec<&TableLine> = lines.iter().filter(|line| line.is_ratio() && !line.is_failure()).collect();
    let (width, height) = (LABELS_PX + BARS_PX + 90.0, HEAD_PX + ROW_PX * ratios.len() as f64 + 40.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for (n, line) in machine.to_string().lines().enumerate() {
        text(&mut svg, 10.0, 18.0 + 16.0 * n as f64, "#666", line);
    }
    for tick in [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0] {
        let (x, bottom) = (x(tick), height - 30.0);
        let colour = if tick == 1.0 { "#999" } else { "#e4e4e4" };
        // Writing to a String cannot fail.
        let _ = writeln!(svg, "<path d=\"M{x:.1} {HEAD_PX}V{bottom}\" stroke=\"{colour}\"/>");
        text(&mut svg, x - 10.0, bottom + 16.0, "#666", &format!("{tick} ×"));
    }
    for (n, line) in ratios.iter().enumerate() {
        bar(&mut svg, HEAD_PX + ROW_PX * (n as f64 + 0.6), line);
    }
    svg + "</svg>\n"
}

fn bar(svg: &mut String, y: f64, line: &TableLine) {
    let colour = match line.held {
        Some(true) => "#2a7",
        Some(false) => "#d33",
        None => "#57a",
    };
    text(svg, 10.0, y + 4.0, "#222", &line.title);
    let (from, to, at) = (x(line.p10), x(line.p90), x(line.value));
    let _ = writeln!(
        svg,
        "<path d=\"M{from:.1} {y:.1}H{to:.1}\" stroke=\"{colour}\" stroke-width=\"6\" opacity=\".35\"/>"
    );
    let _ = writeln!(svg, "<circle cx=\"{at:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>");
    let bound = line.promise.trim_start_matches(['≤', '≥', ' ']).trim_end_matches([' ', '×']).parse().ok();
    if let Some(bound) = bound.map(x) {
        let (top, bottom) = (y - 9.0, y + 9.0);
        let _ = writeln!(
            svg,
            "<path d=\"M{bound:.1} {top:.1}V{bottom:.1}\" stroke=\"#222\" stroke-width=\"2\"/>"
        );
    }
    text(svg, LABELS_PX + BARS_PX + 12.0, y + 4.0, colour, &format!("{} ×", short(line.value)));
}

fn text(svg: &mut String, x: f64, y: f64, colour: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\">{words}</text>");
}
