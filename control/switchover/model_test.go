package switchover

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/scale"
	"locus/router/cluster"
)

// The model has two servers, two proxies, etcd's document, and the processes that switch over. It is so small
// that every reachable state is visited. Any line may be the last of its process. At any moment another process
// may continue while the former one is only suspended. A proxy may be cut off from etcd, and may count as dead.

type box struct {
	readOnly bool
	follows  bool // the other one
	rows     int8 // written so far; a follower has at most the other's
}

type watcher struct {
	primary string // the server that it sends writes to
	epoch   int8   // the epoch of its document
	held    bool
	leased  bool // if false, no process waits for its acknowledgement
}

type operator struct {
	alive  bool
	fenced bool // a later operator has ended its connections
	order  string
	line   int
	epoch  int8 // epoch of the document that it wrote or read
}

type world struct {
	servers   [2]box
	doc       cluster.Primary
	proxies   [2]watcher
	operators [2]operator
	lock      int8 // the operator that holds it; -1 for none
	begun     int8
	wrote     int8
	rollbacks int8
	cuts      int8
	count     int8 // proxies
	most      int8 // cuts
	lost      bool
}

var orders = map[string][]Line{"begin": Begin, "mend": Mend, "finish": Finish}

func index(name string) int {
	if name == "a" {
		return 0
	}
	return 1
}

func (w world) other(name string) string {
	if name == "a" {
		return "b"
	}
	return "a"
}

// step is something that can happen, to a proxy, a server or an operator.
type step struct {
	what string
	who  int
	next world
}

func (s step) String() string { return fmt.Sprint(s.what, " ", s.who) }

// steps appends everything that can happen next.
func (w world) steps(next []step) []step {
	for i, p := range w.proxies[:w.count] {
		if p.epoch != int8(w.doc.Epoch) && p.leased {
			n := w
			n.proxies[i] = watcher{primary: w.doc.Server, epoch: int8(w.doc.Epoch), held: w.doc.Held, leased: true}
			next = append(next, step{"proxy sees", i, n})
		}
		if p.leased && w.cuts < w.most {
			n := w
			n.cuts++
			n.proxies[i].leased = false
			next = append(next, step{"proxy is cut off", i, n})
		} else if !p.leased {
			n := w
			n.proxies[i] = watcher{primary: w.doc.Server, epoch: int8(w.doc.Epoch), held: w.doc.Held, leased: true}
			next = append(next, step{"proxy is back", i, n})
		}
		if s := index(p.primary); !p.held && !w.servers[s].readOnly && w.wrote < 1 {
			n := w
			n.wrote++
			n.servers[s].rows++
			next = append(next, step{"write", i, n})
		}
	}
	for i, s := range w.servers {
		if s.follows && s.rows < w.servers[1-i].rows {
			n := w
			n.servers[i].rows++
			next = append(next, step{"replicate", i, n})
		}
	}
	if w.doc.Held && w.rollbacks < 1 {
		n := w
		n.rollbacks++
		n.doc = w.doc.Release("")
		next = append(next, step{"a proxy releases", 0, n})
	}
	for i, o := range w.operators {
		if o.alive {
			n := w
			n.operators[i].alive = false
			if w.lock == int8(i) {
				n.lock = -1
			}
			next = append(next, step{"kill", i, n})
			if w.lock == int8(i) { // the operator is suspended, and its lease expires
				n = w
				n.lock = -1
				next = append(next, step{"lease lost", i, n})
			}
			next = w.goOn(i, next)
		} else if w.lock == -1 && w.begun < 2 {
			n := w
			n.lock, n.begun = int8(i), w.begun+1
			n.operators[i] = operator{alive: true, order: "begin", epoch: int8(w.doc.Epoch)}
			switch {
			case w.doc.Next != "":
				n.operators[i].order = "mend"
			case w.doc.Former != "":
				n.operators[i].order = "finish"
			}
			next = append(next, step{"operator", i, n})
		}
	}
	return next
}

// goOn appends the operator's next line, and its failure there.
func (w world) goOn(i int, next []step) []step {
	o := w.operators[i]
	lines := orders[o.order]
	if o.line == len(lines) {
		n := w
		n.operators[i] = operator{}
		if w.lock == int8(i) {
			n.lock = -1
		}
		return append(next, step{"done", i, n})
	}
	line := lines[o.line]
	if n, ok := w.do(i, line); ok {
		n.operators[i].line++
		if line == Turn {
			n.operators[i].order, n.operators[i].line = "finish", 0
		}
		next = append(next, step{string(line), i, n})
	}
	if o.order == "begin" && o.line > slices.Index(lines, Hold) { // a line fails: the process undoes the switchover, on its own connections
		n := w
		n.operators[i].order, n.operators[i].line = "mend", 1
		next = append(next, step{"fails at " + string(line), i, n})
	}
	return next
}

// do executes a line; it returns false if the line fails, or waits.
func (w world) do(i int, line Line) (world, bool) {
	o := &w.operators[i]
	primary, other := index(w.doc.Server), index(w.other(w.doc.Server))
	mine := o.epoch == int8(w.doc.Epoch)
	servers := !o.fenced // it reaches them
	replace := func(doc cluster.Primary) {
		w.doc, o.epoch = doc, int8(doc.Epoch)
	}
	switch line {
	case TakeOver:
		if w.lock != int8(i) && o.order != "finish" {
			return w, false
		}
		for j := range w.operators {
			if j != i {
				w.operators[j].fenced = true
			}
		}
		return w, servers
	case Check:
		return w, servers && mine && w.doc.Settled() && !w.servers[primary].readOnly && w.servers[other].follows
	case Hold:
		if !mine {
			return w, false
		}
		replace(w.doc.BeginSwitchover(w.other(w.doc.Server), ""))
	case Obeyed:
		for _, p := range w.proxies[:w.count] {
			if p.leased && p.epoch < o.epoch {
				return w, false
			}
		}
	case ReadOnly:
		// It acts on the document that it has read, which may have changed since.
		w.servers[index(w.operatorsPrimary(i))].readOnly = true
		return w, servers
	case Position:
		return w, servers && w.servers[0].rows == w.servers[1].rows
	case Writable:
		to := index(w.other(w.operatorsPrimary(i)))
		w.servers[to].follows, w.servers[to].readOnly = false, false
		return w, servers
	case Turn:
		if !mine {
			return w, false
		}
		replace(w.doc.Promote(""))
		if w.servers[index(w.doc.Server)].rows < w.servers[index(w.doc.Former)].rows {
			w.lost = true
		}
	case FormerReadOnly:
		w.servers[other].readOnly = true
		return w, servers && mine
	case Former:
		w.servers[other].follows = true
		return w, servers && mine
	case Others:
	case Seize:
		if !mine {
			return w, false
		}
		replace(w.doc.Again(""))
	case Demote:
		w.servers[other].readOnly = true
		return w, servers && mine
	case Rejoin:
		w.servers[other].follows = true
		return w, servers && mine
	case Restore:
		w.servers[primary].readOnly = false
		return w, servers && mine
	case Settle:
		if !mine {
			return w, false
		}
		replace(w.doc.Settle(""))
	default:
		panic(fmt.Sprintf("the model does not know what %s does", line))
	}
	return w, true
}

// operatorsPrimary returns the primary in the document that an operator has read.
func (w world) operatorsPrimary(i int) string { return w.doc.Server }

// wrong returns the violated invariant, or "".
func (w world) wrong() string {
	if w.lost {
		return "what clients were told to be written is lost"
	}
	var written []string // servers that a proxy's writes arrive at
	for _, p := range w.proxies[:w.count] {
		if !p.held && !w.servers[index(p.primary)].readOnly && !slices.Contains(written, p.primary) {
			written = append(written, p.primary)
		}
	}
	if len(written) > 1 {
		return "two primaries are written to"
	}
	return ""
}

// Everything that can happen, up to two processes, a write, and, but for the quick scale, a proxy that is cut off.
func TestNeverTwoPrimaries(t *testing.T) { explore(t, 1, scale.Quick[int8](0, 1)) }

// explore goes through all with so many proxies, and so many times that one is cut off.
func explore(t *testing.T, proxies, cuts int8) {
	t.Helper()
	first := world{lock: -1, count: proxies, most: cuts, doc: cluster.Primary{Epoch: 1, Server: "a"}}
	first.servers = [2]box{{}, {readOnly: true, follows: true}}
	for i := range first.proxies {
		first.proxies[i] = watcher{primary: "a", epoch: 1, leased: true}
	}
	type visit struct {
		step
		from int // the visit before it
	}
	visits := []visit{{step: step{next: first}}}
	seen := map[world]bool{first: true}
	turned := 0
	var next []step
	for todo := []int{0}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		w := visits[at].next
		if w.doc.Server == "b" {
			turned++
		}
		if why := w.wrong(); why != "" {
			var path []string
			for ; at > 0; at = visits[at].from {
				path = append(path, visits[at].String())
			}
			slices.Reverse(path)
			t.Fatalf("%s: %s\n%+v", why, strings.Join(path, ", "), w)
		}
		next = w.steps(next[:0])
		for _, s := range next {
			if !seen[s.next] {
				seen[s.next] = true
				todo = append(todo, len(visits))
				visits = append(visits, visit{s, at})
			}
		}
	}
	t.Logf("%d states, %d after a turn", len(visits), turned)
	if turned == 0 {
		t.Error("no order came to its turn")
	}
}
