//! One connection of ZMTP 3.0 without security (rfc.zeromq.org/spec/23), as far as PULL and PUSH need it.
//!
//! A peer is recognised by its greeting and its READY command; then frames come, each with flags and length. A frame longer than
//! allowed ends the connection before anything of it is stored.

use std::io::{self, BufRead, Read, Write};

/// Frame flags.
const MORE: u8 = 1;
const LONG: u8 = 2;
const COMMAND: u8 = 4;
/// Longest command that is read.
const LONGEST_COMMAND: u64 = 4096;
/// Most parts of a message.
const PARTS: usize = 8;

fn broken(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Our side of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// We receive; the peer pushes.
    Pull,
    /// We send; the peer pulls.
    Push,
}

impl Role {
    fn name(self) -> &'static [u8] {
        match self {
            Role::Pull => b"PULL",
            Role::Push => b"PUSH",
        }
    }

    fn peer(self) -> Role {
        match self {
            Role::Pull => Role::Push,
            Role::Push => Role::Pull,
        }
    }
}

/// Says who we are and hears who the peer is.
pub fn shake_hands(stream: &mut (impl Read + Write), role: Role) -> io::Result<()> {
    let mut greeting = [0u8; 64];
    greeting[0] = 0xff;
    greeting[9] = 0x7f;
    greeting[10] = 3;
    greeting[12..16].copy_from_slice(b"NULL");
    stream.write_all(&greeting)?;
    let mut theirs = [0u8; 64];
    stream.read_exact(&mut theirs)?;
    if theirs[0] != 0xff || theirs[9] & 1 != 1 {
        return Err(broken("no greeting of ZMTP"));
    }
    if theirs[10] < 3 {
        return Err(broken("a version of ZMTP before 3"));
    }
    if theirs[12..17] != *b"NULL\0" {
        return Err(broken("a security mechanism other than NULL"));
    }
    let mut ready = vec![COMMAND, 0];
    ready.extend(b"\x05READY\x0bSocket-Type");
    ready.extend((role.name().len() as u32).to_be_bytes());
    ready.extend(role.name());
    ready[1] = (ready.len() - 2) as u8;
    stream.write_all(&ready)?;
    let (flags, length) = frame_head(stream)?;
    if flags & COMMAND == 0 || length > LONGEST_COMMAND {
        return Err(broken("no READY command"));
    }
    let body = command_body(stream, length)?;
    let properties = body.strip_prefix(b"\x05READY").ok_or_else(|| broken("another command than READY"))?;
    match property(properties, b"Socket-Type") {
        Some(kind) if kind == role.peer().name() => Ok(()),
        _ => Err(broken("a peer of another socket type")),
    }
}

/// The value of a property of the READY command.
fn property<'a>(mut rest: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    loop {
        let (&n, after) = rest.split_first()?;
        let (name, after) = after.split_at_checked(usize::from(n))?;
        let (length, after) = after.split_first_chunk::<4>()?;
        let (value, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        if name.eq_ignore_ascii_case(wanted) {
            return Some(value);
        }
        rest = after;
    }
}

fn frame_head(stream: &mut impl Read) -> io::Result<(u8, u64)> {
    let mut flags = [0u8; 1];
    stream.read_exact(&mut flags)?;
    if flags[0] & LONG == 0 {
        let mut n = [0u8; 1];
        stream.read_exact(&mut n)?;
        return Ok((flags[0], n[0].into()));
    }
    let mut n = [0u8; 8];
    stream.read_exact(&mut n)?;
    Ok((flags[0], u64::from_be_bytes(n)))
}

fn command_body(stream: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut body = vec![0; length.min(LONGEST_COMMAND) as usize];
    stream.read_exact(&mut body)?;
    Ok(body)
}

/// Reads `length` bytes. Memory grows with those that have come: `take` is asked for each piece.
fn frame_body(
    stream: &mut impl BufRead,
    length: u64,
    take: &mut impl FnMut(u64) -> io::Result<()>,
) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    while (body.len() as u64) < length {
        let left = length - body.len() as u64;
        let piece = match stream.fill_buf() {
            Ok([]) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(came) => &came[..left.min(came.len() as u64) as usize],
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        take(piece.len() as u64)?;
        body.extend_from_slice(piece);
        let taken = piece.len();
        stream.consume(taken);
    }
    Ok(body)
}

/// Input from a peer that pushes.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// The parts of a message.
    Message(Vec<Vec<u8>>),
    /// A command, which has been obeyed.
    Command,
    /// A message of more bytes than allowed, or of too many parts: the connection is of no further use.
    TooLarge,
    /// The peer has gone.
    Gone,
}

/// Receives the next message. Pings are answered. `take` gets the bytes of each piece that has come, before it is stored, and 0 where a
/// frame of the message begins; an error of it ends the message.
pub fn receive(
    stream: &mut (impl BufRead + Write),
    most: u64,
    mut take: impl FnMut(u64) -> io::Result<()>,
) -> io::Result<Received> {
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut left = most;
    loop {
        let (flags, length) = match frame_head(stream) {
            Ok(head) => head,
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof && parts.is_empty() => return Ok(Received::Gone),
            Err(e) => return Err(e),
        };
        take(0)?;
        if flags & COMMAND != 0 {
            if length > LONGEST_COMMAND {
                return Ok(Received::TooLarge);
            }
            let body = command_body(stream, length)?;
            // PING has a time to live of two bytes and a context of up to 16, which PONG gives back.
            if let Some(context) = body.strip_prefix(b"\x04PING").and_then(|b| b.get(2..)).filter(|c| c.len() <= 16) {
                let mut pong = vec![COMMAND, (5 + context.len()) as u8];
                pong.extend(b"\x04PONG");
                pong.extend(context);
                stream.write_all(&pong)?;
            }
            if parts.is_empty() {
                return Ok(Received::Command);
            }
            continue;
        }
        if length > left || parts.len() >= PARTS {
            return Ok(Received::TooLarge);
        }
        left -= length;
        parts.push(frame_body(stream, length, &mut take)?);
        if flags & MORE == 0 {
            return Ok(Received::Message(parts));
        }
    }
}

/// Sends a message of one part.
pub fn send(stream: &mut impl Write, body: &[u8]) -> io::Result<()> {
    let mut frame = Vec::with_capacity(body.len() + 9);
    match u8::try_from(body.len()) {
        Ok(n) => frame.extend([0, n]),
        Err(_) => {
            frame.push(LONG);
            frame.extend((body.len() as u64).to_be_bytes());
        }
    }
    frame.extend(body);
    stream.write_all(&frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// Reads from one buffer, writes to another.
    struct Pair(Cursor<Vec<u8>>, Vec<u8>);

    impl Read for Pair {
        fn read(&mut self, b: &mut [u8]) -> io::Result<usize> {
            self.0.read(b)
        }
    }

    impl BufRead for Pair {
        fn fill_buf(&mut self) -> io::Result<&[u8]> {
            self.0.fill_buf()
        }

        fn consume(&mut self, n: usize) {
            self.0.consume(n);
        }
    }

    impl Write for Pair {
        fn write(&mut self, b: &[u8]) -> io::Result<usize> {
            self.1.write(b)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn pair(bytes: &[&[u8]]) -> Pair {
        Pair(Cursor::new(bytes.concat()), Vec::new())
    }

    fn take(stream: &mut Pair, most: u64) -> io::Result<Received> {
        loop {
            match receive(stream, most, |_| Ok(()))? {
                Received::Command => {}
                other => return Ok(other),
            }
        }
    }

    #[test]
    fn each_role_accepts_what_the_other_says() {
        let mut silent = pair(&[]);
        assert!(shake_hands(&mut silent, Role::Push).is_err());
        // greeting of a PUSH socket of libzmq 4.3: version 3.1, its type and an empty identity
        let mut theirs = vec![0xff, 0, 0, 0, 0, 0, 0, 0, 1, 0x7f, 3, 1];
        theirs.extend(b"NULL");
        theirs.resize(64, 0);
        theirs.extend(b"\x04\x29\x05READY\x0bSocket-Type\0\0\0\x04PUSH\x08Identity\0\0\0\0");
        let length = theirs.len() - 66;
        theirs[65] = length as u8;
        let mut ours = pair(&[&theirs]);
        shake_hands(&mut ours, Role::Pull).unwrap();
        // our messages are understood by the other role
        let said = std::mem::take(&mut ours.1);
        shake_hands(&mut pair(&[&said]), Role::Push).unwrap();
        assert!(shake_hands(&mut pair(&[&said]), Role::Pull).is_err());
        for cut in 0..theirs.len() {
            assert!(shake_hands(&mut pair(&[&theirs[..cut]]), Role::Pull).is_err(), "{cut}");
        }
    }

    #[test]
    fn frames_parts_pings_and_limits() {
        let mut long = vec![0u8; 300];
        long[299] = 7;
        let mut sent = Vec::new();
        send(&mut sent, b"short").unwrap();
        send(&mut sent, &long).unwrap();
        let mut p = pair(&[&sent, b"\x04\x0a\x04PING\0\x0aabc", b"\x01\x02j1\x00\x01x"]);
        assert_eq!(take(&mut p, 1000).unwrap(), Received::Message(vec![b"short".to_vec()]));
        assert_eq!(take(&mut p, 1000).unwrap(), Received::Message(vec![long.clone()]));
        assert_eq!(take(&mut p, 1000).unwrap(), Received::Message(vec![b"j1".to_vec(), b"x".to_vec()]));
        assert_eq!(take(&mut p, 1000).unwrap(), Received::Gone);
        assert_eq!(p.1, b"\x04\x08\x04PONGabc");
        assert_eq!(take(&mut pair(&[b"\x02\xff\xff\xff\xff\xff\xff\xff\xff"]), 1000).unwrap(), Received::TooLarge);
        assert_eq!(take(&mut pair(&[&sent]), 4).unwrap(), Received::TooLarge);
        assert_eq!(take(&mut pair(&[&b"\x01\x00".repeat(9)]), 1000).unwrap(), Received::TooLarge);
        assert!(take(&mut pair(&[b"\x00\x05abc"]), 1000).is_err());
    }
}
