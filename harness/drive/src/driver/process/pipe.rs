//! A process's standard error pipe, which can be awaited or read immediately.

use std::io;

use tokio::process::ChildStderr;

/// The read end.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct Pipe(tokio::net::unix::pipe::Receiver);

#[cfg(unix)]
impl Pipe {
    pub(super) fn of(stderr: ChildStderr) -> io::Result<Pipe> {
        stderr.into_owned_fd().and_then(tokio::net::unix::pipe::Receiver::from_owned_fd).map(Pipe)
    }

    pub(super) async fn readable(&self) -> io::Result<()> {
        self.0.readable().await
    }

    /// Reads the bytes that the runtime knows of.
    pub(super) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }

    /// Reads the bytes in the pipe, even if the runtime has not noticed them yet.
    pub(super) fn read_now(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(&self.0, buffer)?)
    }
}

/// Without Unix, no process is started.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct Pipe(std::convert::Infallible);

#[cfg(not(unix))]
impl Pipe {
    pub(super) fn of(_stderr: ChildStderr) -> io::Result<Pipe> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) async fn readable(&self) -> io::Result<()> {
        match self.0 {}
    }

    pub(super) fn try_read(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }

    pub(super) fn read_now(&self, _buffer: &mut [u8]) -> io::Result<usize> {
        match self.0 {}
    }
}
