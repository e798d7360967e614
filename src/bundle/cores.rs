//! Kinds of cores, which exports show behind the number (`CPU 11 (P Core)`).
//!
//! `allObjects` of a run lists an `XRCore` for each core: `$0` is its number, `$1` its device, `topology._clusterFlags` its kind. The
//! kinds were seen in a recording of Instruments 26 beside its export; others have no name here.

use super::budget::Budget;
use super::keyed_archive::Node;
use super::keyed_collections::Kind;
use crate::hash::HashMap;
use crate::symbols::Broken;

/// The kinds of the cores of a device, by number.
pub(super) fn kinds(
    objects: Node<'_>,
    device: Option<&str>,
    budget: &mut Budget,
) -> Result<HashMap<u32, &'static str>, Broken> {
    let mut kinds = HashMap::default();
    for object in objects.items()? {
        if object.class_name()?.as_deref() != Some("XRCore") {
            continue;
        }
        let of_device = object.field("$1")?.map_or(Ok(None), |node| budget.text(node))?;
        let number = object.field("$0")?.map_or(Ok(None), Node::number)?;
        let flags = object.field("topology")?.map_or(Ok(None), |topology| topology.field("_clusterFlags"))?;
        // A core without a topology has no kind.
        let flags = flags.filter(|flags| flags.kind() == Ok(Kind::Integer)).map_or(Ok(None), Node::number)?;
        let kind = match flags {
            Some(1) => "E Core",
            Some(2) => "P Core",
            _ => continue,
        };
        if let Some(number) =
            number.and_then(|number| u32::try_from(number).ok()).filter(|_| of_device.as_deref() == device)
        {
            kinds.insert(number, kind);
        }
    }
    Ok(kinds)
}
