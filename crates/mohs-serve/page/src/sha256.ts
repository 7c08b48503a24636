// SHA-256, synchronous and without SubtleCrypto, which browsers keep from pages that came over plain
// HTTP. FIPS 180-4; the names are the standard's.

const K = new Uint32Array(64);
const INITIAL = new Uint32Array(8);

// The constants are the fractional parts of the cube and square roots of the first primes.
for (let candidate = 2, found = 0; found < 64; candidate++) {
  let isPrime = true;
  for (let d = 2; d * d <= candidate; d++) isPrime &&= candidate % d !== 0;
  if (!isPrime) continue;
  if (found < 8) INITIAL[found] = fraction(candidate, 2);
  K[found++] = fraction(candidate, 3);
}

/** The first 32 bits behind the point of a root, exact: by integers, as `**` may be off by one. */
function fraction(n: number, root: 2 | 3): number {
  const shift = 32n * BigInt(root);
  const target = BigInt(n) << shift;
  let low = 0n;
  let high = 1n << 40n;
  while (1n < high - low) {
    const mid = (low + high) >> 1n;
    if ((root === 2 ? mid * mid : mid * mid * mid) <= target) low = mid;
    else high = mid;
  }
  return Number(low & 0xffffffffn);
}

const W = new Uint32Array(64);

/** Returns the hexadecimal SHA-256 of bytes, or of a text as UTF-8. */
export function sha256(data: string | Uint8Array): string {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  const nBlocks = Math.ceil((bytes.length + 9) / 64);
  const tail = new Uint8Array(128);
  const whole = bytes.length >> 6;
  tail.set(bytes.subarray(whole << 6));
  tail[bytes.length & 63] = 0x80;
  const bits = bytes.length * 8;
  const end = (nBlocks - whole) * 64;
  const view = new DataView(tail.buffer);
  view.setUint32(end - 8, Math.floor(bits / 2 ** 32));
  view.setUint32(end - 4, bits >>> 0);

  const H = INITIAL.slice();
  const body = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let block = 0; block < nBlocks; block++) {
    if (block < whole) compress(H, body, block * 64);
    else compress(H, view, (block - whole) * 64);
  }
  return Array.from(H, (word) => word.toString(16).padStart(8, "0")).join("");
}

function compress(H: Uint32Array, data: DataView, offset: number): void {
  for (let t = 0; t < 16; t++) W[t] = data.getUint32(offset + t * 4);
  for (let t = 16; t < 64; t++) {
    const x = W[t - 15]!;
    const y = W[t - 2]!;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    W[t] = (W[t - 16]! + s0 + W[t - 7]! + s1) | 0;
  }
  let a = H[0]!, b = H[1]!, c = H[2]!, d = H[3]!, e = H[4]!, f = H[5]!, g = H[6]!, h = H[7]!;
  for (let t = 0; t < 64; t++) {
    const S1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const T1 = (h + S1 + ((e & f) ^ (~e & g)) + K[t]! + W[t]!) | 0;
    const S0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const T2 = (S0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g; g = f; f = e; e = (d + T1) | 0; d = c; c = b; b = a; a = (T1 + T2) | 0;
  }
  H[0]! += a; H[1]! += b; H[2]! += c; H[3]! += d; H[4]! += e; H[5]! += f; H[6]! += g; H[7]! += h;
}
