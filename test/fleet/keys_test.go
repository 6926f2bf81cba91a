package fleet

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"locus/test/product"
)

// keyFile returns the key ring file of a machine. The first machine's file is the operator's.
func keyFile(i int) string {
	if i == 1 {
		return "keys.yaml"
	}
	return fmt.Sprintf("keys-%d.yaml", i)
}

// bringKeys brings the operator's ring to a machine, as `scp` and `mv` do.
func (f *fleet) bringKeys(i int) {
	f.t.Helper()
	f.write(f.t, keyFile(i)+".new", f.read(f.t, "keys.yaml"))
	if err := os.Rename(f.path(keyFile(i)+".new"), f.path(keyFile(i))); err != nil {
		f.t.Fatal(err)
	}
	f.remember(f.t) // the new key is a secret, too
}

// witness continuously inserts orders at each proxy in turn, and lets all other proxies use their numbers: an
// INSERT with both the ID and the number decodes the number.
type witness struct {
	t       *testing.T
	pools   map[int]*sql.DB
	away    map[int]*sync.RWMutex // held while a proxy is down
	running sync.WaitGroup
	stop    context.CancelFunc

	mu       sync.Mutex // guards the fields below
	made     map[uint32]int
	failures []error
}

func (f *fleet) witness() *witness {
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.t.Context()))
	w := &witness{t: f.t, pools: map[int]*sql.DB{}, away: map[int]*sync.RWMutex{}, stop: cancel, made: map[uint32]int{}}
	for _, i := range machines {
		w.pools[i], w.away[i] = sql.OpenDB(f.connector(i)), new(sync.RWMutex)
	}
	f.t.Cleanup(w.end)
	w.running.Go(func() {
		for turn := 0; ctx.Err() == nil; turn++ {
			if err := w.look(machines[turn%len(machines)]); err != nil {
				w.mu.Lock()
				w.failures = append(w.failures, err)
				w.mu.Unlock()
			}
		}
	})
	return w
}

func (w *witness) end() {
	w.stop()
	w.running.Wait()
	for _, db := range w.pools {
		_ = db.Close()
	}
}

// look inserts an order at one proxy, and reads its number at each.
func (w *witness) look(at int) error {
	var id, number int64
	made, err := w.undone(at, func(tx *sql.Tx) error {
		result, err := tx.Exec("INSERT INTO test_order (buyer_uid, amount) VALUES (42, 1)")
		if err != nil {
			return err
		}
		if id, err = result.LastInsertId(); err != nil {
			return err
		}
		return tx.QueryRow("SELECT order_no FROM test_order WHERE order_id = ?", id).Scan(&number)
	})
	if err != nil || !made {
		return err
	}
	version := uint32(id >> 42 & 31)
	w.mu.Lock()
	w.made[version]++
	w.mu.Unlock()
	for _, i := range machines {
		_, err := w.undone(i, func(tx *sql.Tx) error {
			_, err := tx.Exec("INSERT INTO test_order (order_id, order_no, buyer_uid) VALUES (?, ?, 42)", id, number)
			return err
		})
		if err != nil {
			return fmt.Errorf("number %d of key version %d, made by proxy %d, at proxy %d: %w", number, version, at, i, err)
		}
	}
	return nil
}

// undone runs do in a transaction that is rolled back, unless the proxy is down.
func (w *witness) undone(i int, do func(*sql.Tx) error) (done bool, err error) {
	if !w.away[i].TryRLock() {
		return false, nil
	}
	defer w.away[i].RUnlock()
	tx, err := w.pools[i].Begin()
	if err != nil {
		return false, err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback()
		return false, err
	}
	return true, tx.Rollback()
}

// without calls meanwhile, and doesn't use the proxy during the call.
func (w *witness) without(i int, meanwhile func()) {
	w.away[i].Lock()
	defer w.away[i].Unlock()
	w.pools[i].SetMaxIdleConns(0) // open connections end with the proxy
	meanwhile()
	w.pools[i].SetMaxIdleConns(2)
}

// sees waits until more numbers of a version were made and read, and fails the test if one could not be.
func (w *witness) sees(version uint32, more int) {
	w.t.Helper()
	want := w.count(version) + more
	product.Eventually(w.t, fmt.Sprintf("%d numbers of version %d", want, version), func() bool {
		w.mu.Lock()
		failed := len(w.failures)
		w.mu.Unlock()
		return failed > 0 || w.count(version) >= want
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, err := range w.failures[:min(5, len(w.failures))] {
		w.t.Error(err)
	}
	if len(w.failures) > 0 {
		w.t.FailNow()
	}
}

// keysStatus returns the result of `locus keys status`: the version of each process, by its number.
func (f *fleet) keysStatus() (current uint32, reads map[int]uint32) {
	f.t.Helper()
	current, reads, err := f.askKeysStatus()
	if err != nil {
		f.t.Fatal(err)
	}
	return current, reads
}

// askKeysStatus returns an error if etcd did not answer, perhaps because it elects a leader.
func (f *fleet) askKeysStatus() (current uint32, reads map[int]uint32, err error) {
	f.t.Helper()
	out, _ := f.try(1, "keys", "status", "-o", "json")
	var status struct {
		Current   struct{ Version uint32 }
		Processes []struct {
			ID       string
			Versions []struct{ Version uint32 }
		}
	}
	if err := json.NewDecoder(strings.NewReader(out)).Decode(&status); err != nil {
		return 0, nil, fmt.Errorf("%w\n%s", err, out)
	}
	reads = map[int]uint32{}
	for _, p := range status.Processes {
		for _, i := range machines {
			if !strings.HasPrefix(p.ID, f.host(i)) {
				continue
			}
			for _, v := range p.Versions {
				reads[i] |= 1 << v.Version
			}
		}
	}
	return status.Current.Version, reads, nil
}

// host returns the beginning of a proxy's ID, which is the same in all runs.
func (f *fleet) host(i int) string {
	name, err := os.Hostname()
	if err != nil {
		f.t.Fatal(err)
	}
	_, port, _ := strings.Cut(f.proxy(i), ":")
	return name + ":" + port + "-"
}

// untilReads waits until a proxy shows that it reads a version.
func (f *fleet) untilReads(i int, version uint32) {
	f.t.Helper()
	product.Eventually(f.t, fmt.Sprintf("proxy %d reads key version %d", i, version), func() bool {
		_, reads, err := f.askKeysStatus()
		return err == nil && bits.Len32(reads[i]) == int(version)+1
	})
}

// rotateThroughFaults rotates keys while nodes of etcd are killed and stopped, while a proxy is killed that has
// the new key already and the others don't, without a quorum, and with a command that is killed. While there is
// a quorum, the only statements that fail are those that run at the killed proxy, or that wait too long for an
// ID. All proxies can read every number at any moment.
func (f *fleet) rotateThroughFaults(l *load) {
	f.t.Helper()
	w := f.witness()
	w.sees(3, 6)
	f.during(l, "a rotation with a node of etcd away after the other", lostLeader, func() {
		f.etcd[1].Kill()
		waiting := f.rotating("rotate", "--wait=5m")
		f.untilReads(1, 4)
		f.bringKeys(2)
		f.untilReads(2, 4)
		w.sees(3, 6)
		w.without(2, func() { f.kill(2) })
		f.untilReads(2, 4)
		w.sees(3, 6)
		f.etcd[1].Start(f.t)
		f.untilHealthy()
		f.etcd[2].Signal(f.t, syscall.SIGSTOP)
		w.sees(3, 6)
		f.bringKeys(3)
		if out := <-waiting; !strings.Contains(out, "key version 4 hides new numbers; 3 did before") {
			f.t.Fatalf("a rotation: %s", out)
		}
		w.sees(4, 6)
		f.etcd[2].Signal(f.t, syscall.SIGCONT)
		f.untilHealthy()
		w.sees(4, 6)
	})
	f.during(l, "a rotation whose command is killed", nothing, func() {
		f.locus(1, "keys", "rotate", "--add-only")
		ctx, kill := context.WithCancel(f.t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- exec.CommandContext(ctx, newer, "keys", "use", "5", "--wait=5m", "-c", f.config(1)).Run()
		}()
		f.untilReads(1, 5)
		f.bringKeys(2)
		f.untilReads(2, 5)
		w.sees(4, 6)
		kill()
		if err := <-ended; err == nil {
			f.t.Fatal("it has ended before proxy 3 had the key")
		}
		f.bringKeys(3)
		f.untilReads(3, 5)
		w.sees(4, 6)
		if current, _ := f.keysStatus(); current != 4 {
			f.t.Errorf("after its command was killed version %d is current", current)
		}
	})
	for _, i := range machines[:2] { // without a quorum the proxies continue with the version that they know
		f.etcd[i].Signal(f.t, syscall.SIGSTOP)
	}
	w.sees(4, 6)
	for _, i := range machines[:2] {
		f.etcd[i].Signal(f.t, syscall.SIGCONT)
	}
	f.untilHealthy()
	f.during(l, "the quorum is back", nothing, func() {
		if out := <-f.rotating("use", "5", "--wait=5m"); !strings.Contains(out, "key version 5 hides new numbers") {
			f.t.Fatalf("a rotation: %s", out)
		}
		w.sees(5, 6)
	})
	w.end()
}

// rotating runs a command, and returns its output when it has ended.
func (f *fleet) rotating(args ...string) <-chan string {
	ended := make(chan string, 1)
	f.t.Cleanup(func() {
		select {
		case out := <-ended: // the test has not read the output
			f.t.Logf("keys %s: %s", strings.Join(args, " "), out)
		default:
		}
	})
	go func() {
		out, err := f.try(1, append([]string{"keys"}, args...)...)
		if err != nil {
			out += err.Error()
		}
		ended <- out
	}()
	return ended
}

// rotate rotates keys twice while customers order: with a proxy that lacks the key and is then stopped, and
// with all proxies.
func (f *fleet) rotate(l *load) {
	f.t.Helper()
	w := f.witness()
	w.sees(1, 6)

	f.locus(1, "keys", "rotate", "--add-only")
	f.bringKeys(2)
	f.untilReads(1, 2)
	f.untilReads(2, 2)
	out, err := f.try(1, "keys", "rotate")
	lacking := f.card(3).ID
	if err == nil || !strings.Contains(out, "key version 2 did not become current, and 1 still is: nothing was changed") || !strings.Contains(out, lacking+": it has versions 1") || strings.Contains(out, f.card(2).ID) {
		f.t.Fatalf("proxy 3 lacks the key: %v\n%s", err, out)
	}
	w.sees(1, 6)
	waiting := f.rotating("rotate", "--wait=5m")
	w.without(3, func() {
		f.locus(1, "proxies", "drain", lacking, "--yes")
		_ = f.proxies[3].Exit(f.t)
		if out := <-waiting; !strings.Contains(out, "key version 2 hides new numbers") {
			f.t.Fatalf("without proxy 3: %s", out)
		}
		f.proxies[3].Start(f.t)
		if err := f.proxies[3].Exit(f.t); err == nil || !strings.Contains(f.log(3), "key version 2 hides new numbers of this cluster since") {
			f.t.Fatalf("a start without the key: %v\n%s", err, f.log(3))
		}
		f.bringKeys(3)
		f.proxies[3].Start(f.t)
		f.untilReady(3)
	})
	w.sees(2, 6)

	waiting = f.rotating("rotate", "--wait=5m")
	f.untilReads(1, 3)
	w.sees(2, 6)
	f.bringKeys(2)
	f.untilReads(2, 3)
	w.sees(2, 6)
	select {
	case out := <-waiting:
		f.t.Fatalf("proxy 3 lacks the key, and the rotation has ended: %s", out)
	default:
	}
	f.bringKeys(3)
	if out := <-waiting; !strings.Contains(out, "key version 3 hides new numbers; 2 did before") || strings.Contains(out, "not yet") {
		f.t.Fatalf("%s", out)
	}
	before := w.count(2)
	w.sees(3, 6)
	if after := w.count(2); after > before+1 {
		f.t.Errorf("%d numbers of version 2 were made after all stamp by 3", after-before)
	}
	if current, reads := f.keysStatus(); current != 3 || reads[1] != 0b1110 || reads[2] != 0b1110 || reads[3] != 0b1110 {
		f.t.Errorf("%d is current, and they read %v", current, reads)
	}
	w.end()
	l.goesOn(f.t, 20)
}

func (w *witness) count(version uint32) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.made[version]
}

func (f *fleet) log(i int) string {
	text, err := os.ReadFile(f.proxies[i].Log)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text[max(0, len(text)-4000):])
}
