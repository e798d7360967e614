//! Core kinds, which exports append to the core number (`CPU 11 (P Core)`).
//!
//! `allObjects` of a run contains an `XRCore` for each core: `$0` is its number, `$1` its device, `topology._clusterFlags` its kind. The
//! kinds below were found in an Instruments 26 recording and its export. Other kinds have no name here.
//!
//! Rows contain the core number but not the device. If several devices have a core with the same number, it gets a kind only if they agree.

use super::budget::Budget;
use super::keyed_archive::Node;
use crate::hash::HashMap;
use crate::symbols::Broken;

#[derive(Clone, Copy, Debug)]
struct NumberedCore {
    /// `None` if the kind is unnamed, or if devices disagree.
    kind: Option<&'static str>,
    /// True if the chosen device has this core.
    is_of_device: bool,
}

/// Returns the core kinds of a device, keyed by core number.
pub(super) fn kinds(
    objects: Node<'_>,
    device: Option<&str>,
    budget: &mut Budget,
    odd: &mut Vec<String>,
) -> Result<HashMap<u32, &'static str>, Broken> {
    let mut cores: HashMap<u32, NumberedCore> = HashMap::default();
    for object in objects.items()? {
        match object.class_name()?.as_deref() {
            Some("XRCore") => {}
            Some(_) => continue,
            None => {
                odd.push("an entry of allObjects is not an object: the kind of a core may be missing".to_owned());
                continue;
            }
        }
        let of_device = object.field("$1")?.map_or(Ok(None), |node| budget.string(node))?;
        let number = object.field("$0")?.map_or(Ok(None), Node::number)?;
        let Some(number) = number.and_then(|number| u32::try_from(number).ok()) else {
            odd.push("one of its cores has no number: its kind is unknown".to_owned());
            continue;
        };
        let (kind, is_of_device) = (kind(object)?, of_device.as_deref() == device);
        let core = cores.entry(number).or_insert(NumberedCore { kind, is_of_device });
        core.kind = core.kind.filter(|known| Some(*known) == kind);
        core.is_of_device |= is_of_device;
    }
    if cores.is_empty() {
        odd.push("allObjects has no cores: their kinds are unknown".to_owned());
    }
    let known = cores.into_iter().filter(|(_, core)| core.is_of_device);
    Ok(known.filter_map(|(number, core)| Some((number, core.kind?))).collect())
}

/// Returns the kind of a core; `None` without a topology.
fn kind(core: Node<'_>) -> Result<Option<&'static str>, Broken> {
    let flags = core.field("topology")?.map_or(Ok(None), |topology| topology.field("_clusterFlags"))?;
    let flags = flags.map_or(Ok(None), Node::number)?;
    Ok(match flags {
        Some(1) => Some("E Core"),
        Some(2) => Some("P Core"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::keyed_archive::KeyedArchive;
    use super::super::tests::{ArchiveWriter, reference};
    use super::*;

    /// Lists these cores (device, number, flags), and returns the kinds for the device `Mac`.
    fn found(cores: &[(&str, u64, u64)]) -> Vec<(u32, &'static str)> {
        let mut writer = ArchiveWriter::new();
        let mut objects = Vec::new();
        for &(device, number, flags) in cores {
            let flags = writer.wrapped("DTCPUClusterInfo", "_clusterFlags", flags);
            let device = writer.add(device);
            let fields = [("$0", number.into()), ("$1", reference(device)), ("topology", reference(flags))];
            objects.push(writer.object("XRCore", fields.map(|(name, value)| (name.to_owned(), value))));
        }
        let objects = writer.array(&objects);
        let bytes = writer.finish(&[("root", objects)]);
        let archive = KeyedArchive::read(&bytes).unwrap();
        let objects = archive.top("root").unwrap().unwrap();
        let mut kinds: Vec<_> =
            kinds(objects, Some("Mac"), &mut Budget::new(&archive), &mut Vec::new()).unwrap().into_iter().collect();
        kinds.sort_unstable();
        kinds
    }

    #[test]
    fn flags_of_clusters_are_kinds() {
        assert_eq!(
            found(&[("Mac", 0, 1), ("Mac", 1, 2), ("Mac", 2, 0), ("Mac", 3, 7)]),
            [(0, "E Core"), (1, "P Core")]
        );
    }

    #[test]
    fn a_number_that_means_other_cores_elsewhere_has_no_kind() {
        let mac = [("Mac", 0, 1), ("Mac", 1, 1), ("Mac", 2, 2), ("Mac", 3, 2)];
        // Core 0 has the same kind on both devices, core 1 a different kind, and core 2 a kind without a name; only the phone has a core 9.
        let phone = [("phone", 0, 1), ("phone", 1, 2), ("phone", 2, 0), ("phone", 9, 2)];
        let expected = [(0, "E Core"), (3, "P Core")];
        assert_eq!(found(&[mac, phone].concat()), expected);
        assert_eq!(found(&[phone, mac].concat()), expected, "in whichever order they are listed");
    }
}
