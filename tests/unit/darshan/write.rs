//! Writes small logs of format 3.41, for cases that no stored log has.

use std::io::Write;

use flate2::{Compression, write::ZlibEncoder};

/// A log in the making.
#[derive(Clone, Default)]
pub struct Writer {
    pub job_id: i64,
    pub processes: i64,
    /// Start in seconds and nanoseconds, run time in seconds.
    pub start: (i64, i64),
    pub run_time: i64,
    names: Vec<u8>,
    /// Module number, version, compressed region.
    modules: Vec<(usize, u32, Vec<u8>)>,
    pub partial: u64,
    /// The job record has whole seconds, as that of 3.40.
    pub whole_seconds: bool,
}

/// A segment: offset, length, start, end.
pub type Segment = (i64, i64, f64, f64);

pub fn zlib(plain: &[u8]) -> Vec<u8> {
    deflate(plain, Compression::best())
}

pub fn deflate(plain: &[u8], level: Compression) -> Vec<u8> {
    let mut z = ZlibEncoder::new(Vec::new(), level);
    z.write_all(plain).unwrap();
    z.finish().unwrap()
}

fn le(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

impl Writer {
    pub fn new(job_id: i64, processes: i64) -> Writer {
        Writer { job_id, processes, start: (1_700_000_000, 0), run_time: 100, ..Writer::default() }
    }

    pub fn name(mut self, id: u64, name: &str) -> Writer {
        self.names.extend(id.to_le_bytes());
        self.names.extend(name.as_bytes());
        self.names.push(0);
        self
    }

    /// Adds a module whose region has one stream for each of `streams`, which are plain.
    pub fn module(self, number: usize, version: u32, streams: Vec<Vec<u8>>) -> Writer {
        self.region(number, version, streams.iter().flat_map(|s| zlib(s)).collect())
    }

    /// Adds a module with this region.
    pub fn region(mut self, number: usize, version: u32, region: Vec<u8>) -> Writer {
        self.modules.push((number, version, region));
        self
    }

    pub fn dxt_record(id: u64, rank: i64, writes: &[Segment], reads: &[Segment]) -> Vec<u8> {
        let mut r = id.to_le_bytes().to_vec();
        r.extend(le(&[rank, 0]));
        r.extend([b'n'; 64]);
        r.extend(le(&[writes.len() as i64, reads.len() as i64]));
        for &(offset, length, start, end) in writes.iter().chain(reads) {
            r.extend(le(&[offset, length]));
            r.extend(start.to_le_bytes());
            r.extend(end.to_le_bytes());
        }
        r
    }

    pub fn heatmap_record(id: u64, rank: i64, bin_s: f64, written: &[i64], read: &[i64]) -> Vec<u8> {
        let mut r = id.to_le_bytes().to_vec();
        r.extend(rank.to_le_bytes());
        r.extend(bin_s.to_le_bytes());
        r.extend(le(&[written.len() as i64]));
        r.extend([0xaa; 16]);
        r.extend(le(written));
        r.extend(le(read));
        r
    }

    /// A record of the newest version of POSIX (`ints` 69, `floats` 17), MPI-IO (51, 17) or STDIO (14, 15), with the given
    /// counters.
    pub fn counters(
        id: u64,
        rank: i64,
        sizes: (usize, usize),
        ints: &[(usize, i64)],
        floats: &[(usize, f64)],
    ) -> Vec<u8> {
        let mut i = vec![0i64; sizes.0];
        let mut f = vec![0f64; sizes.1];
        ints.iter().for_each(|&(k, v)| i[k] = v);
        floats.iter().for_each(|&(k, v)| f[k] = v);
        let mut r = id.to_le_bytes().to_vec();
        r.extend(rank.to_le_bytes());
        r.extend(le(&i));
        r.extend(f.iter().flat_map(|v| v.to_le_bytes()));
        r
    }

    pub fn finish(self) -> Vec<u8> {
        let (start, end) = (self.start.0, self.start.0 + self.run_time);
        let mut job = match self.whole_seconds {
            true => le(&[1000, start, end, self.processes, self.job_id]),
            false => le(&[1000, start, self.start.1, end, self.start.1, self.processes, self.job_id]),
        };
        job.extend(b"lib_ver=3.5.0\nx\n");
        job.resize(job.len() - 16 + 1024, 0);
        job.extend(b"/bin/app --flag\next4\t/\0");
        let mut out = vec![0u8; 1328];
        out[..4].copy_from_slice(b"3.41");
        out[8..16].copy_from_slice(&6_567_223u64.to_le_bytes());
        out[24..32].copy_from_slice(&self.partial.to_le_bytes());
        out.extend(zlib(&job));
        let put = |out: &mut Vec<u8>, at: usize, region: &[u8]| {
            let offset = out.len() as u64;
            out[at..at + 8].copy_from_slice(&offset.to_le_bytes());
            out[at + 8..at + 16].copy_from_slice(&(region.len() as u64).to_le_bytes());
            out.extend(region);
        };
        put(&mut out, 32, &zlib(&self.names));
        for (number, version, region) in self.modules {
            put(&mut out, 48 + 16 * number, &region);
            out[1072 + 4 * number..1076 + 4 * number].copy_from_slice(&version.to_le_bytes());
        }
        out
    }
}
