//! The *read* receipt: whether a peer on this machine has taken in everything that was sent to it.
//!
//! A TCP acknowledgement proves nothing, since the kernel acknowledges for a process that reads nothing.
//! The proof is that our socket has nothing unacknowledged and the peer's has nothing unread. Linux tells both
//! for any socket: through `sock_diag(7)`, which looks one socket up in microseconds, and where a sandbox
//! does not offer that, through `/proc/net/tcp`, whose every reading walks all sockets (about a millisecond).
//! Elsewhere there is no proof.

use std::net::SocketAddr;

/// What is known of the bytes that were sent to a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    /// The peer has read them all.
    Empty,
    /// Some are on their way or unread, or the connection is gone.
    Waiting,
    /// This system does not tell.
    Unknown,
}

/// A window on the queues of sockets.
#[derive(Debug)]
pub(super) struct Queues {
    #[cfg(target_os = "linux")]
    diag: Option<std::sync::Mutex<linux::Diag>>,
}

impl Queues {
    #[cfg(target_os = "linux")]
    pub(super) fn open() -> Queues {
        Queues { diag: linux::Diag::open().ok().map(std::sync::Mutex::new) }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn open() -> Queues {
        Queues {}
    }

    /// Looks at the two ends of a connection.
    #[cfg(target_os = "linux")]
    pub(super) fn look(&self, ours: SocketAddr, peer: SocketAddr) -> Queue {
        let (SocketAddr::V4(ours), SocketAddr::V4(peer)) = (ours, peer) else { return Queue::Unknown };
        if let Some(diag) = &self.diag {
            let mut diag = super::lock(diag);
            if let Ok(unread) = diag.lengths(peer, ours) {
                let unsent = diag.lengths(ours, peer);
                return linux::judge(unread, unsent.unwrap_or(None));
            }
        }
        linux::look_in_proc(ours, peer)
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn look(&self, _ours: SocketAddr, _peer: SocketAddr) -> Queue {
        Queue::Unknown
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Result};
    use std::net::SocketAddrV4;

    use socket2::{Domain, Protocol, Socket, Type};

    use super::Queue;

    /// Bytes that a socket has not given to its process, and that its peer has not acknowledged.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) struct Lengths {
        pub(super) unread: u32,
        pub(super) unacknowledged: u32,
    }

    /// What the two ends say together; an end that is not there proves nothing.
    pub(super) fn judge(peer: Option<Lengths>, ours: Option<Lengths>) -> Queue {
        match (peer, ours) {
            (Some(peer), Some(ours)) if peer.unread == 0 && ours.unacknowledged == 0 => Queue::Empty,
            _ => Queue::Waiting,
        }
    }

    /// A socket to the kernel's socket diagnosis. The layouts are those of `linux/inet_diag.h`.
    #[derive(Debug)]
    pub(super) struct Diag {
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
    /// Where `idiag_rqueue` and `idiag_wqueue` are: behind the header, four bytes, the 48 of the socket's id and
    /// `idiag_expires`.
    const UNREAD_AT: usize = HEADER_LEN + 4 + 48 + 4;
    /// An answer has about 200 bytes.
    const ANSWER_LEN: usize = 4096;

    impl Diag {
        pub(super) fn open() -> Result<Diag> {
            let protocol = Some(Protocol::from(NETLINK_SOCK_DIAG));
            let socket = Socket::new(Domain::from(AF_NETLINK), Type::DGRAM, protocol)?;
            // The kernel answers inside the call that asks, so there is never anything to wait for.
            socket.set_nonblocking(true)?;
            Ok(Diag { socket, n_asked: 0 })
        }

        /// The queues of the socket with these addresses; none if there is no such socket.
        pub(super) fn lengths(
            &mut self,
            local: SocketAddrV4,
            remote: SocketAddrV4,
        ) -> Result<Option<Lengths>> {
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
        bytes.extend_from_slice(&[AF_INET, IPPROTO_TCP, 0, 0]);
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
            let unread = field(bytes, UNREAD_AT)?;
            return Ok(Some(Lengths { unread, unacknowledged: field(bytes, UNREAD_AT + 4)? }));
        }
        match field(bytes, HEADER_LEN)?.cast_signed() {
            code if kind == NLMSG_ERROR && code == -ENOENT => Ok(None),
            _ => Err(Error::from(ErrorKind::Unsupported)),
        }
    }

    fn field(bytes: &[u8], at: usize) -> Result<u32> {
        let field = bytes.get(at..at + 4).and_then(|field| field.try_into().ok());
        field.map(u32::from_ne_bytes).ok_or_else(|| Error::from(ErrorKind::InvalidData))
    }

    /// Bytes read of a table at most: some 100,000 sockets.
    const MAX_TABLE: u64 = 16 << 20;

    /// The same by the table of all sockets.
    pub(super) fn look_in_proc(ours: SocketAddrV4, peer: SocketAddrV4) -> Queue {
        let (our_row, peer_row) = (in_table(ours), in_table(peer));
        let mut found = (None, None);
        // A client's socket may be of IPv6 although it connected to an IPv4 address.
        for path in ["/proc/net/tcp", "/proc/net/tcp6"] {
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
            // Our own socket is open: a table without it is not one.
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
        let (local, remote, _state) = (words.next()?, words.next()?, words.next()?);
        let (unacknowledged, unread) = words.next()?.split_once(':')?;
        let number = |digits| u32::from_str_radix(digits, 16).ok();
        let lengths = Lengths { unread: number(unread)?, unacknowledged: number(unacknowledged)? };
        Some((local, remote, lengths))
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
        fn both_windows_tell_read_from_unread() {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut server, peer) = listener.accept().unwrap();
            let (ours, peer) = (v4(server.local_addr().unwrap()), v4(peer));
            let mut diag = Diag::open().unwrap();
            let mut look = || {
                let by_diag = judge(diag.lengths(peer, ours).unwrap(), diag.lengths(ours, peer).unwrap());
                assert_eq!(by_diag, look_in_proc(ours, peer));
                by_diag
            };
            assert_eq!(look(), Queue::Empty);
            server.write_all(b"four").unwrap();
            assert_eq!(look(), Queue::Waiting);
            client.read_exact(&mut [0; 3]).unwrap();
            assert_eq!(look(), Queue::Waiting);
            client.read_exact(&mut [0; 1]).unwrap();
            assert_eq!(look(), Queue::Empty);
        }

        #[test]
        fn a_socket_that_is_not_there_proves_nothing() {
            let nowhere = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
            let lengths = Diag::open().unwrap().lengths(nowhere, nowhere).unwrap();
            assert_eq!(judge(lengths, lengths), Queue::Waiting);
        }
    }
}
