//! Manipulated logs, and what verification reports.

use super::super::ProblemKind;
use super::*;

/// Lines with their newlines.
fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// The problems of a log of some lines after `tamper` rewrote it.
fn said_of(lines: u64, tamper: impl FnOnce(&mut Vec<String>)) -> Vec<String> {
    let world = LogFixture::with_lines(lines);
    let mut lines: Vec<String> = lines_of(&world.text()).into_iter().map(str::to_owned).collect();
    tamper(&mut lines);
    world.write(lines.concat());
    world.problem_texts()
}

#[test]
fn a_changed_line_is_named() {
    let changes = [
        ("\"fuel\":", "\"fuel\":1"),
        ("\"success\":", "\"success\": "),
        ("\"seq\":", "\"seq\":1"),
        ("\"seq\":", "\"seq\":99999"),
        ("}\n", ",\"more\":1}\n"),
        ("{\"seq\"", "[\"seq\""),
    ];
    for (from, to) in changes {
        for line in 0..6 {
            let said = said_of(6, |lines| {
                lines[line] = lines[line].replacen(from, to, 1);
            });
            let start = format!("{CURRENT}:{}: entry {} ", line + 1, line + 1);
            assert!(matches!(&said[..], [only] if only.starts_with(&start)), "{to} in {line}: {said:?}");
        }
    }
}

#[test]
fn a_line_with_another_hash_in_it_is_named() {
    for line in 0..6 {
        let said = said_of(6, |lines| {
            let start = lines[line].find("\"previous\":\"").unwrap() + 12;
            lines[line].replace_range(start..start + 64, &"7".repeat(64));
        });
        let start = format!("{CURRENT}:{}: entry {} was changed", line + 1, line + 1);
        assert!(matches!(&said[..], [only] if only.starts_with(&start)), "{line}: {said:?}");
    }
}

#[test]
fn every_flipped_bit_is_found_and_its_line_is_named() {
    let world = LogFixture::with_lines(4);
    let text = world.text().into_bytes();
    let mut line = 1;
    for at in 0..text.len() {
        for mask in [1, 2, 4, 32, 128, 255] {
            let mut flipped = text.clone();
            flipped[at] ^= mask;
            world.write(&flipped);
            let problems = world.verify().problems;
            let one = text[at] == b'\n' || flipped[at] == b'\n' || problems.len() == 1;
            assert!(one && problems[0].line == line, "byte {at} with {mask}: {problems:?}");
            assert!(problems[0].file == CURRENT && problems[0].seq.is_none_or(|seq| seq == line), "{problems:?}");
        }
        line += u64::from(text[at] == b'\n');
    }
}

#[test]
fn every_flipped_bit_of_the_head_is_found() {
    let world = LogFixture::with_lines(12);
    let head = std::fs::read(world.path(HEAD)).unwrap();
    for at in 0..head.len() {
        for mask in [1, 2, 4, 8, 16, 32, 64, 128, 255] {
            let mut flipped = head.clone();
            flipped[at] ^= mask;
            std::fs::write(world.path(HEAD), &flipped).unwrap();
            assert_eq!(world.problem_texts().len(), 1, "byte {at} with {mask}: {:?}", world.problem_texts());
        }
    }
}

#[test]
fn every_dropped_line_is_named() {
    for line in 0..6 {
        let said = said_of(6, |lines| drop(lines.remove(line)));
        let (place, seq) = (line + 1, line + 1);
        let expect = match line {
            5 => format!("{CURRENT}:6: the log ends here; entries 6 to 6 are missing"),
            _ => format!("{CURRENT}:{place}: entries {seq} to {seq} are missing"),
        };
        assert_eq!(said, [expect]);
    }
}

#[test]
fn neighbours_that_changed_places_are_both_named() {
    for line in 0..5 {
        let said = said_of(6, |lines| lines.swap(line, line + 1));
        assert_eq!(said, [format!("{CURRENT}:{}: entry {} comes after entry {}", line + 2, line + 1, line + 2)]);
    }
}

#[test]
fn a_line_that_was_moved_is_named_with_the_one_before_it() {
    let later = said_of(9, |lines| {
        let line = lines.remove(2);
        lines.insert(6, line);
    });
    assert_eq!(later, [format!("{CURRENT}:7: entry 3 comes after entry 7")]);
    let sooner = said_of(9, |lines| {
        let line = lines.remove(6);
        lines.insert(2, line);
    });
    assert_eq!(sooner, [format!("{CURRENT}:4: entry 3 comes after entry 7")]);
}

#[test]
fn a_repeated_line_is_named() {
    for (from, to) in [(2, 3), (2, 5), (0, 5), (4, 5), (5, 6)] {
        let said = said_of(6, |lines| lines.insert(to, lines[from].clone()));
        assert_eq!(said, [format!("{CURRENT}:{}: entry {} is duplicated", to + 1, from + 1)]);
    }
}

#[test]
fn a_line_that_was_put_in_is_named() {
    for line in 0..=6 {
        let said = said_of(6, |lines| lines.insert(line, "{\"seq\":1}\n".to_owned()));
        assert!(said.len() == 1 && said[0].starts_with(&format!("{CURRENT}:{}: ", line + 1)), "{said:?}");
    }
}

#[test]
fn every_truncation_is_found() {
    let world = LogFixture::with_lines(5);
    let text = world.text();
    for end in 0..text.len() {
        world.write(&text[..end]);
        let whole = u64::try_from(text[..end].matches('\n').count()).unwrap();
        let problems = world.verify().problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(
            (problems[0].line, &problems[0].kind),
            (whole + 1, &ProblemKind::LostEnd { from: whole + 1, to: 5 })
        );
    }
}

#[test]
fn each_of_several_changes_is_named() {
    let said = said_of(12, |lines| {
        lines[1] = lines[1].replace("fuel", "food");
        lines[4].insert(0, 'x');
        lines[9] = lines[9].replace("fuel", "food");
        lines.remove(7);
    });
    let place = |line, what| format!("{CURRENT}:{line}: {what}");
    assert_eq!(
        said,
        [
            place(2, "entry 2 was changed"),
            place(5, "entry 5 cannot be read"),
            place(8, "entries 8 to 8 are missing"),
            place(9, "entry 10 was changed")
        ]
    );
}

#[test]
fn of_two_neighbours_the_later_is_named_and_the_doubt_about_the_other() {
    let said = said_of(6, |lines| {
        lines[2] = lines[2].replace("fuel", "food");
        lines[3] = lines[3].replace("fuel", "food");
    });
    let what = "entry 4 was changed, so the entry before it cannot be verified";
    assert_eq!(said, [format!("{CURRENT}:4: {what}")]);
}

#[test]
fn a_missing_file_is_named_with_its_lines() {
    let world = LogFixture::with(AuditConfig { file_limit: 1000, ..CONFIG });
    world.run(9);
    for (number, from, to) in [(1, 1, 2), (2, 3, 4), (3, 5, 6)] {
        let name = LogFile::Numbered(number).name();
        let content = std::fs::read(world.path(&name)).unwrap();
        std::fs::remove_file(world.path(&name)).unwrap();
        let next = LogFile::Numbered(number + 1).name();
        assert_eq!(world.problem_texts(), [format!("{next}:1: {name} is missing, with entries {from} to {to}")]);
        std::fs::write(world.path(&name), content).unwrap();
    }
    // Another file could have come after the last number.
    let name = LogFile::Numbered(4).name();
    std::fs::rename(world.path(&name), world.folder.path().join("elsewhere")).unwrap();
    assert_eq!(world.problem_texts(), [format!("{CURRENT}:1: entries 7 to 8 are missing")]);
    std::fs::rename(world.folder.path().join("elsewhere"), world.path(&name)).unwrap();
    std::fs::remove_file(world.path(CURRENT)).unwrap();
    assert_eq!(world.problem_texts(), [format!("{name}:3: the log ends here; entries 9 to 9 are missing")]);
}

#[test]
fn a_log_that_was_written_anew_does_not_have_the_head_that_was_kept() {
    let world = LogFixture::with_lines(3);
    let kept = world.verify().head.unwrap();
    world.run(2);
    assert!(world.audit.verify(Some(&kept)).unwrap().is_clean());
    // All of it, with a matching head file.
    std::fs::remove_file(world.path(CURRENT)).unwrap();
    std::fs::remove_file(world.path(HEAD)).unwrap();
    for number in 10..15 {
        world.audit.record(&attempt(number)).unwrap();
    }
    assert!(world.verify().is_clean());
    let problems = world.audit.verify(Some(&kept)).unwrap().problems;
    assert_eq!(problems.len(), 1);
    assert_eq!((problems[0].seq, &problems[0].kind), (Some(3), &ProblemKind::Rewritten));
    // And only its beginning.
    std::fs::remove_file(world.path(CURRENT)).unwrap();
    std::fs::remove_file(world.path(HEAD)).unwrap();
    world.audit.record(&attempt(0)).unwrap();
    let problems = world.audit.verify(Some(&kept)).unwrap().problems;
    assert_eq!(problems[0].kind, ProblemKind::LostEnd { from: 2, to: 3 });
}

#[test]
fn a_log_of_nonsense_gives_a_bounded_verdict() {
    let world = LogFixture::with_lines(1);
    world.write("nonsense\n".repeat(100_000));
    let verdict = world.verify();
    assert_eq!((verdict.problems.len(), verdict.omitted), (100, 99_900));
    world.write("x".repeat(5 << 20));
    assert_eq!(world.problem_texts().len(), 1);
    world.run(1);
    assert_eq!(world.numbers(), [2]);
}
