//! Follows the chain, and finds out which line is to blame where it breaks.
//!
//! A line says which number it has and what the hash of the line before it is. Where both fit, all is well. Where the hash
//! fits and the number does not, the line itself was changed. Where the number fits and the hash does not, it was the line
//! before it, unless this one is not what the next one says it is: then this one is to blame. Where neither fits, lines
//! are missing, or this one was moved here. The head file speaks of the last line as a next one would.
//!
//! Invariant: what was done to one line gives one problem, which names that line.

use super::files::{HEAD, Kept, Part};
use super::head::Head;
use super::line::{self, Link};
use super::verify::{PROBLEMS_LIMIT, Problem, Verdict, What};

/// How many ranges of missing lines are remembered, in case that the lines come later.
const GAPS_LIMIT: usize = 1000;

/// A line of a file, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    part: Part,
    line: u64,
}

/// A line that was read.
#[derive(Clone, Copy)]
struct Seen {
    place: Place,
    head: Head,
    /// It is known to be wrong.
    blamed: bool,
    /// A head says that it is right.
    vouched: bool,
}

/// Lines that are missing so far.
struct Gap {
    from: u64,
    to: u64,
    /// What came instead.
    place: Place,
    file: Option<String>,
}

/// A head, and what was found to disagree with it.
struct Witness {
    head: Head,
    /// What it means where a line in the midst of the chain is not the one that it speaks of.
    otherwise: What,
    refuted: Option<Seen>,
}

/// The chain as far as it was read.
pub(super) struct Chain {
    here: Place,
    /// The file before this one.
    part_before: Option<Part>,
    /// The last line that could be read, and the one with the greatest number.
    last: Seen,
    top: Seen,
    /// Lines after the last one that could not be read.
    broken: u64,
    /// Where those are among the problems.
    unnumbered: Vec<usize>,
    /// The line before the last one, which does not fit, as far as the last one is to be believed.
    suspect: Option<Seen>,
    torn: Option<u64>,
    gaps: Vec<Gap>,
    witnesses: Vec<Witness>,
    kept: Kept,
    problems: Vec<(Place, Problem)>,
    verdict: Verdict,
}

impl Chain {
    /// A chain of which no line was read, with the head file, a head that was kept elsewhere, and one that the index has.
    pub(super) fn new(kept: Kept, earlier: Option<Head>, indexed: Option<Head>) -> Self {
        let here = Place { part: Part::Current, line: 0 };
        let start = Seen { place: here, head: Head::START, blamed: false, vouched: true };
        let witness = |otherwise| move |head| Witness { head, otherwise, refuted: None };
        let file = if let Kept::Head(head) = kept { Some(head) } else { None };
        let witnesses = file.map(witness(What::HeadWrong)).into_iter().chain(earlier.map(witness(What::Rewritten)));
        let witnesses = witnesses.chain(indexed.map(witness(What::NotAsIndexed)));
        Self {
            here,
            part_before: None,
            last: start,
            top: start,
            broken: 0,
            unnumbered: Vec::new(),
            suspect: None,
            torn: None,
            gaps: Vec::new(),
            witnesses: witnesses.collect(),
            kept,
            problems: Vec::new(),
            verdict: Verdict::default(),
        }
    }

    /// Goes on with the next file.
    pub(super) fn begin(&mut self, part: Part) {
        self.part_before = (self.verdict.files > 0).then_some(self.here.part);
        self.here = Place { part, line: 0 };
        self.verdict.files += 1;
    }

    /// Goes on with the next line of the file.
    pub(super) fn line(&mut self, line: &[u8]) {
        self.here.line += 1;
        self.verdict.lines += 1;
        match line::link(line) {
            Link::Chained(seq, previous) => self.chained(Head::new(seq, blake3::hash(line)), previous),
            Link::Unchained if self.top.head == Head::START && self.broken == 0 => self.verdict.unchained += 1,
            Link::Unchained => self.report(self.here, None, What::Unchained),
            Link::Broken => self.unreadable(),
        }
    }

    /// Goes on with a line that is too long to be one.
    pub(super) fn long(&mut self) {
        self.here.line += 1;
        self.verdict.lines += 1;
        self.unreadable();
    }

    /// Goes on with what is after the last newline of a file.
    pub(super) fn tail(&mut self, bytes: u64) {
        self.here.line += 1;
        match self.here.part {
            Part::Current => self.torn = Some(bytes),
            // Only whole lines are put aside.
            Part::Numbered(_) => self.unreadable(),
        }
    }

    fn unreadable(&mut self) {
        self.settle();
        self.broken += 1;
        if self.problems.len() < PROBLEMS_LIMIT {
            self.unnumbered.push(self.problems.len());
        }
        self.report(self.here, None, What::Broken);
    }

    fn chained(&mut self, head: Head, previous: blake3::Hash) {
        let mut seen = Seen { place: self.here, head, blamed: false, vouched: false };
        let fit = |before: &Seen| (previous == before.head.hash(), head.seq() == before.head.seq() + 1);
        // After a line that was moved here, the chain goes on where it was.
        let before = if fit(&self.last) == (false, false) { self.top } else { self.last };
        match fit(&before) {
            (true, true) => self.settle(),
            (true, false) => {
                self.settle();
                seen.head = Head::new(before.head.next(), head.hash());
                self.blame(&mut seen, What::Changed);
            }
            (false, true) if self.broken == 0 => self.mismatch(before, &mut seen),
            _ => {
                self.settle();
                self.jump(&seen);
            }
        }
        self.accept(seen);
    }

    /// The number fits, and the hash does not.
    fn mismatch(&mut self, mut before: Seen, seen: &mut Seen) {
        if before.vouched {
            self.blame(seen, What::Changed);
        } else if self.suspect.take().is_some() {
            // It is not what this line says, and what it says of the line before it does not fit either.
            self.blame(&mut before, What::Unlinked);
        } else if !before.blamed {
            self.suspect = Some(before);
        }
    }

    /// Neither the number fits nor the hash.
    fn jump(&mut self, seen: &Seen) {
        let (seq, top) = (seen.head.seq(), self.top.head.seq());
        let next = top + self.broken + 1;
        if seq > next {
            self.gap(next, seq - 1);
        } else if seq <= top {
            let what =
                if self.is_missing(seq) { What::Reordered { after: self.last.head.seq() } } else { What::Repeated };
            self.report(seen.place, Some(seq), what);
        }
    }

    fn accept(&mut self, mut seen: Seen) {
        let seq = seen.head.seq();
        self.number_broken(seq);
        for witness in &mut self.witnesses {
            if witness.head.seq() == seq {
                seen.vouched |= witness.head == seen.head;
                witness.refuted = (witness.head != seen.head && !seen.blamed).then_some(seen);
            }
        }
        if seen.vouched {
            self.settle();
        }
        if seq > self.top.head.seq() {
            self.top = seen;
        } else {
            self.fill(seq);
        }
        self.last = seen;
    }

    /// Whoever is suspected did it: the line after it is to be believed.
    fn settle(&mut self) {
        if let Some(mut suspect) = self.suspect.take() {
            self.blame(&mut suspect, What::Changed);
        }
    }

    fn blame(&mut self, seen: &mut Seen, what: What) {
        if !std::mem::replace(&mut seen.blamed, true) {
            self.report(seen.place, Some(seen.head.seq()), what);
        }
        for witness in &mut self.witnesses {
            witness.refuted.take_if(|refuted| refuted.place == seen.place);
        }
    }

    /// Gives the broken lines before the line with this number the numbers that they must have had.
    fn number_broken(&mut self, before: u64) {
        let numbers = self.last.head.seq() + 1..before;
        for (at, seq) in self.unnumbered.drain(..).zip(numbers) {
            self.problems[at].1.seq = Some(seq);
        }
        self.broken = 0;
    }

    fn gap(&mut self, from: u64, to: u64) {
        let expected = self.part_before.map_or(Some(1), |part| match part {
            Part::Numbered(number) => number.checked_add(1),
            Part::Current => None,
        });
        let file = match (self.here, expected) {
            (Place { part: Part::Numbered(number), line: 1 }, Some(expected)) if number > expected => {
                Some(Part::Numbered(expected).name())
            }
            _ => None,
        };
        self.gaps.push(Gap { from, to, place: self.here, file });
        if self.gaps.len() > GAPS_LIMIT {
            let gap = self.gaps.remove(0);
            self.missing(gap);
        }
    }

    fn is_missing(&self, seq: u64) -> bool {
        self.gaps.iter().any(|gap| (gap.from..=gap.to).contains(&seq))
    }

    /// A line that was missing is here.
    fn fill(&mut self, seq: u64) {
        let Some(at) = self.gaps.iter().position(|gap| (gap.from..=gap.to).contains(&seq)) else { return };
        let gap = self.gaps.remove(at);
        let before = Gap { to: seq - 1, file: gap.file.clone(), ..gap };
        let after = Gap { from: seq + 1, ..gap };
        self.gaps.splice(at..at, [before, after].into_iter().filter(|gap| gap.from <= gap.to));
    }

    fn missing(&mut self, gap: Gap) {
        let Gap { from, to, place, file } = gap;
        let what = match file {
            Some(file) => What::FileMissing { file, from, to },
            None => What::Dropped { from, to },
        };
        self.report(place, None, what);
    }

    fn report(&mut self, place: Place, seq: Option<u64>, what: What) {
        if self.problems.len() < PROBLEMS_LIMIT {
            self.problems.push((place, Problem { file: place.part.name(), line: place.line, seq, what }));
        } else {
            self.verdict.more += 1;
        }
    }

    /// The verdict, after the last line of the last file.
    pub(super) fn end(mut self) -> Verdict {
        let known = self.witnesses.iter().map(|witness| witness.head.seq()).max().unwrap_or(0);
        let reached = self.top.head.seq() + self.broken;
        self.number_broken(known.saturating_add(1));
        self.judge_last();
        self.judge_witnesses();
        for gap in std::mem::take(&mut self.gaps) {
            self.missing(gap);
        }
        let end = Place { line: self.here.line + u64::from(self.torn.is_none()), ..self.here };
        if known > reached {
            self.report(end, None, What::LostEnd { from: reached + 1, to: known });
        } else if let Some(bytes) = self.torn {
            self.report(end, None, What::Torn { bytes });
        }
        self.problems.sort_by_key(|(place, _)| *place);
        self.verdict.problems = self.problems.into_iter().map(|(_, problem)| problem).collect();
        self.verdict.head = (self.top.head != Head::START).then_some(self.top.head);
        self.verdict
    }

    /// A head speaks of the last line as the next line would.
    fn judge_last(&mut self) {
        let mut last = self.top;
        let refuted = |witness: &Witness| witness.refuted.is_some_and(|seen| seen.place == last.place);
        if self.witnesses.iter().any(refuted) {
            let what = if self.suspect.take().is_some() { What::Unlinked } else { What::Changed };
            self.blame(&mut last, what);
        } else {
            self.settle();
        }
    }

    fn judge_witnesses(&mut self) {
        for witness in std::mem::take(&mut self.witnesses) {
            match witness {
                Witness {
                    refuted: Some(seen), otherwise: otherwise @ (What::Rewritten | What::NotAsIndexed), ..
                } => {
                    self.report(seen.place, Some(seen.head.seq()), otherwise);
                }
                Witness { refuted: Some(_), otherwise, .. } => self.report_head(otherwise),
                Witness { refuted: None, .. } => {}
            }
        }
        match self.kept {
            Kept::Damaged => self.report_head(What::HeadWrong),
            // A process may have ended between the first line and the head.
            Kept::Nothing if self.top.head.seq() > 1 => self.report_head(What::HeadMissing),
            _ => {}
        }
    }

    fn report_head(&mut self, what: What) {
        let place = Place { part: Part::Current, line: u64::MAX };
        self.report(place, None, what);
        if let Some((_, problem)) = self.problems.last_mut().filter(|(at, _)| *at == place) {
            (problem.file, problem.line) = (HEAD.to_owned(), 1);
        }
    }
}
