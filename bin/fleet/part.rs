//! The part of the inputs that is read: those of a shard.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::cli::ShardArgs;
use super::shard::{common_folder, from_root, number_of};
use super::store::{Plan, RecordingList, Shards};
use super::task::Task;
use crate::bounds;
use crate::objects::shown;
use crate::unchanged::read_whole;

/// Leaves the tasks of the shard that was asked for, if one was, and says which part of the fleet they are. `failed` inputs are no tasks, and
/// every shard has these.
///
/// # Errors
/// When a file is not below the root, or belongs to another shard although there is a plan.
pub(super) fn keep(part: &ShardArgs, tasks: &mut Vec<Task>, failed: usize) -> Result<Option<Shards>, String> {
    let Some(shard) = part.shard else { return Ok(None) };
    let plan = part.plan.as_deref().map(read_plan).transpose()?;
    let listed = tasks.iter().filter(|task| task.folder.is_none()).map(|task| task.path.as_path());
    let common = common_folder(listed);
    let root = |task: &Task| part.root.clone().or_else(|| Some(task.folder.as_deref()?.to_owned())).or(common.clone());
    let all = (tasks.len() + failed) as u64;
    let (mut kept, mut only_root, mut has_several_roots) = (Vec::new(), None, false);
    let mut lists: BTreeMap<u64, Vec<(String, Option<u64>)>> = BTreeMap::new();
    for task in tasks.drain(..) {
        let root = root(&task).unwrap_or_default();
        let Some(below) = below(&root, &task.path) else {
            return Err(format!("{} is not below the root, {}", task.path.display(), root.display()));
        };
        has_several_roots |= *only_root.get_or_insert_with(|| root.clone()) != root;
        let index = number_of(&below, shard.count);
        lists.entry(index).or_default().push((name_of(&below), length(&task.path)));
        match &plan {
            _ if index == shard.index => kept.push(task),
            None => {}
            Some(_) => {
                let (path, count) = (task.path.display(), shard.count);
                return Err(format!(
                    "{path} belongs to shard {index}/{count}; with --plan, name the inputs of one shard"
                ));
            }
        }
    }
    *tasks = kept;
    let root = part.root.clone().or_else(|| only_root.filter(|_| !has_several_roots));
    let root = root.and_then(|root| std::fs::canonicalize(root).ok());
    let root = root.and_then(|root| root.into_os_string().into_string().ok()).map(|root| shown(&root).into_owned());
    let of_all = || lists.into_iter().map(|(index, recordings)| (index, RecordingList::new(recordings))).collect();
    let Plan { inputs, lists } = plan.unwrap_or_else(|| Plan { inputs: all, lists: of_all() });
    Ok(Some(Shards { count: shard.count, have: [shard.index].into(), inputs: Some(inputs), root, lists }))
}

fn read_plan(path: &Path) -> Result<Plan, String> {
    let text = read_whole(path, bounds::OWN_FILE).map_err(|error| format!("{error:#}"))?;
    Plan::from_json(&text).ok_or_else(|| {
        format!("{}: not a plan of shards, such as {{\"inputs\": 5, \"lists\": {{\"1\": \"HASH\"}}}}", path.display())
    })
}

/// A path below the root as all machines write it.
fn name_of(below: &Path) -> String {
    let names: Vec<_> = below.components().map(|name| name.as_os_str().to_string_lossy()).collect();
    names.join("/")
}

/// The length of a file, and 0 for a folder; `None` if there is nothing.
fn length(path: &Path) -> Option<u64> {
    let metadata = std::fs::metadata(path).ok()?;
    Some(if metadata.is_file() { metadata.len() } else { 0 })
}

/// The path of a file below the root: as both are named, or as they are found.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    let named = from_root(path).strip_prefix(from_root(root)).ok().map(Path::to_owned);
    let found = || {
        let (root, path) = (std::fs::canonicalize(root).ok()?, std::fs::canonicalize(path).ok()?);
        path.strip_prefix(root).ok().map(Path::to_owned)
    };
    named.or_else(found)
}
