//! Linux shows the queues of every socket.
//!
//! `sock_diag(7)` reports both ends in microseconds. If a sandbox does not offer it, `/proc/net/tcp` shows only the
//! queues, and every reading walks all sockets (about a millisecond). Complete reception is then known only once it is
//! acknowledged, which may take 40 ms.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::Mutex;

use socket2::{Domain, Protocol, Socket, Type};

use super::{Machine, Queue};
use crate::server::lock;

/// Access to the queues of all sockets of this machine.
#[derive(Debug)]
pub(super) struct Linux {
    diag: Option<Mutex<Diag>>,
}

impl Linux {
    pub(super) fn open() -> Linux {
        Linux { diag: Diag::open().ok().map(Mutex::new) }
    }
}

impl Machine for Linux {
    fn shows_queues(&self) -> bool {
        self.diag.as_ref().is_some_and(|diag| lock(diag).is_answered()) || has_table()
    }

    fn look(&self, ours: SocketAddr, peer: SocketAddr, n_written: u64) -> Queue {
        let (SocketAddr::V4(ours), SocketAddr::V4(peer)) = (ours, peer) else { return Queue::Unknown };
        let diag = self.diag.as_ref().map(|diag| lock(diag).look(ours, peer, n_written));
        match diag {
            Some(Ok(queue)) => queue,
            Some(Err(_)) | None => look_in_proc(ours, peer),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lengths {
    /// Bytes that its process has not read.
    unread: u32,
    unacknowledged: u32,
    /// Bytes that it has received in total, if that is known.
    received: Option<u64>,
    /// True if it is open and its peer has closed in order.
    closed_by_peer: bool,
}

/// The result from the queues at both ends.
///
/// A peer that has closed may be gone without a trace, because a busy kernel keeps only a limited number
/// of closed sockets.
/// If it had left anything unread, it would have sent a RST, and our end would be gone as well. In all
/// other cases a missing end proves nothing.
fn judge(peer: Option<Lengths>, ours: Option<Lengths>) -> Queue {
    match (peer, ours) {
        (Some(peer), Some(ours)) if peer.unread == 0 && ours.unacknowledged == 0 => Queue::Empty,
        (None, Some(ours)) if ours.closed_by_peer && ours.unacknowledged == 0 => Queue::Empty,
        _ => Queue::Waiting,
    }
}

/// A socket to the kernel's socket diagnosis. The layouts match `linux/inet_diag.h`.
#[derive(Debug)]
struct Diag {
    socket: Socket,
    n_asked: u32,
}

const AF_NETLINK: i32 = 16;
const NETLINK_SOCK_DIAG: i32 = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLMSG_ERROR: u16 = 2;
const ENOENT: i32 = 2;
const AF_INET: u8 = 2;
const IPPROTO_TCP: u8 = 6;
const HEADER_LEN: usize = 16;
const REQUEST_LEN: u32 = 72;
/// The offset of `idiag_rqueue` and `idiag_wqueue`: after the header, four bytes, the 48 of the socket's
/// id and `idiag_expires`.
const UNREAD_AT: usize = HEADER_LEN + 4 + 48 + 4;
/// The end of `struct inet_diag_msg`, where the attributes begin.
const ATTRIBUTES_AT: usize = HEADER_LEN + 72;
/// The attribute with a `struct tcp_info`, and `tcpi_bytes_received` in it.
const INET_DIAG_INFO: u16 = 2;
const RECEIVED_AT: usize = 128;
const ANSWER_LEN: usize = 4096;
/// The offset of `idiag_state`, and the state of a socket after its peer has closed.
const STATE_AT: usize = HEADER_LEN + 1;
const TCP_CLOSE_WAIT: u8 = 8;

impl Diag {
    fn open() -> Result<Diag> {
        let protocol = Some(Protocol::from(NETLINK_SOCK_DIAG));
        let socket = Socket::new(Domain::from(AF_NETLINK), Type::DGRAM, protocol)?;
        // The kernel answers inside the call that asks, so there is never anything to wait for.
        socket.set_nonblocking(true)?;
        Ok(Diag { socket, n_asked: 0 })
    }

    fn look(&mut self, ours: SocketAddrV4, peer: SocketAddrV4, n_written: u64) -> Result<Queue> {
        let at_peer = self.lengths(peer, ours)?;
        match at_peer.and_then(|lengths| lengths.received) {
            Some(n_received) if n_received < n_written => Ok(Queue::Waiting),
            Some(_) if at_peer.is_some_and(|lengths| lengths.unread == 0) => Ok(Queue::Empty),
            Some(_) => Ok(Queue::Waiting),
            // The peer has closed. The rest of its socket gives no count any more, but its FIN was
            // acknowledged.
            None => Ok(judge(at_peer, self.lengths(ours, peer)?)),
        }
    }

    /// True if the kernel answers, even if only to report that a socket does not exist.
    fn is_answered(&mut self) -> bool {
        let nowhere = SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 0);
        self.lengths(nowhere, nowhere).is_ok()
    }

    /// The state of the socket with these addresses. `None` if there is no such socket.
    fn lengths(&mut self, local: SocketAddrV4, remote: SocketAddrV4) -> Result<Option<Lengths>> {
        self.n_asked = self.n_asked.wrapping_add(1);
        self.socket.send(&request(self.n_asked, local, remote))?;
        let mut answer = [0; ANSWER_LEN];
        loop {
            let n = (&self.socket).read(&mut answer)?;
            if field(&answer[..n], 8)? == self.n_asked {
                return read_answer(&answer[..n]);
            }
        }
    }
}

fn request(number: u32, local: SocketAddrV4, remote: SocketAddrV4) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(REQUEST_LEN as usize);
    bytes.extend_from_slice(&REQUEST_LEN.to_ne_bytes());
    bytes.extend_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend_from_slice(&NLM_F_REQUEST.to_ne_bytes());
    bytes.extend_from_slice(&number.to_ne_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&[AF_INET, IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), 0]);
    // All states.
    bytes.extend_from_slice(&[0xff; 4]);
    bytes.extend_from_slice(&local.port().to_be_bytes());
    bytes.extend_from_slice(&remote.port().to_be_bytes());
    for ip in [local.ip(), remote.ip()] {
        bytes.extend_from_slice(&ip.octets());
        bytes.extend_from_slice(&[0; 12]);
    }
    // Any interface, no cookie.
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&[0xff; 8]);
    bytes
}

fn read_answer(bytes: &[u8]) -> Result<Option<Lengths>> {
    let kind = u16::from_ne_bytes([bytes[4], bytes[5]]);
    if kind == SOCK_DIAG_BY_FAMILY {
        let (unread, unacknowledged) = (field(bytes, UNREAD_AT)?, field(bytes, UNREAD_AT + 4)?);
        let closed_by_peer = bytes[STATE_AT] == TCP_CLOSE_WAIT;
        return Ok(Some(Lengths { unread, unacknowledged, received: received(bytes), closed_by_peer }));
    }
    match field(bytes, HEADER_LEN)?.cast_signed() {
        code if kind == NLMSG_ERROR && code == -ENOENT => Ok(None),
        _ => Err(Error::from(ErrorKind::Unsupported)),
    }
}

/// Finds the count of received bytes among the attributes: length, kind and value, four-byte aligned.
fn received(bytes: &[u8]) -> Option<u64> {
    let mut rest = bytes.get(ATTRIBUTES_AT..)?;
    loop {
        let len = usize::from(u16::from_ne_bytes(rest.get(..2)?.try_into().ok()?));
        if rest.get(2..4)? == INET_DIAG_INFO.to_ne_bytes() {
            let count = rest.get(..len)?.get(4 + RECEIVED_AT..4 + RECEIVED_AT + 8)?;
            return Some(u64::from_ne_bytes(count.try_into().ok()?));
        }
        rest = rest.get(len.max(4).next_multiple_of(4)..)?;
    }
}

fn field(bytes: &[u8], at: usize) -> Result<u32> {
    let field = bytes.get(at..at + 4).and_then(|field| field.try_into().ok());
    field.map(u32::from_ne_bytes).ok_or_else(|| Error::from(ErrorKind::InvalidData))
}

/// The maximum number of bytes read from a table: some 100,000 sockets.
const MAX_TABLE: u64 = 16 << 20;

/// The tables of all sockets. A client's socket may be IPv6 even if it connected to an IPv4 address.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// True if the table with our sockets can be read.
fn has_table() -> bool {
    std::fs::File::open(TABLES[0]).is_ok()
}

/// Like `look`, but with the table of all sockets.
fn look_in_proc(ours: SocketAddrV4, peer: SocketAddrV4) -> Queue {
    let (our_row, peer_row) = (in_table(ours), in_table(peer));
    let mut found = (None, None);
    for path in TABLES {
        let Ok(table) = std::fs::File::open(path) else { continue };
        for line in BufReader::new(table.take(MAX_TABLE)).lines() {
            let Ok(line) = line else { return Queue::Unknown };
            let Some((local, remote, lengths)) = read_row(&line) else { continue };
            if local.ends_with(&peer_row) && remote.ends_with(&our_row) {
                found.0 = Some(lengths);
            } else if local.ends_with(&our_row) && remote.ends_with(&peer_row) {
                found.1 = Some(lengths);
            }
        }
        if found.0.is_some() && found.1.is_some() {
            break;
        }
    }
    match found {
        // Our own socket is open, so a table without it is useless.
        (None, None) => Queue::Unknown,
        (peer, ours) => judge(peer, ours),
    }
}

/// An address as the table shows it: the address as a number in the machine's order, and the port.
fn in_table(address: SocketAddrV4) -> String {
    format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port())
}

/// `sl: local remote state unacknowledged:unread …`
fn read_row(line: &str) -> Option<(&str, &str, Lengths)> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (local, remote, state) = (words.next()?, words.next()?, words.next()?);
    let (unacknowledged, unread) = words.next()?.split_once(':')?;
    let number = |digits| u32::from_str_radix(digits, 16).ok();
    let (unread, unacknowledged) = (number(unread)?, number(unacknowledged)?);
    let closed_by_peer = state == format!("{TCP_CLOSE_WAIT:02X}");
    Some((local, remote, Lengths { unread, unacknowledged, received: None, closed_by_peer }))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

    use super::*;

    fn v4(address: SocketAddr) -> SocketAddrV4 {
        let SocketAddr::V4(address) = address else { panic!("not of IPv4: {address}") };
        address
    }

    #[test]
    fn both_sources_distinguish_read_from_unread() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, peer) = listener.accept().unwrap();
        let (ours, peer) = (v4(server.local_addr().unwrap()), v4(peer));
        let mut diag = Diag::open().unwrap();
        let mut look = |n_written| {
            let queue = diag.look(ours, peer, n_written).unwrap();
            // The table may lag behind by a delayed acknowledgement.
            assert!((0..1000).any(|_| look_in_proc(ours, peer) == queue));
            queue
        };
        assert_eq!(look(0), Queue::Empty);
        server.write_all(b"four").unwrap();
        assert_eq!(look(4), Queue::Waiting);
        client.read_exact(&mut [0; 3]).unwrap();
        assert_eq!(look(4), Queue::Waiting);
        client.read_exact(&mut [0; 1]).unwrap();
        assert_eq!(look(4), Queue::Empty);
        assert_eq!(diag.look(ours, peer, 5).unwrap(), Queue::Waiting);
        drop(client);
        assert_eq!(diag.look(ours, peer, 4).unwrap(), Queue::Empty);
    }

    #[test]
    fn a_closed_peer_without_a_trace_has_read_what_it_acknowledged() {
        let ours = Lengths { unread: 0, unacknowledged: 0, received: None, closed_by_peer: true };
        assert_eq!(judge(None, Some(ours)), Queue::Empty);
        assert_eq!(judge(None, Some(Lengths { closed_by_peer: false, ..ours })), Queue::Waiting);
        assert_eq!(judge(None, Some(Lengths { unacknowledged: 1, ..ours })), Queue::Waiting);
        assert_eq!(judge(None, None), Queue::Waiting);
    }

    #[test]
    fn a_missing_socket_proves_nothing() {
        let nowhere = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
        let queue = Diag::open().unwrap().look(nowhere, nowhere, 0).unwrap();
        assert_eq!(queue, Queue::Waiting);
    }
}
