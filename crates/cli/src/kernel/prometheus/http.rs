// SPDX-License-Identifier: MIT OR Apache-2.0
//! As much of HTTP as Prometheus needs: one answer per connection, to `GET /metrics`. A client can make this process do no more than
//! that: the size and time of a request are limited, and few are served at a time.

use std::{
    io::{ErrorKind, Read, Write},
    net::{TcpListener, TcpStream},
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    thread,
    time::{Duration, Instant},
};

use prometheus_client::encoding::prometheus_text::CONTENT_TYPE;

/// Time limit for a request to arrive, and for its answer to leave.
const PATIENCE: Duration = Duration::from_secs(5);
const HEAD_BYTES: usize = 8192;
const HEADERS: usize = 64;
/// Connections served at a time; others are closed at once.
const MOST_CLIENTS: usize = 16;
/// Pause after an error of accept(2), such as too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves for ever. `metrics` makes the text, or returns an error.
pub fn serve(listener: &TcpListener, metrics: &(impl Fn() -> Result<String, String> + Sync)) {
    let clients = &AtomicUsize::new(0);
    thread::scope(|scope| {
        loop {
            let Ok((client, _)) = listener.accept() else {
                thread::sleep(PAUSE);
                continue;
            };
            if clients.fetch_add(1, SeqCst) >= MOST_CLIENTS {
                clients.fetch_sub(1, SeqCst);
                continue;
            }
            let one = move || {
                // A client that does not read its answer gets none.
                let _ = answer(client, metrics);
                clients.fetch_sub(1, SeqCst);
            };
            if thread::Builder::new().spawn_scoped(scope, one).is_err() {
                clients.fetch_sub(1, SeqCst);
            }
        }
    });
}

fn answer(mut client: TcpStream, metrics: &impl Fn() -> Result<String, String>) -> std::io::Result<()> {
    client.set_write_timeout(Some(PATIENCE))?;
    let reply = match head(&mut client)? {
        Head::Whole(head) => reply(&head, metrics),
        Head::TooLong => Reply::error("431 Request Header Fields Too Large", "the request is too long"),
        Head::None => return Ok(()),
    };
    client.write_all(reply.bytes().as_slice())
}

enum Head {
    Whole(Vec<u8>),
    TooLong,
    /// The request did not arrive, or not in time.
    None,
}

/// Reads up to the empty line.
fn head(client: &mut TcpStream) -> std::io::Result<Head> {
    let deadline = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut block = [0; 1024];
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        if bytes.len() >= HEAD_BYTES {
            return Ok(Head::TooLong);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Head::None);
        }
        client.set_read_timeout(Some(left))?;
        match client.read(&mut block) {
            Ok(0) => return Ok(Head::None),
            Ok(count) => bytes.extend_from_slice(&block[..count]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Ok(Head::None),
        }
    }
    Ok(Head::Whole(bytes))
}

struct Reply {
    status: &'static str,
    content_type: &'static str,
    more: &'static str,
    body: String,
    is_head: bool,
}

impl Reply {
    fn error(status: &'static str, why: &str) -> Self {
        let (content_type, more) = ("text/plain; charset=utf-8", "");
        Self { status, content_type, more, body: format!("{why}\n"), is_head: false }
    }

    fn bytes(&self) -> Vec<u8> {
        let Self { status, content_type, more, body, is_head } = self;
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n{more}\r\n"
        );
        if *is_head { head.into_bytes() } else { (head + body).into_bytes() }
    }
}

fn reply(head: &[u8], metrics: &impl Fn() -> Result<String, String>) -> Reply {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    if !request.parse(head).is_ok_and(|status| status.is_complete()) {
        return Reply::error("400 Bad Request", "this is not an HTTP request");
    }
    let (method, target) = (request.method.unwrap_or_default(), request.path.unwrap_or_default());
    if method != "GET" && method != "HEAD" {
        return Reply { more: "Allow: GET, HEAD\r\n", ..Reply::error("405 Method Not Allowed", "GET it") };
    }
    let mut reply = match target.split('?').next() {
        Some("/metrics") => match metrics() {
            Ok(body) => Reply { status: "200 OK", content_type: CONTENT_TYPE, more: "", body, is_head: false },
            Err(why) => Reply::error("500 Internal Server Error", &why),
        },
        _ => Reply::error("404 Not Found", "there is only /metrics"),
    };
    reply.is_head = method == "HEAD";
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(request: &str) -> String {
        let answer = reply(request.as_bytes(), &|| Ok("x 1\n".into()));
        String::from_utf8(answer.bytes()).unwrap()
    }

    #[test]
    fn only_metrics_can_be_had() {
        let whole = asked("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
        assert!(whole.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{whole}");
        assert!(whole.ends_with("Content-Length: 4\r\nConnection: close\r\n\r\nx 1\n"), "{whole}");
        assert!(asked("GET /metrics?a=b HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200 "));
        let head = asked("HEAD /metrics HTTP/1.1\r\n\r\n");
        assert!(head.ends_with("\r\n\r\n") && head.contains("Content-Length: 4\r\n"), "{head}");
        for (request, status) in [
            ("GET / HTTP/1.1\r\n\r\n", "404"),
            ("GET /metrics/../etc HTTP/1.1\r\n\r\n", "404"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
            ("nonsense\r\n\r\n", "400"),
            ("GET /metrics HTTP/9\r\n\r\n", "400"),
        ] {
            assert!(asked(request).starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {}", asked(request));
        }
        let broken = reply(b"GET /metrics HTTP/1.1\r\n\r\n", &|| Err("no rights".into()));
        assert!(broken.status.starts_with("500") && broken.body == "no rights\n");
    }
}
