// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the store is.

use std::{
    env,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

/// Names the store's folder, or says that there is to be none.
pub const VARIABLE: &str = "TANDEM_STORE";
/// What it says then.
const OFF: &str = "off";

/// The folder of the store: `$TANDEM_STORE`, otherwise `tandem/runs` in the user's folder for caches. `None`: `TANDEM_STORE=off`, or the user has
/// no such folder.
pub fn folder() -> Option<PathBuf> {
    folder_of(|name| env::var_os(name).filter(|value| !value.is_empty()))
}

fn folder_of(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(named) = variable(VARIABLE) {
        return (named != OFF).then(|| named.into());
    }
    // A relative one is invalid (XDG Base Directory Specification).
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else {
        absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
    };
    Some(caches?.join("tandem").join("runs"))
}

/// Refuses a folder that is another user's, or would be made in one. As root it would leave files there that the other cannot change; and
/// the owner of a folder can put links into it.
pub fn check_owner(folder: &Path) -> io::Result<()> {
    #[cfg(not(unix))]
    let _ = folder;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let user = rustix::process::geteuid().as_raw();
        let nearest = folder.ancestors().find_map(|part| Some((part, part.metadata().ok()?)));
        if let Some((part, metadata)) = nearest {
            // Whatever is shared, such as /tmp, belongs to root, and a folder that is made there is one's own.
            let is_shared = part != folder && metadata.uid() == 0;
            if metadata.uid() != user && !is_shared {
                return Err(io::Error::other(format!("`{}` belongs to another user", part.display())));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_named_or_the_users_own() {
        let of = |set: &[(&str, &str)]| {
            folder_of(|name| set.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value)))
        };
        assert_eq!(of(&[("TANDEM_STORE", "here"), ("HOME", "/h")]), Some("here".into()));
        assert_eq!(of(&[("TANDEM_STORE", "off"), ("HOME", "/h")]), None);
        assert_eq!(of(&[]), None);
        #[cfg(unix)]
        {
            assert_eq!(of(&[("HOME", "/h")]), Some("/h/.cache/tandem/runs".into()));
            assert_eq!(of(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]), Some("/c/tandem/runs".into()));
            assert_eq!(of(&[("XDG_CACHE_HOME", "c"), ("HOME", "/h")]), Some("/h/.cache/tandem/runs".into()));
        }
    }
}
