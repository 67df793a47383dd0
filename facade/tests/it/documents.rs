use std::process::Command;

use crate::{Lake, workspace};

fn read(name: &str) -> String {
    std::fs::read_to_string(workspace().join(name)).unwrap()
}

/// The fenced blocks of one language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    text.split(&format!("```{language}\n"))
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn the_readme_shows_the_quickstart_as_it_is() {
    let example = read("facade/examples/quickstart.rs");
    let shown = blocks(&read("README.md"), "rust").join("");
    assert!(example.ends_with(&shown), "README.md and facade/examples/quickstart.rs differ");
    assert!(shown.contains("fn main()"));
}

#[test]
fn the_quickstart_runs() {
    let lake = Lake::new();
    let binary =
        std::path::Path::new(env!("CARGO_BIN_EXE_calve")).with_file_name("examples").join("quickstart");
    assert!(binary.exists(), "build the examples first: cargo test does, without other targets named");
    let output = Command::new(&binary).arg(lake.root()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("150.0"));
}

#[test]
fn every_command_the_readme_shows_works() {
    let lake = Lake::new();
    let readme = read("README.md");
    let binary = env!("CARGO_BIN_EXE_calve");
    let mut ran = 0;
    for line in blocks(&readme, "sh").iter().flat_map(|block| block.lines()) {
        let command = match line.strip_prefix("cargo run --release -p calve -- ") {
            Some(arguments) => format!("calve {arguments}"),
            None => line.to_owned(),
        };
        let Some(arguments) = command.strip_prefix("calve ") else { continue };
        let arguments = arguments.replace("/tmp/calve-demo", &lake.path("demo"));
        let status = Command::new("sh")
            .arg("-c")
            .arg(format!("'{binary}' {arguments}"))
            .current_dir(workspace())
            .output()
            .unwrap();
        assert!(status.status.success(), "{line}: {}", String::from_utf8_lossy(&status.stderr));
        ran += 1;
    }
    assert_eq!(ran, 7, "the README shows seven commands of calve");
}

#[test]
fn the_map_names_every_member() {
    let map = read("ARCHITECTURE.md");
    let manifest = read("Cargo.toml");
    let members = manifest.split("members = [").nth(1).unwrap().split(']').next().unwrap();
    let mut named = 0;
    for member in members.split('"').skip(1).step_by(2) {
        assert!(map.contains(&format!("`{member}/`")), "ARCHITECTURE.md does not name {member}");
        named += 1;
    }
    assert!(named >= 10);
}
