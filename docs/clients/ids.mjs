// IDs of a generator, kept ready in memory. Node.js 18 or later; for SQL the package mysql2.
//
//   const ids = new Ids(http('http://locus:8080/api/id/ticket', { user: 'app', password: '…' }))
//   await ids.next()   // '1'
//
// An Ids belongs to one process. IDs in memory are lost when the process ends.
export class Ids {
  #fetch; #batch; #low; #ready = []; #loading = null

  // fetch(n) resolves to up to n IDs. The next batch is fetched when a share (preload) of one is used.
  constructor(fetch, { batch = 1000, preload = 0.5 } = {}) {
    this.#fetch = fetch
    this.#batch = batch
    this.#low = batch * (1 - preload)
  }

  // next resolves to an ID. It waits only if none is ready, and rejects if two fetches fail while it waits.
  async next() {
    let failures = 0
    while (this.#ready.length === 0) {
      try {
        await this.#load()
      } catch (error) {
        if (++failures === 2) throw error
      }
    }
    const id = this.#ready.pop()
    if (this.#ready.length < this.#low) this.#load().catch(() => {}) // a caller that has to wait tries again
    return id
  }

  #load() {
    this.#loading ??= this.#fetch(this.#batch)
      .then((ids) => { this.#ready = ids.reverse().concat(this.#ready) })
      .finally(() => { this.#loading = null })
    return this.#loading
  }
}

// http returns a fetch over HTTP. A request that failed may have used numbers up; they are lost, and no ID comes twice.
export function http(url, { user, password, timeout = 5000 } = {}) {
  const headers = user === undefined ? {} : { Authorization: 'Basic ' + Buffer.from(`${user}:${password}`).toString('base64') }
  return async (n) => {
    const answer = await fetch(`${url}${url.includes('?') ? '&' : '?'}n=${n}`, { headers, signal: AbortSignal.timeout(timeout) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text.trim()}`)
    return text.split('\n')
  }
}

// sql returns a fetch over SQL. pool is of mysql2/promise, with supportBigNumbers and bigNumberStrings: numbers may exceed 2^53.
export function sql(pool, generator) {
  return async (n) => {
    const ids = []
    while (ids.length < n) {
      const list = Array(Math.min(100, n - ids.length)).fill(`NEXTVAL(${generator})`).join(', ')
      const [rows] = await pool.query({ sql: 'SELECT ' + list, rowsAsArray: true })
      ids.push(...rows[0].map(String))
    }
    return ids
  }
}

// node ids.mjs URL COUNT: prints IDs that four callers take at the same time.
if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [url, count] = process.argv.slice(2)
  const ids = new Ids(http(url))
  const take = async () => { for (let i = 0; i < count / 4; i++) console.log(await ids.next()) }
  await Promise.all([take(), take(), take(), take()])
}
