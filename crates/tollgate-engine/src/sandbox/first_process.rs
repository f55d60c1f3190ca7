//! The first process of the namespace, as what runs in it sees that: an `init`, by its name and arguments.
//!
//! Nothing rests on it: it is so that code under test does not tell by one look that it is being checked. Nothing else is imitated. The
//! variables of this process are for nobody else: what runs here has fewer rights.

use std::ffi::CStr;
use std::io;
use std::os::unix::fs::FileExt;

const NAME: &CStr = c"init";
/// Where `/proc/PID/stat` says, after the name, that the arguments begin and end.
const ARGUMENTS: [usize; 2] = [45, 46];

/// Names this process, and the threads that it starts from now on. Where the system does not let us, it shows what it is.
pub(super) fn name() {
    rustix::thread::set_name(NAME).ok();
    overwrite_arguments().ok();
}

/// Puts the name in the place of the arguments, which were read before.
fn overwrite_arguments() -> io::Result<()> {
    let text = std::fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = text.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let [from, to] = ARGUMENTS.map(|at| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or_default());
    let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).map_err(io::Error::other)?];
    let name = NAME.to_bytes_with_nul();
    let Some((last, place)) = bytes.split_last_mut().filter(|(_, place)| place.len() >= name.len()) else {
        return Ok(());
    };
    place[..name.len()].copy_from_slice(name);
    // Where the last byte is no zero, the system shows one text, not all the bytes.
    *last = b'.';
    std::fs::File::options().write(true).open("/proc/self/mem")?.write_all_at(&bytes, from)
}
