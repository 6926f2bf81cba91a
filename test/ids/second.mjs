// A second implementation of layouts, genes' places and ciphers, with BigInt and
// after docs/internals/ids.md alone. It reads {"keys": [...], "vectors": [...]} and prints
// the vectors, with what it makes of them.
import { createCipheriv } from 'node:crypto'
import { readFileSync } from 'node:fs'

// Bits from the top: zeros, gene, key version, sequence.
const layouts = {
  int64: [1n, 16n, 5n, 42n],
  'int64-15': [1n, 15n, 6n, 42n],
  'int64-14': [1n, 14n, 7n, 42n],
  plain64: [0n, 16n, 0n, 48n],
  js53: [11n, 16n, 0n, 37n],
  bytes16: [1n, 23n, 20n, 84n],
}

const mask = (bits) => (1n << bits) - 1n

function compose(name, gene, version, sequence) {
  const [, , versionBits, sequenceBits] = layouts[name]
  return (((gene << versionBits) | version) << sequenceBits) | sequence
}

const size = (name) => (name === 'bytes16' ? 16 : 8)

const bytes = (n, length) => Buffer.from(n.toString(16).padStart(length * 2, '0'), 'hex')
const toNumber = (buffer) => (buffer.length ? BigInt('0x' + buffer.toString('hex')) : 0n)

function aes(key, block) {
  const cipher = createCipheriv(`aes-${key.length * 8}-ecb`, key, null)
  cipher.setAutoPadding(false)
  return Buffer.concat([cipher.update(block), cipher.final()])
}

// FF1 of NIST SP 800-38G over the n bits of x, radix 2, step by step.
function ff1(key, n, x, tweak) {
  const u = n / 2n
  const v = n - u
  let a = x >> v
  let b = x & mask(v)
  const beta = Math.ceil(Number(v) / 8)
  const d = 4 * Math.ceil(beta / 4) + 4
  const p = Buffer.concat([
    Buffer.from([1, 2, 1, 0, 0, 2, 10, Number(u % 256n)]),
    bytes(n, 4),
    bytes(BigInt(tweak.length), 4),
  ])
  for (let i = 0; i < 10; i++) {
    const pad = (((-tweak.length - beta - 1) % 16) + 16) % 16
    const q = Buffer.concat([tweak, Buffer.alloc(pad), Buffer.from([i]), bytes(b, beta)])
    let r = Buffer.alloc(16)
    for (let at = 0, all = Buffer.concat([p, q]); at < all.length; at += 16) {
      r = aes(key, Buffer.from(r.map((byte, k) => byte ^ all[at + k])))
    }
    if (d > 16) throw new Error('one block is enough for 84 bits')
    const y = toNumber(r.subarray(0, d))
    const m = i % 2 === 0 ? u : v
    const c = (a + y) & mask(m)
    a = b
    b = c
  }
  return (a << v) | b
}

function chacha20(key, above) {
  const k = Array.from({ length: 8 }, (_, i) => key.readUInt32LE(4 * i))
  const nonce = [0, 4, 8].map((at) => above.readUInt32LE(at))
  const start = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, ...k, above.readUInt32BE(12), ...nonce]
  const x = Uint32Array.from(start)
  const turn = (n, by) => (n << by) | (n >>> (32 - by))
  const quarter = (a, b, c, d) => {
    x[a] += x[b]; x[d] = turn(x[d] ^ x[a], 16)
    x[c] += x[d]; x[b] = turn(x[b] ^ x[c], 12)
    x[a] += x[b]; x[d] = turn(x[d] ^ x[a], 8)
    x[c] += x[d]; x[b] = turn(x[b] ^ x[c], 7)
  }
  for (let i = 0; i < 10; i++) {
    for (const q of [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]]) quarter(...q)
  }
  const out = Buffer.alloc(8)
  out.writeUInt32LE((x[0] + start[0]) >>> 0, 0)
  out.writeUInt32LE((x[1] + start[1]) >>> 0, 4)
  return out
}

function hide(name, id, { cipher = 'ff1', bits = 15, key }) {
  const secret = Buffer.from(key, 'hex')
  const sequenceBits = layouts[name][3]
  if (cipher === 'ff1') {
    const clear = id & ~mask(sequenceBits)
    const tweak = bytes(clear, size(name)).subarray(0, 8)
    return clear | ff1(secret, sequenceBits, id & mask(sequenceBits), tweak)
  }
  const n = BigInt(bits)
  const above = bytes(id & ~mask(n), 16)
  const stream = cipher === 'chacha20' ? chacha20(secret, above) : aes(secret, above).subarray(0, 8)
  return id ^ (toNumber(stream) >> (64n - n))
}

const input = JSON.parse(readFileSync(0, 'utf8'))
const keys = new Map(input.keys.map((k) => [k.version, k]))
for (const v of input.vectors) {
  const id = compose(v.layout, BigInt(v.gene), BigInt(v.version), BigInt(v.sequence))
  v.id = bytes(id, size(v.layout)).toString('hex')
  const key = keys.get(v.version)
  v.number = key ? bytes(hide(v.layout, id, key), size(v.layout)).toString('hex') : v.id
}
process.stdout.write(JSON.stringify(input.vectors))
