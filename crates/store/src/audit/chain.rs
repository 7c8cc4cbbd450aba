//! Verification of the chain, and identification of the line at fault where it breaks.
//!
//! A line states its number and the hash of the line before it. If both match, the link holds. If
//! the hash matches and the number does not, this line was modified. If the number matches and the
//! hash does not, the previous line was modified, unless the next line contradicts this one: then
//! this one was. If neither matches, lines are missing, or this line was moved here. The head file
//! vouches for the last line as a next line would.
//!
//! Invariant: one manipulated line causes one problem, which names that line.

use super::files::{HEAD, HeadFile, LogFile};
use super::head::Head;
use super::line::{self, Link};
use super::report::{AuditReport, ChainProblem, PROBLEMS_LIMIT, ProblemKind};

/// The maximum number of gaps that are remembered in case their lines turn up later.
const GAPS_LIMIT: usize = 1000;

/// A line in a file, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LinePosition {
    part: LogFile,
    line: u64,
}

/// A line that was read.
#[derive(Clone, Copy)]
struct SeenLine {
    place: LinePosition,
    head: Head,
    /// Whether the line was reported as a problem.
    is_blamed: bool,
    /// Whether a head confirms the line.
    is_vouched: bool,
}

/// A range of lines that are missing so far.
struct Gap {
    from: u64,
    to: u64,
    /// The line found in their place.
    place: LinePosition,
    file: Option<String>,
}

/// A head, and the line that contradicts it, if one does.
struct Witness {
    head: Head,
    /// The problem to report if an earlier line of the chain contradicts the head.
    mismatch_kind: ProblemKind,
    contradicted_by: Option<SeenLine>,
}

/// The state of the verification.
pub(super) struct Chain {
    position: LinePosition,
    /// The previous file.
    previous_file: Option<LogFile>,
    /// `last` is the last readable line, `top` the one with the greatest number.
    last: SeenLine,
    top: SeenLine,
    /// The number of broken lines since `last`.
    broken: u64,
    /// The indexes of their problems in `problems`.
    unnumbered: Vec<usize>,
    /// The line before `last`, which `last` contradicts; reported unless `last` turns out to be
    /// modified itself.
    suspect: Option<SeenLine>,
    torn: Option<u64>,
    gaps: Vec<Gap>,
    witnesses: Vec<Witness>,
    head_file: HeadFile,
    problems: Vec<(LinePosition, ChainProblem)>,
    result: AuditReport,
}

impl Chain {
    /// Starts a verification with the head file, and with heads that have to be in the chain, each with the problem to report if it is
    /// not.
    pub(super) fn new(kept: HeadFile, heads: impl Iterator<Item = (Head, ProblemKind)>) -> Self {
        let here = LinePosition { part: LogFile::Current, line: 0 };
        let start = SeenLine { place: here, head: Head::START, is_blamed: false, is_vouched: true };
        let file = if let HeadFile::Head(head) = kept { Some((head, ProblemKind::HeadWrong)) } else { None };
        let witnesses = file.into_iter().chain(heads);
        let witnesses = witnesses.map(|(head, mismatch_kind)| Witness { head, mismatch_kind, contradicted_by: None });
        Self {
            position: here,
            previous_file: None,
            last: start,
            top: start,
            broken: 0,
            unnumbered: Vec::new(),
            suspect: None,
            torn: None,
            gaps: Vec::new(),
            witnesses: witnesses.collect(),
            head_file: kept,
            problems: Vec::new(),
            result: AuditReport::default(),
        }
    }

    /// Continues with the next file.
    pub(super) fn start_file(&mut self, part: LogFile) {
        self.previous_file = (self.result.files > 0).then_some(self.position.part);
        self.position = LinePosition { part, line: 0 };
        self.result.files += 1;
    }

    /// Continues with the next line of the file.
    pub(super) fn push_line(&mut self, line: &[u8]) {
        self.position.line += 1;
        self.result.lines += 1;
        match line::parse_link(line) {
            Link::Chained(seq, previous) => self.push_chained(Head::new(seq, blake3::hash(line)), previous),
            Link::Unchained if self.top.head == Head::START && self.broken == 0 => self.result.unchained += 1,
            Link::Unchained => self.report(self.position, None, ProblemKind::Unchained),
            Link::Broken => self.push_broken(),
        }
    }

    /// Continues with a line that exceeds the maximum length.
    pub(super) fn push_oversized(&mut self) {
        self.position.line += 1;
        self.result.lines += 1;
        self.push_broken();
    }

    /// Continues with the incomplete line at the end of a file.
    pub(super) fn push_tail(&mut self, bytes: u64) {
        self.position.line += 1;
        match self.position.part {
            LogFile::Current => self.torn = Some(bytes),
            // Rotated files contain only complete lines.
            LogFile::Numbered(_) => self.push_broken(),
        }
    }

    fn push_broken(&mut self) {
        self.resolve_suspect();
        self.broken += 1;
        if self.problems.len() < PROBLEMS_LIMIT {
            self.unnumbered.push(self.problems.len());
        }
        self.report(self.position, None, ProblemKind::Broken);
    }

    fn push_chained(&mut self, head: Head, previous: blake3::Hash) {
        let mut seen = SeenLine { place: self.position, head, is_blamed: false, is_vouched: false };
        let fit = |before: &SeenLine| (previous == before.head.hash(), head.seq() == before.head.seq() + 1);
        // After a line that was moved here, the chain continues from the greatest number.
        let before = if fit(&self.last) == (false, false) { self.top } else { self.last };
        match fit(&before) {
            (true, true) => self.resolve_suspect(),
            (true, false) => {
                self.resolve_suspect();
                seen.head = Head::new(before.head.next(), head.hash());
                self.blame(&mut seen, ProblemKind::Modified);
            }
            (false, true) if self.broken == 0 => self.mismatch(before, &mut seen),
            _ => {
                self.resolve_suspect();
                self.resync(&seen);
            }
        }
        self.accept(seen);
    }

    /// The number matches and the hash does not.
    fn mismatch(&mut self, mut before: SeenLine, seen: &mut SeenLine) {
        if before.is_vouched {
            self.blame(seen, ProblemKind::Modified);
        } else if self.suspect.take().is_some() {
            // The next line contradicts this one, and this one contradicts the line before it.
            self.blame(&mut before, ProblemKind::Unlinked);
        } else if !before.is_blamed {
            self.suspect = Some(before);
        }
    }

    /// Neither the number nor the hash matches.
    fn resync(&mut self, seen: &SeenLine) {
        let (seq, top) = (seen.head.seq(), self.top.head.seq());
        let next = top + self.broken + 1;
        if seq > next {
            self.open_gap(next, seq - 1);
        } else if seq <= top {
            let what = if self.is_missing(seq) {
                ProblemKind::Reordered { after: self.last.head.seq() }
            } else {
                ProblemKind::Repeated
            };
            self.report(seen.place, Some(seq), what);
        }
    }

    fn accept(&mut self, mut seen: SeenLine) {
        let seq = seen.head.seq();
        self.number_broken(seq);
        for witness in &mut self.witnesses {
            if witness.head.seq() == seq {
                seen.is_vouched |= witness.head == seen.head;
                witness.contradicted_by = (witness.head != seen.head && !seen.is_blamed).then_some(seen);
            }
        }
        if seen.is_vouched {
            self.resolve_suspect();
        }
        if seq > self.top.head.seq() {
            self.top = seen;
        } else {
            self.fill_gap(seq);
        }
        self.last = seen;
    }

    /// Reports the suspect: the line after it was confirmed.
    fn resolve_suspect(&mut self) {
        if let Some(mut suspect) = self.suspect.take() {
            self.blame(&mut suspect, ProblemKind::Modified);
        }
    }

    fn blame(&mut self, seen: &mut SeenLine, what: ProblemKind) {
        if !std::mem::replace(&mut seen.is_blamed, true) {
            self.report(seen.place, Some(seen.head.seq()), what);
        }
        for witness in &mut self.witnesses {
            witness.contradicted_by.take_if(|refuted| refuted.place == seen.place);
        }
    }

    /// Assigns the broken lines before line `before` the numbers that they must have had.
    fn number_broken(&mut self, before: u64) {
        let numbers = self.last.head.seq() + 1..before;
        for (at, seq) in self.unnumbered.drain(..).zip(numbers) {
            self.problems[at].1.seq = Some(seq);
        }
        self.broken = 0;
    }

    fn open_gap(&mut self, from: u64, to: u64) {
        let expected = self.previous_file.map_or(Some(1), |part| match part {
            LogFile::Numbered(number) => number.checked_add(1),
            LogFile::Current => None,
        });
        let file = match (self.position, expected) {
            (LinePosition { part: LogFile::Numbered(number), line: 1 }, Some(expected)) if number > expected => {
                Some(LogFile::Numbered(expected).name())
            }
            _ => None,
        };
        self.gaps.push(Gap { from, to, place: self.position, file });
        if self.gaps.len() > GAPS_LIMIT {
            let gap = self.gaps.remove(0);
            self.report_gap(gap);
        }
    }

    fn is_missing(&self, seq: u64) -> bool {
        self.gaps.iter().any(|gap| (gap.from..=gap.to).contains(&seq))
    }

    /// Removes a line that turned up from its gap.
    fn fill_gap(&mut self, seq: u64) {
        let Some(at) = self.gaps.iter().position(|gap| (gap.from..=gap.to).contains(&seq)) else { return };
        let gap = self.gaps.remove(at);
        let before = Gap { to: seq - 1, file: gap.file.clone(), ..gap };
        let after = Gap { from: seq + 1, ..gap };
        self.gaps.splice(at..at, [before, after].into_iter().filter(|gap| gap.from <= gap.to));
    }

    fn report_gap(&mut self, gap: Gap) {
        let Gap { from, to, place, file } = gap;
        let what = match file {
            Some(file) => ProblemKind::FileMissing { file, from, to },
            None => ProblemKind::Dropped { from, to },
        };
        self.report(place, None, what);
    }

    fn report(&mut self, place: LinePosition, seq: Option<u64>, what: ProblemKind) {
        if self.problems.len() < PROBLEMS_LIMIT {
            self.problems.push((place, ChainProblem { file: place.part.name(), line: place.line, seq, kind: what }));
        } else {
            self.result.omitted += 1;
        }
    }

    /// Ends the verification after the last line of the last file.
    pub(super) fn finish(mut self) -> AuditReport {
        let known = self.witnesses.iter().map(|witness| witness.head.seq()).max().unwrap_or(0);
        let reached = self.top.head.seq() + self.broken;
        self.number_broken(known.saturating_add(1));
        self.check_last();
        self.check_witnesses();
        for gap in std::mem::take(&mut self.gaps) {
            self.report_gap(gap);
        }
        let end = LinePosition { line: self.position.line + u64::from(self.torn.is_none()), ..self.position };
        if known > reached {
            self.report(end, None, ProblemKind::LostEnd { from: reached + 1, to: known });
        } else if let Some(bytes) = self.torn {
            self.report(end, None, ProblemKind::Torn { bytes });
        }
        self.problems.sort_by_key(|(place, _)| *place);
        self.result.problems = self.problems.into_iter().map(|(_, problem)| problem).collect();
        self.result.head = (self.top.head != Head::START).then_some(self.top.head);
        self.result
    }

    /// Checks the last line, for which the heads vouch.
    fn check_last(&mut self) {
        let mut last = self.top;
        let refuted = |witness: &Witness| witness.contradicted_by.is_some_and(|seen| seen.place == last.place);
        if self.witnesses.iter().any(refuted) {
            let what = if self.suspect.take().is_some() { ProblemKind::Unlinked } else { ProblemKind::Modified };
            self.blame(&mut last, what);
        } else {
            self.resolve_suspect();
        }
    }

    fn check_witnesses(&mut self) {
        for witness in std::mem::take(&mut self.witnesses) {
            match witness {
                Witness {
                    contradicted_by: Some(seen),
                    mismatch_kind:
                        otherwise @ (ProblemKind::Rewritten | ProblemKind::NotAsIndexed | ProblemKind::NotAsPublished),
                    ..
                } => {
                    self.report(seen.place, Some(seen.head.seq()), otherwise);
                }
                Witness { contradicted_by: Some(_), mismatch_kind: otherwise, .. } => self.report_head(otherwise),
                Witness { contradicted_by: None, .. } => {}
            }
        }
        match self.head_file {
            HeadFile::Damaged => self.report_head(ProblemKind::HeadWrong),
            // A process may have died between the first line and the head file.
            HeadFile::Missing if self.top.head.seq() > 1 => self.report_head(ProblemKind::HeadMissing),
            _ => {}
        }
    }

    fn report_head(&mut self, what: ProblemKind) {
        let place = LinePosition { part: LogFile::Current, line: u64::MAX };
        self.report(place, None, what);
        if let Some((_, problem)) = self.problems.last_mut().filter(|(at, _)| *at == place) {
            (problem.file, problem.line) = (HEAD.to_owned(), 1);
        }
    }
}
