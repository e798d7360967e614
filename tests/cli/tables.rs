//! CSV.

use crate::command::{all_exports, column, csv, fixture, orchard, read_text};

const SAMPLES: &str =
    "input,run,table,schema,time_ns,weight,unit,pid,process,tid,thread,core,state,address,function,binary,stack";

/// The times of the rows, in their order, read with a few string searches: no row of the fixture shares its time.
fn times_of_rows(xml: &str) -> Vec<u64> {
    let cells = xml.split("<row><sample-time id=").skip(1);
    let texts = cells.map(|cell| &cell[cell.find('>').expect("a tag ends") + 1..cell.find('<').expect("and a text")]);
    let times: Vec<u64> = texts.map(|text| text.parse().expect("a time is a number")).collect();
    assert_eq!(times.len(), xml.matches("<row>").count(), "every row has a time of its own");
    times
}

#[test]
fn samples_have_one_line_a_row_in_the_order_of_the_export() {
    let rows = csv(&[&orchard(), "--view", "samples"]);
    assert_eq!(rows[0].join(","), SAMPLES);
    assert_eq!(column(&rows, "time_ns"), times_of_rows(&read_text(&orchard())));
    assert_eq!(column(&rows, "weight"), [1_000_000; 485]);
}

#[test]
fn a_sample_says_where_it_was() {
    let rows = csv(&[&orchard(), "--view", "samples"]);
    let path = orchard();
    let table = csv(&[&path, "--view", "summary"])[1][2].clone();
    let head = [path.as_str(), "1", &table, "time-profile", "312400698", "1000000", "ns", "4150", "Orchard", "172312"];
    let middle = ["press worker #2 (pool)", "2", "Running", "0x100c45c4d"];
    let leaf = ["orchard::Press::filter(float*, unsigned long, float)", "Orchard"];
    assert_eq!(rows[2][..16], [&head[..], &middle[..], &leaf[..]].concat());
    assert!(rows[2][16].starts_with("thread_start;_pthread_start;orchard::Worker::main(void*);"), "root first");
    assert!(rows[2][16].ends_with(";orchard::Press::filter(float*, unsigned long, float)"), "leaf last");
    assert_eq!(rows[2][16].split(';').count(), 11);
}

#[test]
fn samples_of_several_files_and_tables_are_told_apart() {
    let files = [orchard(), fixture("27/several-tables")];
    let rows = csv(&[&files[0], &files[1], "--view", "samples"]);
    let origins = |rows: &[Vec<String>]| -> Vec<Vec<String>> {
        let mut origins: Vec<Vec<String>> = rows[1..].iter().map(|row| row[..4].to_vec()).collect();
        origins.dedup();
        origins
    };
    let found = origins(&rows);
    let expected = [[&files[1], "1", "11", "time-profile"], [&files[1], "2", "13", "time-profile"]];
    assert!(found.len() == 3 && found[0][0] == files[0] && found[1..] == expected, "{found:?}");
    assert_eq!(found, origins(&csv(&[&files[0], &files[1], "--view", "threads"])), "as in other views");
}

#[test]
fn samples_of_every_state_and_without_stack_are_there() {
    for export in all_exports() {
        let tables = csv(&[&export, "--view", "summary"]);
        let kind = tables[0].iter().position(|title| title == "kind").expect("tables have a kind");
        let cpu: Vec<Vec<String>> =
            tables.iter().filter(|row| row[kind] == "cpu" || row[kind] == "kind").cloned().collect();
        let count: u64 = column(&cpu, "rows").iter().sum();
        assert_eq!(csv(&[&export, "--view", "samples"]).len() as u64, 1 + count, "{export}");
    }
}

#[test]
fn the_summary_is_one_line_a_table() {
    let rows = csv(&[&fixture("27/several-tables"), "--view", "summary"]);
    let texts: Vec<String> = rows.iter().map(|row| row[1..].join(",")).collect();
    assert_eq!(
        texts,
        [
            "run,table,schema,kind,rows,samples,rejected",
            "1,8,fs-syscall,other,2,0,0",
            "1,11,time-profile,cpu,3,3,0",
            "2,9,potential-hangs,other,1,0,0",
            "2,4,hang-risks,other,0,0,0",
            "2,13,time-profile,cpu,3,3,0",
        ]
    );
}

#[test]
fn threads_trees_and_functions_sum_to_the_total() {
    let threads = csv(&[&orchard(), "--view", "threads"]);
    assert_eq!(threads[0].join(","), "input,run,table,schema,pid,process,tid,thread,samples,all_weight,unit");
    assert_eq!(column(&threads, "all_weight"), [141_000_000, 122_000_000, 119_000_000, 103_000_000]);
    assert_eq!(column(&threads, "tid"), [172_312, 172_289, 172_311, 172_319]);

    let nodes = csv(&[&orchard(), "--view", "tree"]);
    assert_eq!(column(&nodes, "self_weight").iter().sum::<u64>(), 485_000_000);
    let roots = column(&nodes, "depth").into_iter().zip(column(&nodes, "all_weight")).filter(|&(depth, _)| depth == 0);
    assert_eq!(roots.map(|(_, weight)| weight).sum::<u64>(), 485_000_000);

    let functions = csv(&[&orchard(), "--view", "functions"]);
    assert_eq!(functions.len(), 1 + 43 + 1, "header, 43 functions, and the samples without stack");
    assert_eq!(column(&functions, "self_weight").iter().sum::<u64>(), 485_000_000);
    assert_eq!(column(&functions, "self_weight")[0], 164_000_000);
    assert_eq!(column(&functions, "all_weight")[0], 258_000_000);
}
