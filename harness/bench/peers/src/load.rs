//! Load: how fast many requests are answered, and how much memory they leave in use.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::client::{Connection, End, events, post};
use crate::contestant::Contestant;
use crate::fixtures;
use crate::result::{Memory, Speed};

/// Number of connections that send requests at the same time.
const N_CONNECTIONS: usize = 16;

/// The servers take turns, so that a busy machine slows all of them equally.
const N_ROUNDS: usize = 7;

/// Long enough for a thousand requests to the slowest server.
const ROUND: Duration = Duration::from_secs(2);

/// Warm-up before measuring, because interpreters compile code that runs often.
const N_WARM_UP: usize = 2_000;

struct Load {
    at: SocketAddr,
    connections: Vec<Connection>,
    request: Vec<u8>,
}

impl Load {
    fn on(contestant: &Contestant) -> Load {
        let open = |_| Connection::open(contestant.at).unwrap();
        let prompt = "What is the weather? ".repeat(100);
        let path = contestant.who.path("anthropic-messages", "");
        let request = post(&path, &fixtures::request(&prompt));
        Load { at: contestant.at, connections: (0..N_CONNECTIONS).map(open).collect(), request }
    }

    /// Sends one request on each connection, and returns the last reply.
    fn ask(&mut self) -> Vec<u8> {
        for connection in &mut self.connections {
            connection.send(&self.request);
        }
        let mut last = Vec::new();
        for connection in &mut self.connections {
            // A server closes a connection that has been idle for some seconds.
            let reply = connection.receive().unwrap_or_else(|| {
                *connection = Connection::open(self.at).unwrap();
                connection.send(&self.request);
                connection.receive().unwrap()
            });
            assert!(reply.status == 200 && reply.end == End::Whole, "status {}", reply.status);
            last = reply.body;
        }
        last
    }
}

/// Returns the speed of each server over all rounds. The first is ours.
pub fn speeds(contestants: &[Contestant]) -> Vec<Speed> {
    let mut loads: Vec<Load> = contestants.iter().map(Load::on).collect();
    let replies: Vec<Vec<u8>> = loads
        .iter_mut()
        .map(|load| {
            let mut reply = Vec::new();
            (0..N_WARM_UP / N_CONNECTIONS).for_each(|_| reply = load.ask());
            reply
        })
        .collect();
    let n = loads.len();
    let (mut rates, mut micros, mut asked) = (vec![Vec::new(); n], vec![0; n], vec![0_u64; n]);
    for _ in 0..N_ROUNDS {
        for (at, load) in loads.iter_mut().enumerate() {
            let (before, started) = (contestants[at].cpu_micros(), Instant::now());
            let mut n_asked = 0_u64;
            while started.elapsed() < ROUND {
                load.ask();
                n_asked += N_CONNECTIONS as u64;
            }
            rates[at].push(n_asked as f64 / started.elapsed().as_secs_f64());
            micros[at] += contestants[at].cpu_micros() - before;
            asked[at] += n_asked;
        }
    }
    let ours = rates[0].clone();
    let speed = |at: usize| Speed {
        requests_per_second: median(rates[at].clone()).round() as u32,
        cpu_micros: u32::try_from(micros[at] / asked[at]).unwrap(),
        of_ours: (median(rates[at].iter().zip(&ours).map(|(own, ours)| own / ours).collect()) * 1000.0)
            .round()
            / 1000.0,
        reply_bytes: replies[at].len(),
        reply_events: events(&replies[at]).0.len(),
    };
    (0..n).map(speed).collect()
}

/// Returns resident memory before and after `n_requests`. All servers run at once, because time is not
/// measured here.
pub fn memory(contestants: Vec<Contestant>, n_requests: usize) -> Vec<Memory> {
    let watch = |contestant: Contestant| {
        std::thread::spawn(move || {
            let mut load = Load::on(&contestant);
            (0..N_WARM_UP / N_CONNECTIONS).for_each(|_| drop(load.ask()));
            let before_kib = contestant.resident_kib();
            let n_requests = contestant.who.n_watched(n_requests);
            (0..n_requests.div_ceil(N_CONNECTIONS)).for_each(|_| drop(load.ask()));
            Memory { n_requests, before_kib, after_kib: contestant.resident_kib() }
        })
    };
    let watched: Vec<_> = contestants.into_iter().map(watch).collect();
    watched.into_iter().map(|thread| thread.join().unwrap()).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
