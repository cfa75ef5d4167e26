// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys, each with a number, in a file: so the memory of a sweep does not grow with its length.
//!
//! An open hash table with linear probing. Keys are hashes already, so their first bytes say where they stand. They are never taken out.

use std::{
    env,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
};

use tandem_scenario::FileError;

pub type KeyBytes = [u8; 16];

const KEY_BYTES: usize = size_of::<KeyBytes>();
/// A key, and its number plus one: a slot of zeros is free, and so is all of a new file.
const SLOT_BYTES: usize = KEY_BYTES + size_of::<u64>();
const FIRST_SLOTS: u64 = 256;
/// A table with more keys than this share of its slots gets twice as many. Then a search reads 2.5 slots at most in the mean, if the key is not
/// there (Knuth, The Art of Computer Programming, volume 3, 6.4).
const FULL: f64 = 0.5;

pub struct KeyTable {
    /// Without a name, so that it goes with the process.
    file: File,
    slots: u64,
    len: u64,
}

impl KeyTable {
    /// An empty one, in the system's folder for temporary files.
    pub fn new() -> Result<Self, FileError> {
        Self::with_slots(FIRST_SLOTS).map_err(told)
    }

    fn with_slots(slots: u64) -> io::Result<Self> {
        let file = tempfile::tempfile()?;
        // The file has holes, which take no room on the disk until they are written to.
        file.set_len(slots * SLOT_BYTES as u64)?;
        Ok(Self { file, slots, len: 0 })
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// The number of a key that is there.
    pub fn get(&mut self, key: KeyBytes) -> Result<Option<u64>, FileError> {
        self.find(key).map(|(_, number)| number).map_err(told)
    }

    /// Is a key there?
    pub fn contains(&mut self, key: KeyBytes) -> Result<bool, FileError> {
        Ok(self.get(key)?.is_some())
    }

    /// Takes a key in, if it is not there. Returns whether it is new.
    pub fn insert(&mut self, key: KeyBytes, number: u64) -> Result<bool, FileError> {
        self.put(key, number).map_err(told)
    }

    fn put(&mut self, key: KeyBytes, number: u64) -> io::Result<bool> {
        let (slot, known) = self.find(key)?;
        if known.is_some() {
            return Ok(false);
        }
        self.go_to(slot)?;
        self.file.write_all(&[&key[..], &(number + 1).to_le_bytes()].concat())?;
        self.len += 1;
        if self.len as f64 > FULL * self.slots as f64 {
            self.grow()?;
        }
        Ok(true)
    }

    /// The slot of a key with its number, or that where it belongs.
    fn find(&mut self, key: KeyBytes) -> io::Result<(u64, Option<u64>)> {
        let start = u64::from_le_bytes(key[..8].try_into().expect("a key has 16 bytes"));
        for step in 0..self.slots {
            let slot = start.wrapping_add(step) % self.slots;
            self.go_to(slot)?;
            match read_slot(&mut self.file)? {
                (_, None) => return Ok((slot, None)),
                (there, number) if there == key => return Ok((slot, number)),
                _ => {}
            }
        }
        unreachable!("half of the slots are free")
    }

    fn go_to(&mut self, slot: u64) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(slot * SLOT_BYTES as u64)).map(drop)
    }

    fn grow(&mut self) -> io::Result<()> {
        let mut larger = Self::with_slots(2 * self.slots)?;
        self.go_to(0)?;
        let mut slots = io::BufReader::new(&self.file);
        for _ in 0..self.slots {
            if let (key, Some(number)) = read_slot(&mut slots)? {
                larger.put(key, number)?;
            }
        }
        *self = larger;
        Ok(())
    }
}

fn read_slot(from: &mut impl Read) -> io::Result<(KeyBytes, Option<u64>)> {
    let mut bytes = [0; SLOT_BYTES];
    from.read_exact(&mut bytes)?;
    let (key, number) = bytes.split_at(KEY_BYTES);
    let number = u64::from_le_bytes(number.try_into().expect("a slot ends with a number"));
    Ok((key.try_into().expect("a slot begins with a key"), number.checked_sub(1)))
}

fn told(error: io::Error) -> FileError {
    let message = format!("the keys of a sweep cannot be kept there: {error}; is it full? TMPDIR names another folder");
    FileError { path: env::temp_dir().display().to_string(), place: None, message }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Against the standard library's: more keys than the first table has room for, some of them twice, some that want the same slot.
    #[test]
    fn it_has_what_a_map_in_memory_has() {
        let (mut table, mut map) = (KeyTable::new().unwrap(), HashMap::new());
        let mut last = [0; KEY_BYTES];
        for i in 0..20_000u64 {
            let mut key = last;
            match i % 5 {
                0 => {}
                1 => key[15] ^= 1,
                _ => key.copy_from_slice(&blake3::hash(&i.to_le_bytes()).as_bytes()[..KEY_BYTES]),
            }
            assert_eq!(table.contains(key).unwrap(), map.contains_key(&key));
            assert_eq!(table.insert(key, i).unwrap(), !map.contains_key(&key));
            map.entry(key).or_insert(i);
            last = key;
        }
        // The first is new, though it is the "last" of none.
        assert_eq!((table.len(), map.len()), (16_001, 16_001));
        assert!(map.iter().all(|(&key, &number)| table.get(key).unwrap() == Some(number)));
        assert_eq!(table.get([7; KEY_BYTES]).unwrap(), None);
    }

    /// A hash may be all zeros, and a number too.
    #[test]
    fn zeros_are_a_key() {
        let mut table = KeyTable::new().unwrap();
        assert_eq!(table.get([0; KEY_BYTES]).unwrap(), None);
        assert!(table.insert([0; KEY_BYTES], 0).unwrap());
        assert_eq!(table.get([0; KEY_BYTES]).unwrap(), Some(0));
    }
}
