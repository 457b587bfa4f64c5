//! SHA-256 (FIPS 180-4), for expectations that are stored as digests.

/// Digest of `data` in lower-case hexadecimal digits.
pub fn hex(data: &[u8]) -> String {
    let primes: Vec<u64> =
        (2u64..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).take(64).collect();
    // The constants are the first 32 bits of the fractions of cube and square roots of the first primes.
    let root_bits = |p: u64, power: u32| {
        let scaled = u128::from(p) << (32 * power);
        let (mut low, mut high) = (0u128, 1u128 << 40);
        while low + 1 < high {
            let mid = (low + high) / 2;
            if mid.pow(power) <= scaled { low = mid } else { high = mid }
        }
        low as u32
    };
    let k: Vec<u32> = primes.iter().map(|&p| root_bits(p, 3)).collect();
    let mut h: Vec<u32> = primes[..8].iter().map(|&p| root_bits(p, 2)).collect();
    let mut message = data.to_vec();
    message.push(0x80);
    message.resize((message.len() + 8).next_multiple_of(64) - 8, 0);
    message.extend((data.len() as u64 * 8).to_be_bytes());
    for block in message.chunks_exact(64) {
        let mut w: Vec<u32> = block.chunks_exact(4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]])).collect();
        for i in 16..64 {
            let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
            let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
            w.push(w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1));
        }
        let mut v: Vec<u32> = h.clone();
        for i in 0..64 {
            let s1 = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let t1 = v[7].wrapping_add(s1).wrapping_add(choice).wrapping_add(k[i]).wrapping_add(w[i]);
            let s0 = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.rotate_right(1);
            v[4] = v[4].wrapping_add(t1);
            v[0] = t1.wrapping_add(s0.wrapping_add(majority));
        }
        h.iter_mut().zip(v).for_each(|(a, b)| *a = a.wrapping_add(b));
    }
    h.iter().map(|x| format!("{x:08x}")).collect()
}

#[test]
fn published_digests() {
    assert_eq!(hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
