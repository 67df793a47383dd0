//! A model of the commit protocol, and every order of its steps.
//!
//! Writers, a reader, retention and lost calls take turns at one store, one call at a time, in all orders;
//! each may stop for good or for a while at any point. The states are few enough to be looked at one by
//! one. Where the protocol is broken on purpose, the model must find what comes of it, and prints a
//! shortest way there.
//!
//! The bounds are small: two or three writers, one to four commits each, one to three lost calls. What the
//! model has is gone through in every order; what it leaves out, `protocol.rs` says.

/// What must hold.
mod checks;
/// All states there are.
mod explore;
/// Writers and readers.
mod process;
/// Opening, publishing, resolving.
mod protocol;
/// Objects, calls, and what metadata is.
mod store;
/// Steps in words.
mod trace;

use std::panic::Location;

use checks::Wrong;
use explore::{Report, Scenario, explore};
use protocol::{Mutant, Retention, Rules, Snapshots};

/// Goes through all states of a scenario, which are at least so many, and finds nothing wrong.
#[track_caller]
fn holds(scenario: Scenario, states: usize) -> Report {
    let report = explore(scenario);
    println!("{}: {} states, {} steps", Location::caller(), report.states, report.steps);
    if let Some((wrong, trace)) = report.wrong {
        panic!("{wrong:?}\n{}", trace.join("\n"));
    }
    assert!(report.states >= states, "only {} states: something is not explored", report.states);
    assert!(report.ends > 0, "nobody ever comes to an end");
    report
}

/// Finds that this goes wrong, and how.
#[track_caller]
fn breaks(scenario: Scenario, expected: Wrong) {
    let report = explore(scenario);
    println!("{}: {} states, {} steps", Location::caller(), report.states, report.steps);
    let Some((wrong, trace)) = report.wrong else { panic!("nothing goes wrong") };
    println!("{wrong:?}\n{}", trace.join("\n"));
    assert_eq!(wrong, expected);
}

fn by(writers: &'static [u8]) -> Scenario {
    Scenario { writers, ..Scenario::default() }
}

fn broken(writers: &'static [u8], mutants: &'static [Mutant]) -> Scenario {
    Scenario { rules: Rules { mutants, ..Rules::default() }, ..by(writers) }
}

fn without_if_match() -> Rules {
    Rules { without_if_match: true, ..Rules::default() }
}

fn retention() -> Rules {
    Rules { retention: Retention::Empties, ..Rules::default() }
}

fn freed() -> Rules {
    Rules { retention: Retention::Frees, ..Rules::default() }
}

#[test]
fn two_writers_lose_nothing() {
    let report = holds(Scenario { goes_on: true, ..by(&[3, 3]) }, 15_000);
    assert!(report.conflict > 0, "they never meet");
    holds(Scenario { rules: without_if_match(), ..by(&[3, 3]) }, 40_000);
}

#[test]
fn three_writers_lose_nothing() {
    holds(by(&[2, 1, 1]), 100_000);
    holds(Scenario { rules: without_if_match(), ..by(&[1, 1, 1]) }, 15_000);
}

#[test]
fn lost_calls_and_late_puts_lose_nothing() {
    let report = holds(Scenario { mishaps: 1, ..by(&[1, 1, 1]) }, 190_000);
    assert!(report.unknown > 0, "all is known");
    holds(Scenario { mishaps: 3, ..by(&[1, 1]) }, 35_000);
    holds(Scenario { mishaps: 2, rules: without_if_match(), ..by(&[1, 1]) }, 10_000);
}

#[test]
fn what_is_unknown_resolves_to_what_became_of_it() {
    let report = holds(Scenario { unknown: true, ..by(&[1, 3]) }, 5_000);
    assert!(report.conflict > 0, "it always lands");
    holds(Scenario { unknown: true, goes_on: true, rules: retention(), ..by(&[2, 2]) }, 60_000);
}

#[test]
fn a_reader_sees_all_that_was_acknowledged_before_it_began() {
    holds(by(&[0, 2, 2]), 65_000);
    holds(Scenario { mishaps: 1, rules: without_if_match(), ..by(&[0, 1, 1]) }, 25_000);
    holds(Scenario { rules: retention(), ..by(&[0, 1, 2]) }, 70_000);
}

#[test]
fn of_many_creators_one_makes_the_table_and_the_others_append() {
    holds(Scenario { creates: true, mishaps: 2, ..by(&[1, 1]) }, 8_000);
    holds(Scenario { creates: true, ..by(&[1, 1, 1]) }, 9_000);
    holds(Scenario { creates: true, mishaps: 1, ..by(&[0, 1, 1]) }, 10_000);
    holds(Scenario { creates: true, unknown: true, ..by(&[1, 2]) }, 1_500);
}

#[test]
fn retention_that_empties_names_loses_nothing() {
    let report = holds(Scenario { rules: retention(), ..by(&[1, 3]) }, 30_000);
    assert!(report.unknown > 0, "no sleeper meets an emptied name");
    holds(Scenario { rules: Rules { without_if_match: true, ..retention() }, ..by(&[2, 2]) }, 40_000);
    holds(Scenario { rules: retention(), mishaps: 1, ..by(&[1, 2]) }, 35_000);
}

#[test]
fn whoever_is_left_alone_resolves_what_is_unknown_and_mends_the_rest() {
    holds(Scenario { alone: true, mishaps: 1, goes_on: true, ..by(&[2, 2]) }, 65_000);
    holds(Scenario { alone: true, unknown: true, rules: retention(), ..by(&[1, 2]) }, 4_000);
    holds(Scenario { alone: true, creates: true, mishaps: 1, ..by(&[1, 1]) }, 1_000);
}

#[test]
fn a_hint_that_somebody_set_too_high_loses_nothing() {
    for hint in [2, 3] {
        holds(Scenario { hint: Some(hint), ..by(&[1, 3]) }, 2_000);
        holds(Scenario { hint: Some(hint), rules: without_if_match(), ..by(&[2, 2]) }, 2_000);
    }
}

#[test]
fn a_commit_by_a_plain_put_overwrites_another() {
    breaks(broken(&[1, 1], &[Mutant::PutsPlainly]), Wrong::Lost);
}

#[test]
fn a_refusal_that_is_believed_may_be_of_our_own_put() {
    let believes = broken(&[1, 1], &[Mutant::BelievesRefusal]);
    holds(believes, 100);
    breaks(Scenario { mishaps: 1, ..believes }, Wrong::SeenBeforeConflict);
}

#[test]
fn an_emptied_name_may_have_been_ours() {
    let rules = Rules { mutants: &[Mutant::RetiredIsConflict], ..retention() };
    breaks(Scenario { rules, unknown: true, ..by(&[1, 2]) }, Wrong::SeenBeforeConflict);
}

#[test]
fn what_is_unknown_and_built_again_lands_twice() {
    let again = Scenario { mishaps: 2, ..broken(&[1, 1], &[Mutant::UnknownIsConflict]) };
    breaks(again, Wrong::SeenAfterConflict);
    let may = &[Wrong::SeenAfterConflict, Wrong::SeenBeforeConflict];
    breaks(Scenario { may, ..again }, Wrong::Doubled);
}

/// Only that: where the hint names nothing, readers list.
#[test]
fn a_hint_moved_first_names_a_version_that_is_not_there() {
    let first = broken(&[1, 1], &[Mutant::HintFirst]);
    breaks(first, Wrong::NoCopy);
    holds(Scenario { may: &[Wrong::NoCopy, Wrong::NotWhole], mishaps: 1, ..first }, 1_000);
}

/// Readers that look ahead don't mind a hint that goes back; those that believe it don't see a commit
/// whose hint was never moved either.
#[test]
fn a_hint_set_unconditionally_goes_back_and_is_no_more_than_a_hint() {
    let sets = broken(&[1, 1], &[Mutant::HintUnconditional]);
    breaks(sets, Wrong::NotWhole);
    holds(Scenario { may: &[Wrong::NotWhole], ..sets }, 100);
    let believes = |rules| Rules { readers_believe_hint: true, ..rules };
    breaks(Scenario { rules: believes(sets.rules), may: &[Wrong::NotWhole], ..sets }, Wrong::Lost);
    holds(Scenario { rules: believes(Rules::default()), ..by(&[2, 2]) }, 2_000);
    breaks(Scenario { rules: believes(Rules::default()), mishaps: 1, ..by(&[1, 1]) }, Wrong::Lost);
}

#[test]
fn a_hint_passes_a_missing_copy_unless_it_waits_for_ours_and_those_before() {
    let regardless = broken(&[1, 1], &[Mutant::HintWithoutCopy]);
    breaks(Scenario { mishaps: 1, ..regardless }, Wrong::NoCopy);
    breaks(broken(&[1, 1], &[Mutant::NoRepair]), Wrong::NoCopy);
}

#[test]
fn a_version_emptied_before_the_hint_has_passed_it_gets_no_copy() {
    let rules = Rules { retention: Retention::EmptiesEarly, ..retention() };
    breaks(Scenario { rules, ..by(&[1, 1, 1]) }, Wrong::NoCopy);
}

/// A hint that goes back leads past names that are free, and a put that lands late takes one.
#[test]
fn names_that_are_freed_lose_commits() {
    breaks(Scenario { rules: Rules { without_if_match: true, ..freed() }, ..by(&[1, 2]) }, Wrong::Lost);
    breaks(Scenario { rules: freed(), unknown: true, ..by(&[1, 2]) }, Wrong::SeenAfterConflict);
}

/// Where the hint is set conditionally and all calls are answered, one that slept while its name was freed
/// is found out, by the second look at the hint and by a look at the table before it acknowledges. While
/// names are kept, neither is needed.
#[test]
fn a_sleeper_whose_name_was_freed_does_not_acknowledge() {
    holds(Scenario { rules: freed(), ..by(&[1, 2]) }, 12_000);
    for mutants in [&[Mutant::NoSecondLook], &[Mutant::NoLookWhenPassed]] {
        breaks(Scenario { rules: Rules { mutants, ..freed() }, ..by(&[1, 2]) }, Wrong::Lost);
        holds(Scenario { rules: Rules { mutants, ..retention() }, ..by(&[1, 2]) }, 1_500);
    }
}

#[test]
fn a_base_that_moved_without_our_snapshot_may_be_built_on_our_version() {
    for snapshots in [Snapshots::Last, Snapshots::None] {
        let meant = Rules { snapshots, ..Rules::default() };
        let rules = Rules { mutants: &[Mutant::NameNotReadAgain], ..meant };
        breaks(Scenario { rules, unknown: true, ..by(&[1, 1]) }, Wrong::SeenBeforeConflict);
        holds(Scenario { rules: meant, unknown: true, ..by(&[1, 3]) }, 5_000);
    }
}

#[test]
fn what_was_listed_may_be_retired_before_it_is_read() {
    let rules = Rules { mutants: &[Mutant::RetiredFailsReader], ..retention() };
    breaks(Scenario { rules, ..by(&[0, 4]) }, Wrong::Unreadable);
    holds(Scenario { rules: retention(), ..by(&[0, 4]) }, 13_000);
}

#[test]
fn a_copy_that_is_gone_may_have_been_made() {
    let mutants = &[Mutant::GoneCopyFails];
    breaks(Scenario { rules: Rules { mutants, ..retention() }, ..by(&[1, 3]) }, Wrong::NotWhole);
    breaks(Scenario { rules: Rules { mutants, ..freed() }, ..by(&[1, 2]) }, Wrong::Lost);
}
