use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The rules of a grammar: a name with its right-hand sides.
type Rules = BTreeMap<String, Vec<String>>;

#[test]
fn the_document_and_the_code_have_the_same_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let code = rules(&doc_comments(&root.join("src")));
    let document = fs::read_to_string(root.join("../docs/uri.md")).expect("docs/uri.md is readable");
    let blocks = document.split("```abnf\n").skip(1).filter_map(|block| block.split("```").next());
    let document = rules(&blocks.collect::<String>());
    assert!(code.len() > 40, "{} rules", code.len());
    for (name, definition) in &code {
        assert_eq!(Some(definition), document.get(name), "{name}");
    }
    for name in document.keys() {
        assert!(code.contains_key(name), "{name} is in the document alone");
    }
}

#[test]
fn every_rule_that_is_used_is_defined() {
    let rules = rules(&doc_comments(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")));
    for (name, definitions) in &rules {
        for used in definitions.iter().flat_map(|definition| references(definition)) {
            assert!(
                rules.contains_key(&used) || CORE.contains(&&*used),
                "{name} uses {used}, which nothing defines"
            );
        }
    }
}

/// Rules every ABNF has, of RFC 5234, and `ipv4` and `ipv6` of RFC 3986.
const CORE: [&str; 7] = ["ALPHA", "DIGIT", "HEXDIG", "DQUOTE", "SP", "ipv4", "ipv6"];

/// The code spans of doc comments that are rules, one a line.
fn doc_comments(folder: &Path) -> String {
    let mut lines = String::new();
    for entry in fs::read_dir(folder).expect("the folder is readable") {
        let path = entry.expect("the entry is readable").path();
        if path.is_dir() {
            lines += &doc_comments(&path);
            continue;
        }
        let text = fs::read_to_string(&path).expect("the file is readable");
        for line in text.lines() {
            let line = line.trim_start();
            let span = line.strip_prefix("/// `").and_then(|line| line.strip_suffix('`'));
            if let Some(rule) = span.filter(|span| is_rule(span)) {
                lines += rule;
                lines += "\n";
            }
        }
    }
    lines
}

fn is_rule(line: &str) -> bool {
    let name = line.split(' ').next().unwrap_or_default();
    let rest = &line[name.len()..];
    (rest.starts_with(" = ") || rest.starts_with(" =/ "))
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Rules, white space evened out; lines that start with a space continue a rule.
fn rules(text: &str) -> Rules {
    let mut rules = Rules::new();
    let mut last: Option<String> = None;
    for line in text.lines() {
        let line = line.split(" ;").next().unwrap_or_default();
        let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.is_empty() {
            continue;
        }
        if line.starts_with(' ') {
            let name = last.as_ref().expect("a rule to continue");
            let definition = rules.get_mut(name).and_then(|d| d.last_mut()).expect("its definition");
            *definition += " ";
            *definition += &words;
            continue;
        }
        assert!(is_rule(&words), "no rule: {words}");
        let (name, definition) = words.split_once(" =").expect("an equals sign");
        let definition = definition.trim_start_matches('/').trim_start();
        rules.entry(name.to_owned()).or_default().push(definition.to_owned());
        last = Some(name.to_owned());
    }
    for definitions in rules.values_mut() {
        definitions.sort();
    }
    rules
}

/// The names in a definition, outside its quoted texts.
fn references(definition: &str) -> Vec<String> {
    definition
        .split('"')
        .step_by(2)
        .flat_map(|text| text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '%')))
        .map(|word| word.trim_start_matches(|c: char| c.is_ascii_digit()))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
        .map(str::to_owned)
        .collect()
}
