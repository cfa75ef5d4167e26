// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that is needed soon is fetched while there is other work.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code))]

/// Asks the caches for all of what is there. Only a hint: it changes nothing but the time, and does nothing where the processor is another.
#[inline(always)]
pub fn prefetch<T>(there: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        const LINE_BYTES: usize = 64;
        let start = std::ptr::from_ref(there).cast::<i8>();
        let last = size_of::<T>().saturating_sub(1);
        for byte in (0..last).step_by(LINE_BYTES).chain([last]) {
            // SAFETY: the byte is within the value, and a hint reads nothing.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(byte)) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = there;
}
