//! The two functions that the module exports. They use numbers as addresses, so that no code here needs `unsafe`: the caller
//! is the one who writes to and reads from the memory of the module.

use std::cell::RefCell;

mod exchanged {
    use super::RefCell;

    std::thread_local! {
        /// The question and the bytes that it is about.
        pub(super) static ASKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        /// The last answer.
        pub(super) static ANSWERED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
}

use exchanged::{ANSWERED, ASKED};

/// Makes room for a question together with the bytes that it is about. Returns its address, which is valid until the next call
/// of this function, for any number of questions.
#[expect(unsafe_code, reason = "an exported name needs the attribute")]
#[unsafe(no_mangle)]
pub extern "C" fn take(n_bytes: usize) -> usize {
    ASKED.with_borrow_mut(|asked| {
        *asked = vec![0; n_bytes];
        asked.as_mut_ptr().expose_provenance()
    })
}

/// Answers the question in the first `n_question` bytes of that room, about the `n_bytes` after it. Returns the address of the
/// answer in the upper 32 bits, and its length in the lower ones. The answer is there until the next call.
#[expect(unsafe_code, reason = "an exported name needs the attribute")]
#[unsafe(no_mangle)]
pub extern "C" fn answer(n_question: usize, n_bytes: usize) -> u64 {
    let answer = ASKED.with_borrow(|asked| {
        let (question, rest) = asked.split_at(n_question.min(asked.len()));
        crate::ask(question, &rest[..n_bytes.min(rest.len())])
    });
    let found = ((answer.as_ptr().expose_provenance() as u64) << 32) | answer.len() as u64;
    ANSWERED.set(answer);
    found
}
