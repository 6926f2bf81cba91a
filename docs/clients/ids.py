"""IDs of a generator, kept ready in memory. Python 3.8 or later; for SQL any driver of DB-API 2.0.

    ids = Ids(http("http://locus:8080/api/id/ticket", user="app", password="..."))
    ids.next()   # '1'

An Ids belongs to one process and may be used by all of its threads. IDs in memory are lost when the process ends.
"""
import base64
import collections
import threading
import time
import urllib.error
import urllib.request


class Ids:
    def __init__(self, fetch, batch=1000, preload=0.5, timeout=10):
        """fetch(n) returns up to n IDs. The next batch is fetched in the background when a share (preload) of one is used."""
        self._fetch, self._batch, self._low, self._timeout = fetch, batch, batch * (1 - preload), timeout
        self._changed = threading.Condition()
        self._ready = collections.deque()
        self._loading, self._done, self._failed, self._error = False, 0, 0, None  # failed: in a row

    def next(self):
        """Returns an ID. It waits only if none is ready, and raises an error if two fetches in a row fail while it waits."""
        with self._changed:
            second, until = self._done + 2, time.monotonic() + self._timeout
            while not self._ready:
                if self._done >= second and self._failed >= 2:
                    raise self._error
                if not self._loading:
                    self._load()
                if not self._changed.wait(until - time.monotonic()):
                    raise TimeoutError("no ID came within %s seconds" % self._timeout)
            taken = self._ready.popleft()
            if len(self._ready) < self._low and not self._loading:
                self._load()
            return taken

    def _load(self):
        self._loading = True
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        ids, error = [], None
        try:
            ids = self._fetch(self._batch)
        except Exception as e:  # for the callers that wait; a later one tries again
            error = e
        with self._changed:
            self._ready.extend(ids)
            self._loading, self._done, self._error = False, self._done + 1, error
            self._failed = self._failed + 1 if error else 0
            self._changed.notify_all()


def http(url, user=None, password=None, timeout=5):
    """Returns a fetch over HTTP. A request that failed may have used numbers up; they are lost, and no ID comes twice."""
    def fetch(n):
        request = urllib.request.Request(url + ("&" if "?" in url else "?") + "n=%d" % n)
        if user is not None:
            login = base64.b64encode(("%s:%s" % (user, password)).encode()).decode()
            request.add_header("Authorization", "Basic " + login)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return answer.read().decode().split("\n")
        except urllib.error.HTTPError as e:
            raise RuntimeError("%s: %d %s" % (url, e.code, e.read().decode().strip())) from e
    return fetch


def sql(connect, generator):
    """Returns a fetch over SQL. connect() returns a connection of the driver; a new one is opened for each batch."""
    def fetch(n):
        connection = connect()
        try:
            cursor, ids = connection.cursor(), []
            while len(ids) < n:
                cursor.execute("SELECT " + ", ".join(["NEXTVAL(%s)" % generator] * min(100, n - len(ids))))
                ids.extend(str(v) for v in cursor.fetchone())
            return ids
        finally:
            connection.close()
    return fetch


if __name__ == "__main__":  # ids.py URL COUNT: prints IDs that four threads take
    import sys
    shared, out = Ids(http(sys.argv[1])), []

    def take(count):
        out.extend([shared.next() for _ in range(count)])

    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(take, int(sys.argv[2]) // 4) for _ in range(4)]:
            done.result()
    print("\n".join(out))
