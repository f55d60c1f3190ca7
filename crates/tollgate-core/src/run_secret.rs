//! The secret of a run: 32 random bytes from which everything follows that its workers must not be able to work out.
//!
//! The engine makes it, and the store keeps it beside the journal. It is in no event, so neither the state of a run nor an export
//! has it, and it is never printed.

use std::fmt;

use crate::digest::Digest;

/// The block of SHA-256, which an HMAC fills up with zeros after its key.
const BLOCK_BYTES: usize = 64;

/// The secret of a run.
#[derive(Clone, PartialEq, Eq)]
pub struct RunSecret([u8; 32]);

impl RunSecret {
    /// A secret of bytes that nobody can guess.
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Its bytes, for the store that keeps it.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The HMAC-SHA-256 of a message: who does not know the secret cannot work it out from that of any other message.
    pub fn hmac(&self, message: &[u8]) -> Digest {
        let padded = |byte: u8| {
            let mut block = [byte; BLOCK_BYTES];
            block.iter_mut().zip(self.0).for_each(|(padded, key)| *padded ^= key);
            block
        };
        let inner = Digest::of(&[&padded(0x36), message].concat());
        Digest::of(&[&padded(0x5c)[..], &inner.0].concat())
    }
}

impl fmt::Debug for RunSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunSecret").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A key of fewer bytes is the same as one that is filled up with zeros.
    fn secret(key: &[u8]) -> RunSecret {
        let mut bytes = [0; 32];
        bytes[..key.len()].copy_from_slice(key);
        RunSecret::new(bytes)
    }

    /// The test cases of RFC 4231 whose keys are no longer than a secret.
    #[test]
    fn it_is_the_hmac_of_the_standard() {
        for (key, message, expected) in [
            (&[0x0b; 20][..], &b"Hi There"[..], "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (&[0xaa; 20], &[0xdd; 50], "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
        ] {
            assert_eq!(secret(key).hmac(message).to_string(), expected);
        }
    }

    #[test]
    fn it_is_not_printed() {
        assert_eq!(format!("{:?}", secret(b"Jefe")), "RunSecret { .. }");
    }
}
