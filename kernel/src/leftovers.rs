// SPDX-License-Identifier: MIT OR Apache-2.0
//! Registrations of processes that were killed. From Linux 6.4 on the kernel ends them with the process's last descriptor;
//! before, a registration is an entry of its struct_ops map, which holds the map, so that both stay until somebody deletes it.

use libbpf_rs::{
    MapCore, MapFlags, MapHandle, MapType,
    query::{MapInfo, MapInfoIter},
};

use crate::{
    Error, bpffs,
    object::{has_links, to_io},
    registry::remove_half_loaded,
    sysctl,
    turn::take_turn,
};

/// Takes away all that killed commands have left: what [`load`](crate::load) and [`unload`](crate::unload) did not finish, and, as
/// [`remove_leftovers`], registrations whose name `is_left`. Returns the names; of an empty BPF file system its path.
///
/// # Errors
/// [`Error`] if the process may not, or the kernel refuses.
pub fn clean_up(is_left: impl Fn(&str) -> bool) -> Result<Vec<String>, Error> {
    let _turn = take_turn("clean up")?;
    bpffs::check_place()?;
    let mut removed = remove_half_loaded()?;
    removed.extend(remove_leftovers(is_left)?);
    Ok(removed)
}

/// Ends the registrations whose name `is_left`; connections that use them go on. Returns the names.
///
/// # Errors
/// [`Error::Io`] if the kernel does not show or end a registration.
pub fn remove_leftovers(is_left: impl Fn(&str) -> bool) -> Result<Vec<String>, Error> {
    let mut left = sysctl::available()?;
    left.retain(|name| is_left(name));
    if left.is_empty() || has_links() {
        // With links, the kernel itself is about to end these.
        return Ok(Vec::new());
    }
    let mut removed = Vec::new();
    for map in MapInfoIter::default().filter(|map| map.ty == MapType::StructOps) {
        if let Some(name) = registered_name(&map, &left)? {
            let handle = MapHandle::from_map_id(map.id);
            handle.and_then(|map| map.delete(&0u32.to_ne_bytes())).map_err(|e| cannot("unregister", name, &e))?;
            removed.push(name.clone());
        }
    }
    Ok(removed)
}

/// Which of the names the map's struct tcp_congestion_ops has, if it is registered.
fn registered_name<'a>(map: &MapInfo, names: &'a [String]) -> Result<Option<&'a String>, Error> {
    // The map may be gone by now.
    let Ok(handle) = MapHandle::from_map_id(map.id) else { return Ok(None) };
    let value =
        handle.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).map_err(|e| cannot("read", "a struct_ops map", &e))?;
    Ok(value.and_then(|value| names.iter().find(|name| holds_text(&value, name))))
}

/// Is it there from one zero byte to the next? Where the name lies differs between kernels; everything around it is numbers.
fn holds_text(value: &[u8], text: &str) -> bool {
    value.split(|byte| *byte == 0).any(|part| part == text.as_bytes())
}

fn cannot(what: &'static str, name: &str, e: &libbpf_rs::Error) -> Error {
    Error::io(what, name, to_io(e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_whole_text_between_zeros() {
        let value = b"\x01\0\0\0t1f_0\0\0\0\x07\0";
        assert!(holds_text(value, "t1f_0"));
        for other in ["t1f_", "t1f_00", "1f_0"] {
            assert!(!holds_text(value, other), "{other}");
        }
    }
}
