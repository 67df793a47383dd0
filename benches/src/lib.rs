//! What the benches share: a comparison that a noisy machine does not decide.

use std::env;
use std::time::{Duration, Instant};

/// How long one turn of one side lasts, about.
const TURN: Duration = Duration::from_micros(200);
/// How long a comparison lasts, about.
const WHOLE: Duration = Duration::from_secs(4);

/// Runs `ours` and `theirs` in turns and prints how the time of one compares with that of the
/// other: a machine that slows down slows down both sides of a pair.
///
/// Under `--test` each runs once. A filter on the command line is heeded as criterion does.
pub fn compare<A, B>(name: &str, mut ours: impl FnMut() -> A, mut theirs: impl FnMut() -> B) {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        return;
    }
    if arguments.iter().any(|argument| argument == "--test") || !arguments.iter().any(|a| a == "--bench") {
        ours();
        theirs();
        println!("{name}: success");
        return;
    }
    let mut filters = arguments.windows(2).filter(|pair| !pair[0].starts_with("--") || pair[0] == "--bench");
    if filters.any(|pair| !pair[1].starts_with('-') && !name.contains(&pair[1])) {
        return;
    }
    let (our_rounds, their_rounds) = (rounds(&mut ours), rounds(&mut theirs));
    let mut ratios = Vec::new();
    let start = Instant::now();
    while start.elapsed() < WHOLE || ratios.len() < 5 {
        let (ours, theirs) = (turn(our_rounds, &mut ours), turn(their_rounds, &mut theirs));
        ratios.push(ours / theirs);
    }
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[(share * (ratios.len() - 1) as f64) as usize];
    println!(
        "{name}: {:.2} of the time (median of {} pairs; half of them between {:.2} and {:.2})",
        at(0.5),
        ratios.len(),
        at(0.25),
        at(0.75),
    );
}

/// How often `work` runs in one turn.
fn rounds<T>(work: &mut impl FnMut() -> T) -> u32 {
    let mut rounds = 1;
    loop {
        let seconds = turn(rounds, work) * f64::from(rounds);
        if seconds >= TURN.as_secs_f64() || rounds >= 1 << 20 {
            return rounds;
        }
        rounds *= 2;
    }
}

/// The seconds that `work` takes, on average of `rounds`.
fn turn<T>(rounds: u32, work: &mut impl FnMut() -> T) -> f64 {
    let start = Instant::now();
    for _ in 0..rounds {
        std::hint::black_box(work());
    }
    start.elapsed().as_secs_f64() / f64::from(rounds)
}
