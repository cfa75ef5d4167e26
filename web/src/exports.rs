// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the page's worker calls. Texts pass through one buffer: it writes UTF-8 where [`text_room`] says, and reads the answer
//! from [`answer`] on. A module runs in one thread, and has one caller.
#![expect(unsafe_code)]

use std::cell::RefCell;

use crate::{Rows, advise, advise_run, controllers, run, stolen};

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// New samples: `count` numbers, in rows of `columns`. They stand there until it returns.
    fn samples(numbers: *const f32, count: usize, columns: usize);
}

thread_local! {
    static TEXT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Room for a text of this many bytes.
#[unsafe(no_mangle)]
extern "C" fn text_room(bytes: usize) -> *mut u8 {
    TEXT.with_borrow_mut(|text| {
        *text = vec![0; bytes];
        text.as_mut_ptr()
    })
}

/// Where the answer begins; the function before returned its length.
#[unsafe(no_mangle)]
extern "C" fn answer() -> *const u8 {
    TEXT.with_borrow(|text| text.as_ptr())
}

/// The list of controllers as JSON. Returns the length of the answer.
#[unsafe(no_mangle)]
extern "C" fn list_controllers() -> usize {
    keep(controllers())
}

/// Runs the scenario in the buffer. The answer is `+` and the result as JSON, or `-` and what is wrong. Returns its length.
#[unsafe(no_mangle)]
extern "C" fn run_scenario(with_trace: u32) -> usize {
    let text = TEXT.take();
    // SAFETY: the numbers live as long as the call.
    let show = |rows: &Rows| unsafe { samples(rows.numbers().as_ptr(), rows.numbers().len(), rows.columns()) };
    keep_outcome(run(&String::from_utf8_lossy(&text), with_trace != 0, show))
}

/// What the second group loses, of the pair of runs in the buffer. The answer is `+` and a number or null, or `-` and what is wrong. Returns
/// its length.
#[unsafe(no_mangle)]
extern "C" fn share_stolen() -> usize {
    let text = TEXT.take();
    keep_outcome(stolen(&String::from_utf8_lossy(&text)))
}

/// The advice from the runs in the buffer, and which runs come next: see [`advise`]. The answer is `+` and JSON, or `-` and what is wrong. Returns its
/// length.
#[unsafe(no_mangle)]
extern "C" fn advice() -> usize {
    let text = TEXT.take();
    keep_outcome(advise(&String::from_utf8_lossy(&text)))
}

/// The run in the buffer: see [`advise_run`]. The answer is `+` and the result as JSON, or `-` and what is wrong. Returns its length.
#[unsafe(no_mangle)]
extern "C" fn run_for_advice() -> usize {
    let text = TEXT.take();
    keep_outcome(advise_run(&String::from_utf8_lossy(&text)))
}

fn keep_outcome(outcome: Result<String, String>) -> usize {
    match outcome {
        Ok(result) => keep(format!("+{result}")),
        Err(why) => keep(format!("-{why}")),
    }
}

fn keep(answer: String) -> usize {
    TEXT.set(answer.into_bytes());
    TEXT.with_borrow(Vec::len)
}
