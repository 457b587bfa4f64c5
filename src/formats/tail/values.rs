//! JSON values one after the other, and which of them make a message.
//!
//! TMIO writes seven values a flush, each with one section, the run times last; an object with arrays of rates and times is a
//! message by itself.

use memchr::memmem;

use super::super::json::member_names;
use super::super::sections::Section;
use super::lines::Lines;
use super::message::Faults;

/// State of the scan over the bytes that wait.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// Bytes looked at.
    at: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Where the value that is being looked at began.
    begin: usize,
    /// Text between values is left out, to the end of its line.
    in_text: bool,
}

impl Values {
    /// The length of the next message, if it is whole.
    pub(super) fn whole(&mut self, lines: &mut Lines, faults: &mut Faults) -> Option<usize> {
        loop {
            if self.in_text && !self.skip_text(lines) {
                return None;
            }
            let data = lines.data();
            let Some(&byte) = data.get(self.at) else {
                if lines.give_up_if_full(faults) {
                    *self = Values::default();
                }
                return None;
            };
            self.at += 1;
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' if self.depth > 0 => self.in_string = true,
                b'{' | b'[' => {
                    if self.depth == 0 {
                        self.begin = self.at - 1;
                    }
                    self.depth += 1;
                }
                b'}' | b']' if self.depth > 0 => {
                    self.depth -= 1;
                    if self.depth == 0 && ends_message(&data[self.begin..self.at]) {
                        let n = self.at;
                        *self = Values::default();
                        return Some(n);
                    }
                }
                _ if self.depth == 0 && !byte.is_ascii_whitespace() && byte != 0 => {
                    let from = lines.position();
                    faults.add(|| format!("near byte {from}: text between the JSON values"));
                    // this byte may end the line
                    lines.consume(self.at - 1);
                    *self = Values { in_text: true, ..Values::default() };
                }
                _ => {}
            }
        }
    }

    /// Leaves out the rest of a line; false if its end has not come.
    fn skip_text(&mut self, lines: &mut Lines) -> bool {
        let end = memchr::memchr(b'\n', lines.data());
        lines.consume(end.map_or(lines.waiting(), |n| n + 1));
        self.in_text = end.is_none();
        end.is_some()
    }
}

/// True if a message ends with this value: if it is not a section of TMIO that others follow.
fn ends_message(value: &[u8]) -> bool {
    let first = member_names(value, 1).first().and_then(|(_, name)| Section::named(name));
    match first {
        None | Some(Section::Times) => true,
        Some(_) => memmem::find(value, b"\"io_time\"").is_some(),
    }
}
