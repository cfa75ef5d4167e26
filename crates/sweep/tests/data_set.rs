// SPDX-License-Identifier: MIT OR Apache-2.0
//! The data set: nothing is lost, run again or counted twice, whatever happens.

mod common;

use std::{collections::BTreeSet, fs, path::Path};

use common::{PROGRAM, SMALL, files, rows, sweep, sweep_into, table};
use tandem_sim::Sim;
use tandem_sweep::{Outcome, RunOptions, Store, Tables, Task, from_bytes, group_files, run, to_bytes};
use tandem_tables::{conformed, write_parquet, write_sealed};

#[test]
fn a_row_has_the_swept_values_and_where_it_comes_from() {
    let folder = tempfile::tempdir().unwrap();
    sweep_into(folder.path(), SMALL, false, None);
    let rows = rows(folder.path());
    assert_eq!(rows.len(), 8);
    let column = |name: &str| rows.iter().map(|row| row[name].as_str()).collect::<Vec<_>>();
    assert_eq!(column("dumbbell.rate_bps")[..5], ["5000000", "5000000", "5000000", "5000000", "10000000"]);
    assert_eq!(column("flows[0].controller")[..3], ["reno", "reno", "compound"]);
    assert_eq!(column("controller"), column("flows[0].controller"));
    assert_eq!(column("seed")[..3], ["1", "2", "1"]);
    assert!(rows.iter().all(|row| (row["version"].as_str(), row["commit"].as_str()) == ("1.2.3", "abc")));
    assert_eq!(column("key").into_iter().collect::<BTreeSet<_>>().len(), 8);
    assert_eq!(column("scenario_hash").into_iter().collect::<BTreeSet<_>>().len(), 4);
    // A link of 5 or 10 Mb/s carries at most that, without headers.
    for row in &rows {
        let [rate, goodput] = ["dumbbell.rate_bps", "goodput_mbps"].map(|name| row[name].parse::<f64>().unwrap());
        assert!(goodput > 0.0 && goodput * 1e6 < rate, "{goodput} of {rate}");
    }
    let known = rows.iter().filter(|row| row["param_gamma"] != "null");
    assert!(known.clone().count() == 4 && known.clone().all(|row| row["controller"] == "compound"));
}

#[test]
fn what_is_there_is_not_run_again() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        sweep_into(folder.path(), SMALL, false, None),
        (Outcome { ran: 8, stored: 0, found: 0, interrupted: false }, 8)
    );
    let before = files(folder.path());
    assert_eq!(
        sweep_into(folder.path(), SMALL, false, None),
        (Outcome { ran: 0, stored: 0, found: 8, interrupted: false }, 0)
    );
    assert_eq!(files(folder.path()), before);
}

#[test]
fn an_interrupted_sweep_ends_with_the_same_bytes() {
    let [whole, halves] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    sweep_into(whole.path(), SMALL, false, None);
    let (outcome, runs) = sweep_into(halves.path(), SMALL, false, Some(3));
    assert!(outcome.interrupted && runs == 3);
    assert_eq!(rows(halves.path()).len(), runs);
    // What a kill leaves behind goes away.
    fs::write(halves.path().join("groups/.tandem-half"), "half a file").unwrap();
    let (outcome, more) = sweep_into(halves.path(), SMALL, false, None);
    assert_eq!((outcome.found, outcome.ran, runs + more), (runs, more, 8));
    assert_eq!(files(halves.path()), files(whole.path()));
    assert!(!halves.path().join("groups/.tandem-half").exists());
}

#[test]
fn an_extension_runs_only_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    sweep_into(folder.path(), SMALL, false, None);
    // Another rate in the middle, another controller with parameters of its own, a third seed: 3 * 3 * 3.
    let more = SMALL.replace("\"5mbit\", ", "\"5mbit\", \"7mbit\", ").replace("\"reno\", ", "\"reno\", \"vegas\", ");
    let more = more.replace("seeds = 2", "seeds = 3");
    assert_eq!(sweep_into(folder.path(), &more, false, None).1, 27 - 8);
    let rows = rows(folder.path());
    let keys: BTreeSet<_> = rows.iter().map(|row| row["key"].clone()).collect();
    assert_eq!((rows.len(), keys.len()), (27, 27));
    assert_eq!(sweep_into(folder.path(), &more, false, None).1, 0);
    assert_eq!(sweep_into(folder.path(), SMALL, false, None).1, 0);
    // Every file has the same columns, so that readers need not know.
    let schemas: Vec<_> = table(folder.path()).iter().map(|batch| batch.schema()).collect();
    assert!(group_files(folder.path()).unwrap().len() > 1 && schemas.windows(2).all(|two| two[0] == two[1]));
}

/// The queue was 20 packets all the time; now it varies, too.
#[test]
fn rows_get_the_values_of_a_key_that_is_swept_later() {
    let folder = tempfile::tempdir().unwrap();
    sweep_into(folder.path(), SMALL, false, None);
    let more = SMALL.to_owned() + "'dumbbell.queue' = ['20p', '40p']\n";
    assert_eq!(sweep_into(folder.path(), &more, false, None).1, 8);
    let rows = rows(folder.path());
    let count = |packets: &str| rows.iter().filter(|row| row["dumbbell.queue_packets"] == packets).count();
    assert_eq!((count("20"), count("40"), rows.len()), (8, 8, 16));
}

#[test]
fn traces_are_of_all_seeds_and_flows_and_may_come_later() {
    let folder = tempfile::tempdir().unwrap();
    let text = SMALL.replace("controller = \"reno\"\n", "controller = \"reno\"\ncount = 12\n");
    sweep_into(folder.path(), &text, false, None);
    let before = files(folder.path());
    assert_eq!(sweep_into(folder.path(), &text, true, None).1, 8);
    assert_eq!(sweep_into(folder.path(), &text, true, None).1, 0);
    assert_eq!(files(folder.path()), before);
    for row in rows(folder.path()) {
        let path = folder.path().join("flows").join(&row["key"][..2]).join(format!("{}.parquet", row["key"]));
        let (_, batches) = tandem_tables::read_parquet(&path).unwrap();
        // 12 flows, a sample each millisecond.
        assert_eq!(batches.iter().map(|batch| batch.num_rows()).sum::<usize>(), 12 * 600);
    }
}

#[test]
fn two_sweeps_do_not_write_to_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(SMALL);
    let survey = sweep.survey(&Sim, false).unwrap();
    let open = || Store::open(folder.path(), &sweep, &Sim, &survey.schema, false);
    let first = open().unwrap();
    let error = open().err().unwrap().to_string();
    assert!(error.contains("another sweep is writing") && error.contains("--out"), "{error}");
    drop(first);
    assert!(open().is_ok());
}

/// As after two sweeps on a file system without locks, or where somebody copied files from another folder.
#[test]
fn rows_that_are_there_twice_count_once() {
    let [folder, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    sweep_into(folder.path(), SMALL, false, None);
    sweep_into(other.path(), &SMALL.replace("seeds = 2", "seeds = 3"), false, None);
    for file in group_files(other.path()).unwrap() {
        fs::copy(&file, folder.path().join("groups").join(file.file_name().unwrap())).unwrap();
    }
    assert_eq!(rows(folder.path()).len(), 8 + 12);
    assert_eq!(sweep_into(folder.path(), SMALL, false, None).1, 0);
    assert_eq!(rows(folder.path()).len(), 12);
}

/// What opening the data set says.
fn refusal(folder: &Path, traces: bool) -> Option<String> {
    let sweep = sweep(SMALL);
    let survey = sweep.survey(&Sim, false).unwrap();
    let tasks = || sweep.tasks(&Sim).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
    let opened = Store::open(folder, &sweep, &Sim, &survey.schema, traces);
    opened.and_then(|mut store| store.begin(tasks())).err().map(|e| format!("{e:#}"))
}

/// A bit that flipped, an end that was cut off, a copy under another name: each is named with its fix, and the fix works.
#[test]
fn a_damaged_part_is_named_and_its_runs_are_made_again() {
    let folder = tempfile::tempdir().unwrap();
    sweep_into(folder.path(), SMALL, false, None);
    let before = files(folder.path());
    let path = group_files(folder.path()).unwrap().remove(0);
    let name = path.file_name().unwrap().to_str().unwrap();
    let whole = fs::read(&path).unwrap();
    #[track_caller]
    fn assert_named(told: Option<String>, name: &str) {
        let told = told.expect("it is noticed");
        assert!(
            told.contains(name) && told.contains("Move the file elsewhere: the next sweep repeats its runs"),
            "{told}"
        );
    }
    // Some in every part of the file: rows, statistics, names of columns, the seal itself.
    for bit in (0..8 * whole.len()).step_by(8 * whole.len() / 300 + 1) {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        fs::write(&path, flipped).unwrap();
        assert_named(refusal(folder.path(), false), name);
    }
    for length in [0, 1, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).unwrap();
        assert_named(refusal(folder.path(), false), name);
    }
    fs::write(&path, &whole).unwrap();
    let copy = folder.path().join("groups/a-copy.parquet");
    fs::copy(&path, &copy).unwrap();
    assert_named(refusal(folder.path(), false), "a-copy.parquet");
    assert!(refusal(folder.path(), false).unwrap().contains("a copy of a file of another name"));
    fs::remove_file(copy).unwrap();
    assert_eq!(refusal(folder.path(), false), None);
    fs::remove_file(&path).unwrap();
    assert_eq!(sweep_into(folder.path(), SMALL, false, None).1, 8);
    assert_eq!(files(folder.path()), before);
}

#[test]
fn damaged_samples_are_named_where_they_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    sweep_into(folder.path(), SMALL, true, None);
    let key = rows(folder.path())[0]["key"].clone();
    let path = folder.path().join("flows").join(&key[..2]).join(format!("{key}.parquet"));
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_eq!(refusal(folder.path(), false), None);
    let told = refusal(folder.path(), true).unwrap();
    assert!(told.contains(&key) && told.contains("it is damaged"), "{told}");
    fs::remove_file(&path).unwrap();
    assert_eq!(sweep_into(folder.path(), SMALL, true, None).1, 1);
    assert!(path.exists());
}

/// Other things under the names of parts: told at once.
#[cfg(target_os = "linux")]
#[test]
fn what_is_no_file_is_named() {
    use rustix::fs::{CWD, FileType, mknodat};
    let folder = tempfile::tempdir().unwrap();
    sweep_into(folder.path(), SMALL, false, None);
    let path = folder.path().join("groups/x.parquet");
    mknodat(CWD, &path, FileType::Fifo, 0o600.into(), 0).unwrap();
    let told = refusal(folder.path(), false).unwrap();
    assert!(told.contains("x.parquet") && told.contains("it is a pipe, not a plain file"), "{told}");
    fs::remove_file(&path).unwrap();
    fs::remove_file(folder.path().join(".lock")).unwrap();
    mknodat(CWD, folder.path().join(".lock"), FileType::Fifo, 0o600.into(), 0).unwrap();
    let told = refusal(folder.path(), false).unwrap();
    assert!(told.contains("cannot keep a data set") && told.contains("--out"), "{told}");
}

#[test]
fn a_sweep_without_end_is_not_begun() {
    let told = sweep(SMALL).check_length(7).unwrap_err().to_string();
    assert!(told.contains("4 points with 2 seeds are 8 runs, more than 7") && told.contains("--max-runs"), "{told}");
    assert!(sweep(SMALL).check_length(8).is_ok());
    let values = (0..1000).map(|i| format!("'{}kbit'", i + 1)).collect::<Vec<_>>().join(", ");
    let text = SMALL.replace("\"5mbit\", \"10mbit\"", &values) + &format!("'dumbbell.reverse_rate' = [{values}]\n");
    let text = text + "[random]\npoints = 500\n[random.values]\n'dumbbell.loss' = { from = 0, to = 0.1 }\n";
    let told = sweep(&text).check_length(1_000_000).unwrap_err().to_string();
    assert!(told.contains("1000000000 points with 2 seeds are 2000000000 runs"), "{told}");
}

#[test]
fn other_files_and_other_kinds_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = sweep(SMALL);
    let survey = sweep.survey(&Sim, false).unwrap();
    let error = || {
        let error = Store::open(folder.path(), &sweep, &Sim, &survey.schema, false).err().unwrap();
        format!("{error:#}")
    };
    fs::create_dir(folder.path().join("groups")).unwrap();
    let path = folder.path().join("groups/x.parquet");
    fs::write(&path, "no Parquet").unwrap();
    assert!(error().contains("x.parquet: the table cannot be read"), "{}", error());
    let mut columns = tandem_tables::Columns::default();
    columns.push("a", arrow_array::Float64Array::from(vec![1.0]));
    let batch = columns.batch(1).unwrap();
    write_parquet(&path, batch.schema(), std::slice::from_ref(&batch)).unwrap();
    assert!(error().contains("it has no checksum"), "{}", error());
    write_sealed(&path, batch.schema(), &[batch]).unwrap();
    assert!(error().contains("x.parquet` is not part of a data set"), "{}", error());
}

/// As workers elsewhere would: its text and its seed are all that a task needs, and what it gave comes as bytes.
#[test]
fn results_may_come_in_any_order() {
    let [here, elsewhere] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    sweep_into(here.path(), SMALL, false, None);
    let sweep = sweep(SMALL);
    let survey = sweep.survey(&Sim, false).unwrap();
    let mut store = Store::open(elsewhere.path(), &sweep, &Sim, &survey.schema, false).unwrap();
    let tasks = store.begin(sweep.tasks(&Sim).unwrap().collect::<Result<_, _>>().unwrap()).unwrap();
    for bundle in tasks.chunks(3).rev() {
        let run = |task: &Task| {
            Task::run_text(&task.text, &task.folder, task.seed, &Sim, &PROGRAM, true, None).unwrap().unwrap()
        };
        let tables: Vec<Tables> = bundle.iter().map(run).collect();
        let arrived = from_bytes(&to_bytes(&tables).unwrap()).unwrap();
        assert_eq!(arrived.len(), bundle.len());
        for (((key, arrived), sent), task) in arrived.iter().zip(&tables).zip(bundle) {
            assert_eq!((*key, &arrived.samples), (task.key, &sent.samples));
            assert!(conformed(&arrived.groups, &survey.schema).is_ok());
            store.add(task, arrived).unwrap();
            // Twice, as when a worker was taken for dead.
            store.add(task, arrived).unwrap();
        }
    }
    assert_eq!(files(elsewhere.path()), files(here.path()));
    let more = run(&sweep, &Sim, &mut store, &PROGRAM, &RunOptions::default()).unwrap();
    assert_eq!((more.ran, more.found), (0, 8));
}
