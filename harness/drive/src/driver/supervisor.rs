//! The supervisor: a process between brickbat and each process that brickbat starts.
//!
//! It holds one end of a socket, and brickbat holds the other. When Brickbat's end closes for any reason, or
//! when the program exits, the supervisor kills every process that the program started, waits until all of
//! them are gone, and exits. On Linux it adopts orphaned processes, even those in their own sessions;
//! elsewhere it can reach only the program's group. It forwards no bytes: the program gets the pipes
//! themselves. Nothing here waits for a fixed time. Brickbat can also interrupt the program, by a byte on the
//! socket.
//!
//! A supervisor without a program is the reaper for a run's temporary folder. Supervisors that work in
//! the folder hold a shared lock on it, so the reaper removes it after the last of them has ended.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process_group, setsid, wait, waitid,
    waitpid,
};

/// The byte with which Brickbat asks to interrupt the program.
pub(super) const INTERRUPT: u8 = b'i';

/// The supervisor's message when its program runs, or when the reaper's folder exists.
pub(super) const STARTED: &str = "started";

/// Its message, followed by the error number, when the program cannot be started.
pub(super) const NO_PROGRAM: &str = "no-program ";

/// Its message, followed by the error, when it cannot supervise.
pub(super) const NO_SUPERVISOR: &str = "no-supervisor ";

/// Its exit code if nothing was started, as in shells.
const NOT_STARTED: u8 = 127;

/// Added to a signal's number in an exit code, as in shells.
pub(super) const SIGNALLED: i32 = 128;

/// Starts the program, and ends it when brickbat closes the socket on standard input.
///
/// Returns the program's exit code, or 128 plus the number of the signal that ended it. `folder` is the run's
/// temporary folder, which stays for as long as the program.
pub fn supervise(folder: Option<&Path>, program: &OsString, args: &[OsString]) -> u8 {
    let mut owner = match owner() {
        Ok(owner) => owner,
        Err(error) => return stray(&error),
    };
    let (stdin, _lock) = match prepare(&owner, folder) {
        Ok(prepared) => prepared,
        Err(error) => return refuse(&mut owner, format_args!("{NO_SUPERVISOR}{error}")),
    };
    let mut command = Command::new(program);
    // The signals that the program sends to its own group must not reach the supervisor.
    let spawned = command.args(args).stdin(stdin).process_group(0).spawn();
    // The command holds the program's standard input.
    drop(command);
    let child = match spawned {
        Ok(child) => child,
        Err(error) => {
            let number = error.raw_os_error().unwrap_or_default();
            return refuse(&mut owner, format_args!("{NO_PROGRAM}{number}"));
        }
    };
    let Some(program) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return NOT_STARTED };
    let living = Arc::new(Mutex::new(Some(program)));
    let watched = Arc::clone(&living);
    // The program may exit at once; its start must have been reported by then.
    let told = say(&mut owner, format_args!("{STARTED}")).and_then(|()| let_go_of_pipes());
    let watching = told.and_then(|()| {
        std::thread::Builder::new().spawn(move || {
            obey(&mut owner, &watched);
            signal(&watched, Signal::KILL);
        })
    });
    // Brickbat is gone, or its end would go unnoticed: the program is killed at once.
    if watching.is_err() {
        signal(&living, Signal::KILL);
    }
    let status = await_program(program, &living);
    end_all();
    status.map_or(NOT_STARTED, exit_code)
}

/// Creates the folder, and removes it when brickbat closes the socket on standard input and no process works
/// in it any more. The folder must not exist yet.
pub fn reap_folder(folder: &Path) -> u8 {
    let mut owner = match owner() {
        Ok(owner) => owner,
        Err(error) => return stray(&error),
    };
    let made = setsid().map_err(io::Error::from).and_then(|_| DirBuilder::new().mode(0o700).create(folder));
    if let Err(error) = made {
        return refuse(&mut owner, format_args!("{NO_SUPERVISOR}{error}"));
    }
    if say(&mut owner, format_args!("{STARTED}")).is_ok() {
        wait_for_end(&mut owner);
    }
    // Without the lock it is removed anyway: nothing may be left.
    let lock = File::open(folder).and_then(|opened| opened.lock().map(|()| opened));
    let removed = remove(folder);
    drop(lock);
    u8::from(removed.is_err())
}

/// The socket to brickbat. Standard input itself is not read, so that nothing is buffered.
fn owner() -> io::Result<UnixStream> {
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    stream.peer_addr().map(|_| stream)
}

fn stray(error: &io::Error) -> u8 {
    // If standard error is closed, there is no place to report to.
    let _ = writeln!(anstream::stderr(), "error: a supervisor is started by brickbat itself ({error})");
    NOT_STARTED
}

fn refuse(owner: &mut UnixStream, line: std::fmt::Arguments) -> u8 {
    // If brickbat is gone, no reason is needed.
    let _ = say(owner, line);
    NOT_STARTED
}

fn say(owner: &mut UnixStream, line: std::fmt::Arguments) -> io::Result<()> {
    owner.write_all(format!("{line}\n").as_bytes())
}

/// Detaches from the terminal, becomes the reaper for orphaned processes, and receives what brickbat
/// passes to it.
fn prepare(owner: &UnixStream, folder: Option<&Path>) -> io::Result<(OwnedFd, Option<File>)> {
    setsid()?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let stdin = receive(owner)?;
    Ok((stdin, folder.map(stay_in).transpose()?))
}

/// The program's standard input, which brickbat sends over the socket.
fn receive(owner: &UnixStream) -> io::Result<OwnedFd> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    #[cfg(target_os = "linux")]
    let flags = RecvFlags::CMSG_CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = RecvFlags::empty();
    recvmsg(owner, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, flags)?;
    let received = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    received.ok_or_else(|| io::Error::other("brickbat handed over no standard input"))
}

/// Keeps the reaper from removing the folder. If brickbat died immediately, the reaper may have been faster.
fn stay_in(folder: &Path) -> io::Result<File> {
    let opened = File::open(folder)?;
    opened.lock_shared()?;
    match opened.metadata()?.nlink() {
        0 => Err(io::Error::new(io::ErrorKind::NotFound, "the run is over")),
        _ => Ok(opened),
    }
}

/// Only the program may hold the pipes: when it closes one, brickbat must notice.
fn let_go_of_pipes() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}

/// Waits until brickbat closes its end. It sends nothing to a reaper, so any byte means the end, too.
fn wait_for_end(owner: &mut UnixStream) {
    while let Err(error) = owner.read(&mut [0]) {
        if error.kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}

/// Interrupts the program's group on each request, until Brickbat closes its end.
fn obey(owner: &mut UnixStream, living: &Mutex<Option<Pid>>) {
    let mut word = [0];
    loop {
        match owner.read(&mut word) {
            Ok(1..) if word == [INTERRUPT] => signal(living, Signal::INT),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}

/// Sends a signal to the program's group, unless the program has been reaped: its id may then belong to
/// another process.
fn signal(living: &Mutex<Option<Pid>>, signal: Signal) {
    let program = living.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = *program {
        // It may have exited by itself, which has the same effect.
        let _ = kill_process_group(program, signal);
    }
}

/// Waits for the program to exit, and reaps the orphans that exit before it.
fn await_program(program: Pid, living: &Mutex<Option<Pid>>) -> Option<WaitStatus> {
    loop {
        // Seen but not yet reaped: its PID stays in use until the lock is held.
        let seen = waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        match seen {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return None,
        }
        let mut living = living.lock().unwrap_or_else(PoisonError::into_inner);
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        if matches!(waitid(WaitId::Pid(program), look), Ok(Some(_))) {
            // The group's id stays in use as long as the program is not reaped.
            let _ = kill_process_group(program, Signal::KILL);
            living.take();
            return waitpid(Some(program), WaitOptions::empty()).ok().flatten().map(|(_, status)| status);
        }
        if let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG)
            && pid == program
        {
            living.take();
            return Some(status);
        }
    }
}

fn exit_code(status: WaitStatus) -> u8 {
    let signalled = status.terminating_signal().map(|signal| SIGNALLED + signal);
    let code = status.exit_status().or(signalled).unwrap_or_default();
    u8::try_from(code).unwrap_or(u8::MAX)
}

/// Kills and reaps until no process is left.
///
/// Only its own children are killed, and only this thread reaps them: the PID of an unreaped child cannot
/// have been reused.
/// The children of dead processes become its children, so each round goes one generation deeper.
fn end_all() {
    loop {
        #[cfg(target_os = "linux")]
        linux::kill_children();
        // All existing children have been killed, so this does not wait for a living one.
        match wait(WaitOptions::empty()) {
            Ok(_) => while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {},
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Removes the folder, even if the system has removed its own write permission.
fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            open_up(folder)?;
            std::fs::remove_dir_all(folder)
        }
    }
}

fn open_up(folder: &Path) -> io::Result<()> {
    std::fs::set_permissions(folder, Permissions::from_mode(0o700))?;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // The target of a link is not ours.
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}

/// The children as the kernel lists them.
#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process, kill_process_group};

    /// Kills each child, together with its group: a group dies as a unit, regardless of how quickly its
    /// members fork.
    ///
    /// A process that shares a group with a child descends from the supervisor, because a group never spans
    /// two sessions.
    pub(super) fn kill_children() {
        let (parent, own) = (getpid(), getpgrp());
        let Ok(entries) = std::fs::read_dir("/proc") else { return };
        let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        for number in numbers {
            let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
            let (Some(child), Some((of, group))) = (Pid::from_raw(number), kin(&stat)) else { continue };
            if of != parent {
                continue;
            }
            // A process that has exited by itself needs no signal.
            if group != own {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = kill_process(child, Signal::KILL);
        }
    }

    /// The parent and the group from `/proc/N/stat`. The name before them may contain any
    /// character.
    fn kin(stat: &str) -> Option<(Pid, Pid)> {
        let (_, after_name) = stat.rsplit_once(')')?;
        let mut fields = after_name.split_whitespace().skip(1).map(|field| field.parse().ok());
        let mut next = || fields.next().flatten().and_then(Pid::from_raw);
        Some((next()?, next()?))
    }

    #[cfg(test)]
    #[test]
    fn a_parenthesis_in_the_name_does_not_hide_the_parent() {
        let pid = |number| Pid::from_raw(number).expect("not zero");
        assert_eq!(kin("12 (a) b) S 7 8 8 0 -1"), Some((pid(7), pid(8))));
        assert_eq!(kin("12 (init) S 0 0 0"), None);
        assert_eq!(kin(""), None);
    }
}
