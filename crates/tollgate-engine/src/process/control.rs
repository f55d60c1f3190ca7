//! The control socket of a program that holds another: over it goes what it is to do, and back comes the answer that it does it.
//!
//! The socket is the standard input of whatever is started, and the input of the program that is held is handed on over it. So nothing of
//! it stands in an argument or a variable, which everybody below could read, and no program that is held inherits it.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};

/// The longest order that is read.
const ORDER_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What is said to a program, and what it answers once it does that. Without the answer nothing that it ended with counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Control {
    pub order: Vec<u8>,
    /// Known from the order alone.
    pub answer: String,
}

/// Sends an order, and with it the input of the program that is held.
pub(super) fn send(socket: &UnixStream, order: &[u8], input: BorrowedFd<'_>) -> io::Result<()> {
    let length = u32::try_from(order.len()).map_err(io::Error::other)?.to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut handed = SendAncillaryBuffer::new(&mut space);
    let inputs = [input];
    if !handed.push(SendAncillaryMessage::ScmRights(&inputs)) {
        return Err(io::Error::other("no room for a file"));
    }
    sendmsg(socket, &[IoSlice::new(&length)], &mut handed, SendFlags::NOSIGNAL)?;
    (&mut &*socket).write_all(order)
}

/// Takes an order from a socket, with the input of the program that is to be held.
pub fn receive(socket: BorrowedFd<'_>) -> io::Result<(Vec<u8>, OwnedFd)> {
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut handed = RecvAncillaryBuffer::new(&mut space);
    let read = recvmsg(socket, &mut [IoSliceMut::new(&mut length)], &mut handed, RecvFlags::CMSG_CLOEXEC)?.bytes;
    let input = handed.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    let (Some(input), true) = (input, read == length.len()) else { return Err(io::ErrorKind::InvalidData.into()) };
    let length = u32::from_le_bytes(length) as usize;
    if length > ORDER_BYTES_MAX {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut order = vec![0; length];
    let mut from = std::fs::File::from(socket.try_clone_to_owned()?);
    from.read_exact(&mut order)?;
    Ok((order, input))
}

/// Answers an order.
pub fn answer(socket: BorrowedFd<'_>, answer: &str) -> io::Result<()> {
    std::fs::File::from(socket.try_clone_to_owned()?).write_all(answer.as_bytes())
}

/// Whether an order was answered by now.
pub(super) fn is_answered(socket: &UnixStream, answer: &str) -> bool {
    let mut said = vec![0; answer.len()];
    socket.set_nonblocking(true).is_ok()
        && (&mut &*socket).read_exact(&mut said).is_ok()
        && said == answer.as_bytes()
        && rustix::net::recv(socket.as_fd(), &mut [0; 1], RecvFlags::DONTWAIT).map_or(true, |(read, _)| read == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_brings_an_input_and_is_answered_by_who_read_it() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (input, mut words) = std::io::pipe().unwrap();
        let order = vec![b'x'; 100_000];
        let sent = order.clone();
        let reader = std::thread::spawn(move || {
            let (order, input) = receive(theirs.as_fd()).unwrap();
            answer(theirs.as_fd(), "answer").unwrap();
            (order, std::io::read_to_string(std::fs::File::from(input)).unwrap())
        });
        send(&ours, &sent, input.as_fd()).unwrap();
        drop(input);
        words.write_all(b"the input").unwrap();
        drop(words);
        assert_eq!(reader.join().unwrap(), (order, "the input".to_owned()));
        assert!(is_answered(&ours, "answer"));
        for (said, answered) in [("", false), ("answe", false), ("answer", true), ("answers", false), ("wrong!", false)]
        {
            let (ours, theirs) = UnixStream::pair().unwrap();
            answer(theirs.as_fd(), said).unwrap();
            drop(theirs);
            assert_eq!(is_answered(&ours, "answer"), answered, "{said}");
        }
    }
}
