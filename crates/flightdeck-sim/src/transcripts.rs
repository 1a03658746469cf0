//! A large seeded `projects` folder in the client's format, in compact JSON, for benches of readers.
//!
//! The writer counts the tokens that it writes, so that a reader's totals can be checked independently.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::{Value, json};

use crate::rng::Rng;

/// Models with a public price that other readers know too.
const MODELS: [&str; 3] =
    ["claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"];
/// The first message: 2026-10-01, in milliseconds.
const BEGIN_MS: u64 = 1_790_812_800_000;
const PROJECTS: u64 = 12;
/// Percentage of sessions that are forks: they begin with a copy of another session's lines.
const FORKS_PERCENT: u64 = 5;

/// Totals of the written messages; copies are counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WrittenTotals {
    pub bytes: u64,
    pub files: u64,
    pub messages: u64,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

/// Writes sessions below `projects` until their files have `bytes` together. The same seed writes the same files.
pub fn write_transcripts(projects: &Path, bytes: u64, seed: u64) -> io::Result<WrittenTotals> {
    let mut rng = Rng::new(seed);
    let mut maker = TranscriptGenerator {
        texts: random_texts(&mut rng),
        now_ms: BEGIN_MS,
        rng,
        written: WrittenTotals::default(),
    };
    let mut last: Option<(String, Vec<Value>)> = None;
    while maker.written.bytes < bytes {
        let project = format!("p{}", maker.rng.between(1, PROJECTS));
        let folder = projects.join(format!("-home-dev-work-{project}"));
        let id = maker.rng.uuid();
        let copied = match (&last, maker.rng.percent(FORKS_PERCENT)) {
            (Some((_, lines)), true) => lines.clone(),
            _ => Vec::new(),
        };
        let kept = maker.session(&folder, &id, &project, copied)?;
        last = Some((id, kept));
    }
    Ok(maker.written)
}

struct TranscriptGenerator {
    rng: Rng,
    texts: Vec<String>,
    now_ms: u64,
    written: WrittenTotals,
}

/// Most lines that a fork copies.
const COPIED_LINES_MAX: usize = 40;

impl TranscriptGenerator {
    /// Writes one session. Returns its first lines, which a fork copies.
    fn session(
        &mut self,
        folder: &Path,
        id: &str,
        project: &str,
        copied: Vec<Value>,
    ) -> io::Result<Vec<Value>> {
        fs::create_dir_all(folder)?;
        let mut file = BufWriter::new(File::create(folder.join(format!("{id}.jsonl")))?);
        self.written.files += 1;
        let common = json!({"userType": "external", "entrypoint": "cli", "cwd": format!("/home/dev/work/{project}"),
            "sessionId": id, "version": "2.1.325", "gitBranch": "main"});
        let mut lines = Vec::new();
        for mut line in copied {
            line["sessionId"] = json!(id);
            self.write_line(&mut file, &line, &mut lines)?;
        }
        for line in [json!({"type": "mode", "mode": "normal", "sessionId": id}), self.attachment(&common)] {
            self.write_line(&mut file, &line, &mut lines)?;
        }
        for _ in 0..self.rng.skewed(3, 80) {
            self.turn(&mut file, &common, false, &mut lines)?;
        }
        if self.rng.percent(20) {
            self.subagent(folder, id, &common)?;
        }
        file.flush()?;
        Ok(lines)
    }

    fn subagent(&mut self, folder: &Path, id: &str, common: &Value) -> io::Result<()> {
        let folder = folder.join(id).join("subagents");
        fs::create_dir_all(&folder)?;
        let agent = self.rng.hex(17);
        let mut file = BufWriter::new(File::create(folder.join(format!("agent-{agent}.jsonl")))?);
        self.written.files += 1;
        let mut common = common.clone();
        common["agentId"] = json!(agent);
        for _ in 0..self.rng.skewed(2, 10) {
            self.turn(&mut file, &common, true, &mut Vec::new())?;
        }
        file.flush()
    }

    /// A prompt, then answers of one to three blocks, each with a tool's result.
    fn turn(
        &mut self,
        file: &mut impl Write,
        common: &Value,
        sidechain: bool,
        lines: &mut Vec<Value>,
    ) -> io::Result<()> {
        let prompt = self.text(0, 12);
        let line = json!({"parentUuid": null, "isSidechain": sidechain, "promptId": "p", "type": "user",
            "message": {"role": "user", "content": prompt}, "origin": {"kind": "human"}});
        let line = self.stamped(line, common);
        self.write_line(file, &line, lines)?;
        for _ in 0..self.rng.between(1, 6) {
            self.answer(file, common, sidechain, lines)?;
            let result = self.text(8, 28);
            let line = json!({"parentUuid": "u", "isSidechain": sidechain, "promptId": "p", "type": "user",
                "message": {"role": "user", "content": [{"tool_use_id": "toolu_1", "type": "tool_result", "content": result}]},
                "toolUseResult": {"stdout": result, "stderr": "", "interrupted": false, "isImage": false}});
            let line = self.stamped(line, common);
            self.write_line(file, &line, lines)?;
        }
        Ok(())
    }

    fn answer(
        &mut self,
        file: &mut impl Write,
        common: &Value,
        sidechain: bool,
        lines: &mut Vec<Value>,
    ) -> io::Result<()> {
        let (id, request) = (format!("msg_{}", self.rng.hex(24)), format!("req_{}", self.rng.hex(24)));
        let model = *self.rng.pick(&MODELS);
        let usage = self.usage();
        for block in 0..*self.rng.pick(&[1, 1, 2, 3]) {
            let content = match self.rng.percent(50) {
                true => json!({"type": "text", "text": self.text(0, 16)}),
                false => {
                    json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": self.text(0, 8)}})
                }
            };
            let line = json!({"parentUuid": "u", "isSidechain": sidechain,
                "message": {"id": id, "type": "message", "role": "assistant", "model": model, "content": [content],
                    "stop_reason": "tool_use", "stop_sequence": null, "usage": usage},
                "apiBlockIndex": block, "requestId": request, "type": "assistant"});
            let line = self.stamped(line, common);
            self.write_line(file, &line, lines)?;
        }
        Ok(())
    }

    fn usage(&mut self) -> Value {
        let (input, output) = (self.rng.between(1, 50), self.rng.skewed(10, 2000));
        let (read, write) = (self.rng.between(10_000, 150_000), self.rng.skewed(1, 3000));
        self.written.messages += 1;
        self.written.input += input;
        self.written.output += output;
        self.written.cache_read += read;
        self.written.cache_write += write;
        json!({"input_tokens": input, "cache_creation_input_tokens": write, "cache_read_input_tokens": read,
            "output_tokens": output, "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": write}})
    }

    fn attachment(&mut self, common: &Value) -> Value {
        let text = self.text(20, 28);
        let line = json!({"parentUuid": null, "isSidechain": false,
            "attachment": {"type": "prompt_snapshot", "content": text}, "type": "attachment"});
        self.stamped(line, common)
    }

    fn stamped(&mut self, mut line: Value, common: &Value) -> Value {
        self.now_ms += self.rng.skewed(200, 30_000);
        line["uuid"] = json!(self.rng.uuid());
        line["timestamp"] = json!(iso(self.now_ms));
        if let (Some(line), Some(common)) = (line.as_object_mut(), common.as_object()) {
            line.extend(common.clone());
        }
        line
    }

    fn text(&mut self, from: u64, to: u64) -> String {
        let place = self.rng.between(from, to - 1) as usize;
        self.texts.get(place).cloned().unwrap_or_default()
    }

    fn write_line(&mut self, file: &mut impl Write, line: &Value, lines: &mut Vec<Value>) -> io::Result<()> {
        let mut json = serde_json::to_vec(line)?;
        json.push(b'\n');
        file.write_all(&json)?;
        self.written.bytes += json.len() as u64;
        if lines.len() < COPIED_LINES_MAX {
            lines.push(line.clone());
        }
        Ok(())
    }
}

/// Text from a sentence to a large file, with quotes and line ends, which make parsing slow.
fn random_texts(rng: &mut Rng) -> Vec<String> {
    let words: Vec<String> = (0..500).map(|_| "x".repeat(rng.between(2, 9) as usize) + &rng.hex(2)).collect();
    let sizes = [200, 400, 800, 1500, 3000, 6000, 20_000, 60_000];
    let text = |rng: &mut Rng, size: usize| {
        let mut text = String::new();
        while text.len() < size {
            text += rng.pick(&words).as_str();
            text += if rng.percent(10) { "\n" } else { " " };
            if rng.percent(3) {
                text += "\"quoted\" ";
            }
        }
        text
    };
    sizes.iter().flat_map(|size| [*size; 4]).map(|size| text(rng, size)).collect()
}

/// RFC 3339 from milliseconds, without a clock or a library: days to a civil date.
pub(crate) fn iso(ms: u64) -> String {
    let (days, rest) = (ms / 86_400_000, ms % 86_400_000);
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (day, month) =
        (day_of_year - (153 * shifted + 2) / 5 + 1, if shifted < 10 { shifted + 3 } else { shifted - 9 });
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (h, m, s) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60);
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{:03}Z", rest % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_the_client_does() {
        assert_eq!(iso(1_794_768_451_273), "2026-11-15T18:47:31.273Z");
        assert_eq!(iso(951_782_400_000), "2000-02-29T00:00:00.000Z");
    }

    #[test]
    fn the_same_seed_writes_the_same_amount() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (x, y) = (
            write_transcripts(a.path(), 2_000_000, 7).unwrap(),
            write_transcripts(b.path(), 2_000_000, 7).unwrap(),
        );
        assert_eq!(x, y);
        assert!(x.bytes >= 2_000_000 && x.messages > 50, "{x:?}");
    }
}
