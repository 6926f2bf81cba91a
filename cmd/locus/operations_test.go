package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/fleet"
	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// Exit statuses, error numbers and HTTP statuses of three kinds of refused requests: invalid in any state of
// the cluster, refused by the cluster's state, and for a job that does not exist.
var (
	wrong      = [3]int{wrongUse, 1210, http.StatusBadRequest}
	impossible = [3]int{failed, mysql.ER_SIGNAL_EXCEPTION, http.StatusConflict}
	unknown    = [3]int{failed, mysql.ER_SIGNAL_EXCEPTION, http.StatusNotFound}
)

// request is one request in its three forms.
type request struct{ shell, call, post string }

// refused is a request with the text by which all interfaces refuse it.
type refused struct {
	request
	text   string
	status [3]int
}

// refusals lists requests with the texts by which all three interfaces refuse them.
var refusals = []refused{
	{request{"pause split-9", "pause('split-9')", `{"job": "split-9"}`}, "job split-9: no such job", unknown},
	{request{"pause paused-1", "pause('paused-1')", `{"job": "paused-1"}`}, "job paused-1: it is paused already", impossible},
	{request{"resume split-9 --yes", "resume('split-9')", `{"job": "split-9"}`}, "job split-9: no such job", unknown},
	{request{"resume planned-1 --yes", "resume('planned-1')", `{"job": "planned-1"}`}, "job planned-1: resume: it is not paused: the job is planned", impossible},
	{request{"finish split-9 --yes", "finish('split-9')", `{"job": "split-9"}`}, "job split-9: no such job", unknown},
	{request{"abort split-9 --yes", "abort('split-9')", `{"job": "split-9"}`}, "job split-9: no such job", unknown},
	{request{"abort aborting-1 --yes", "abort('aborting-1')", `{"job": "aborting-1"}`}, "job aborting-1: it is being aborted already", impossible},
	{request{"verify split-9", "verify('split-9')", `{"job": "split-9"}`}, "job split-9: no such job", unknown},
	{request{"verify planned-1", "verify('planned-1')", `{"job": "planned-1"}`},
		"job planned-1 is planned; it can be compared once its rows are copied, until it is finished", impossible},

	{request{"cutover split-9 --to 5 --yes", "cutover('split-9', 5)", `{"job": "split-9", "percent": 5}`}, "job split-9: no such job", unknown},
	{request{"cutover planned-1 --to 5 --yes", "cutover('planned-1', 5)", `{"job": "planned-1", "percent": 5}`},
		"job planned-1: cut over: the job is planned; it can be cut over once it is ready", impossible},
	{request{"cutover ready-1 --to 101 --yes", "cutover('ready-1', 101)", `{"job": "ready-1", "percent": 101}`}, "101 is no percentage; use a number from 0 to 100", wrong},
	{request{"cutover ready-1 --to -5 --yes", "cutover('ready-1', '-5')", `{"job": "ready-1", "percent": -5}`}, "-5 is no percentage; use a number from 0 to 100", wrong},
	{request{"cutover ready-1 --step 101% --yes", "cutover('ready-1', 100, 101)", `{"job": "ready-1", "percent": 100, "step_percent": 101}`},
		"101 is no percentage; use a number from 0 to 100", wrong},
	{request{"cutover ready-1 --every 169h --yes", "cutover('ready-1', 100, 5, 608400)", `{"job": "ready-1", "percent": 100, "every_seconds": 608400}`},
		"608400 seconds between two steps are not possible; use 0 to 604800 seconds", wrong},
	{request{"cutover ready-1 --on-breach shout --yes", "cutover('ready-1', 100, 5, 0, 'shout')", `{"job": "ready-1", "percent": 100, "on_breach": "shout"}`},
		`the reaction "shout" to a breach is unknown; use pause, step-back or roll-back`, wrong},
	{request{"", "next_step('ready-1', 101)", `{"job": "ready-1", "percent": 101}`}, "101 is no percentage; use a number from 0 to 100", wrong},
	{request{"", "next_step('planned-1', 5)", `{"job": "planned-1", "percent": 5}`},
		"job planned-1: cut over: the job is planned; it can be cut over once it is ready", impossible},
	{request{"rollback ready-1 --yes", "rollback('ready-1')", `{"job": "ready-1"}`}, "job ready-1: roll back: the job is ready; nothing is at the target", impossible},
	{request{"rollback ready-1 --to 101 --yes", "rollback('ready-1', 101)", `{"job": "ready-1", "percent": 101}`}, "101 is no percentage; use a number from 0 to 100", wrong},

	{request{"throttle split-9 5", "throttle('split-9', 5)", `{"job": "split-9", "percent": 5}`}, "job split-9: no such job", unknown},
	{request{"throttle ready-1 96", "throttle('ready-1', 96)", `{"job": "ready-1", "percent": 96}`}, "a job can't rest for 96 % of the time; use 0 to 95 %", wrong},
	{request{"mirror planned-1 --percent 5", "mirror('planned-1', 5)", `{"job": "planned-1", "percent": 5}`},
		"mirror: it is planned, and the target has not all rows yet: locus wait planned-1 --for ready", impossible},
	{request{"mirror ready-1 --percent 0.5", "mirror('ready-1', 0.5)", `{"job": "ready-1", "percent": 0.5}`},
		"0.5 % of the reads can't be mirrored; use a whole number from 0 to 100", wrong},
	{request{"mirror ready-1", "", `{"job": "ready-1"}`}, "no percentage is given; give one from 0 to 100", wrong},
	{request{"repair ready-1 --take newest --yes", "repair('ready-1', 'newest')", `{"job": "ready-1", "take": "newest"}`},
		`the row of the "newest" can't be taken; take source, target or newer`, wrong},
	{request{"repair ready-1 --take source --yes", "repair('ready-1', 'source')", `{"job": "ready-1", "take": "source"}`},
		"job ready-1 is ready, and no rows are listed; rows are repaired of a job that has failed because they differ; locus verify ready-1 compares the shards", impossible},
	{request{"repair differing-1 --take source --rows 7 --yes", "repair('differing-1', 'source', '7')", `{"job": "differing-1", "take": "source", "rows": "7"}`},
		"row 7 is not listed, or not any more: a difference that is found again has a new number", wrong},
	{request{"repair differing-1 --take newer --yes", "repair('differing-1', 'newer')", `{"job": "differing-1", "take": "newer"}`},
		"job differing-1: nothing can be repaired this way: table shop.cart has no version column: take source or target", impossible},

	{request{"shard remove s2 --yes", "shard_remove('s2')", `{"shard": "s2"}`}, "job aborting-1 uses shard s2; finish or abort it first", impossible},
	{request{"split --from s0 --to s9 --half", "split('s0', 's9', 'half')", `{"from": "s0", "to": "s9", "genes": "half"}`},
		"shard s9 is not registered; there are [s0 s1 s2 s3]", impossible},
	{request{"split --from s2 --to s0 --half", "split('s2', 's0', 'half')", `{"from": "s2", "to": "s0", "genes": "half"}`},
		"shard s2 owns no genes; locus routes show lists the owners", impossible},
	{request{"split --from s0 --to s3 --genes 0x7fff-0x8000", "split('s0', 's3', '0x7fff-0x8000')", `{"from": "s0", "to": "s3", "genes": "0x7fff-0x8000"}`},
		"shard s0 does not own genes 0x8000; locus routes show lists the owners", impossible},
	{request{"split --from s0 --to s3 --half --by halves", "split('s0', 's3', 'half', NULL, 'halves')", `{"from": "s0", "to": "s3", "genes": "half", "by": "halves"}`},
		`a split by "halves" is unknown; use gene or sequence`, wrong},
	{request{"split --from s0 --to s3 --hottest=100", "split('s0', 's3', 'hottest 100%')", `{"from": "s0", "to": "s3", "hottest_percent": 100}`},
		"the hottest genes with 100 % of the load can't be split off; use a share above 0 % and below 100 %", wrong},
	{request{"split --from s0 --to s3 --half --by sequence", "split('s0', 's3', 'half', '', 'sequence')", `{"from": "s0", "to": "s3", "genes": "half", "by": "sequence"}`},
		"job split-2: 16384 genes by sequence: 16 at most, since each statement without an owner asks for them: name fewer, or move so many by gene", impossible},
	{request{"split --from s0 --to s2 --half", "split('s0', 's2', 'half')", `{"from": "s0", "to": "s2", "genes": "half"}`}, "check variables: the source: ERROR 1045 (28000): no entry", impossible},
	{request{"split --from s0 --to s3 --half --throttle 96", "", `{"from": "s0", "to": "s3", "genes": "half", "throttle_percent": 96}`},
		"a job can't rest for 96 % of the time; use 0 to 95 %", wrong},
	{request{"merge --from s0 --into s9", "merge('s0', 's9')", `{"from": "s0", "into": "s9"}`}, "shard s9 is not registered; there are [s0 s1 s2 s3]", impossible},
	{request{"merge --from s0 --into s0", "merge('s0', 's0')", `{"from": "s0", "into": "s0"}`}, "job merge-2: from s0 to itself", impossible},
	{request{"import shop.cart shard=s1", "import('shop.cart', 'shard=s1')", `{"tables": [{"table": "shop.cart", "words": "shard=s1"}]}`},
		"table shop.cart: an import makes tables sharded or global; write owner=, parent= or global", wrong},
	{request{"import shop.cart global;shop.cart global", "import('shop.cart', 'global; shop.cart global')",
		`{"tables": [{"table": "shop.cart", "words": "global"}, {"table": "shop.cart", "words": "global"}]}`}, "table shop.cart is named twice; name it once", wrong},
	{request{"import cart global", "import('cart', 'global')", `{"tables": [{"table": "cart", "words": "global"}]}`}, "table name \"cart\": write it as schema.table, with other characters in backquotes: `my schema`.`my table`", wrong},
}

// declarations lists refusals in a cluster in which shop.country is declared to be global, and no shard has a table.
var declarations = []refused{
	{request{"table add shop.cart owner=a owner=b", "table_add('shop.cart', 'owner=a owner=b')", `{"table": "shop.cart", "words": "owner=a owner=b"}`},
		"table shop.cart: owner is given twice", wrong},
	{request{"table add cart global", "table_add('cart', 'global')", `{"table": "cart", "words": "global"}`},
		"table name \"cart\": write it as schema.table, with other characters in backquotes: `my schema`.`my table`", wrong},
	{request{"table add shop.country owner=a id=b", "table_add('shop.country', 'owner=a id=b')", `{"table": "shop.country", "words": "owner=a id=b"}`},
		`table shop.country is declared already, as "global": locus apply changes what is declared`, impossible},
	{request{"table add shop.cart global", "table_add('shop.cart', 'global')", `{"table": "shop.cart", "words": "global"}`},
		"table shop.cart: it doesn't exist on s0, s1, s2: create it there first\nnothing was written", impossible},
	{request{"table drop shop.contri --yes", "table_drop('shop.contri')", `{"table": "shop.contri"}`},
		"table shop.contri is not declared: did you mean shop.country?; locus table list lists the declared tables", impossible},
	{request{"switchover s9 --to db:3306 --yes", "switchover('s9', 'db:3306')", `{"shard": "s9", "server": "db:3306"}`}, "shard s9 is not registered; there are [s0 s1 s2]", impossible},
	{request{"switchover s0 --to db:3306 --yes", "switchover('s0', 'db:3306')", `{"shard": "s0", "server": "db:3306"}`},
		"shard s0 has one server: list it and its replicas as servers: in cluster.yaml, and run locus apply", impossible},
	{request{"", "switchover('s0', '')", `{"shard": "s0", "server": ""}`}, "no server is named; name one of the shard's servers, as host:port", wrong},
	{request{"", "switchover('', 'db:3306')", `{"server": "db:3306"}`}, "no shard is named; locus shard list lists the shards", wrong},
	{request{"sessions kill nobody:4306 7 --yes", "kill_session('nobody:4306', 7)", `{"proxy": "nobody:4306", "session": 7}`}, "no process nobody:4306 is alive: locus proxies list", impossible},
	{request{"sessions kill nobody:4306 0 --yes", "kill_session('nobody:4306', 0)", `{"proxy": "nobody:4306"}`}, "session 0: use the ID of a session as locus sessions list shows it", wrong},
	{request{"sessions kill nobody:4306 0 --statement --yes", "kill_statement('nobody:4306', 0)", `{"proxy": "nobody:4306"}`}, "session 0: use the ID of a session as locus sessions list shows it", wrong},
	{request{"switchover s9 --take db:3306 --yes", "promote('s9', 'db:3306')", `{"shard": "s9", "server": "db:3306"}`}, "shard s9 is not registered; there are [s0 s1 s2]", impossible},
	{request{"switchover s9 --without-replicas --yes", "without_replicas('s9')", `{"shard": "s9"}`}, "shard s9 is not registered; there are [s0 s1 s2]", impossible},
	{request{"proxies drain nobody:4306 --yes", "drain('nobody:4306')", `{"process": "nobody:4306"}`}, "no process nobody:4306 is alive: locus proxies list", impossible},
	{request{"proxies evict nobody:4306 --yes", "evict('nobody:4306', TRUE)", `{"process": "nobody:4306", "last": true}`}, "no process nobody:4306 is alive: locus proxies list", impossible},
	{request{"shard remove s9 --yes", "shard_remove('s9')", `{"shard": "s9"}`}, "shard s9 is not registered; there are [s0 s1 s2]", impossible},
	{request{"shard remove s0 --yes", "shard_remove('s0')", `{"shard": "s0"}`},
		"shard s0 owns 32768 genes; move them to another shard first: locus merge --from s0", impossible},
	{request{"shard fill s9 --yes", "shard_fill('s9')", `{"shard": "s9"}`}, "shard s9 is not registered; there are [s0 s1 s2]", impossible},
	{request{"shard fill s1 --yes", "shard_fill('s1')", `{"shard": "s1"}`},
		"shard s1 owns genes, or is about to, or is the first shard: clients read it, and its rows are not overwritten; locus verify tells which differ", impossible},
	{request{"shard fill s2 --wait 2h --yes", "shard_fill('s2', 7200)", `{"shard": "s2", "wait_seconds": 7200}`}, "writers can't wait for 7200 seconds; use 0 to 3600 seconds", wrong},
	{request{"routes rollback 7 --yes", "routes_rollback(7)", `{"version": 7}`},
		"version 7 is not in the history, which has those that handed genes over: locus routes history lists them", impossible},
	{request{"rebalance --by heat --yes", "rebalance('heat')", `{"by": "heat"}`}, `a rebalance by "heat" is unknown; use load or rows`, wrong},
	{request{"rebalance --tolerance 1001 --yes", "rebalance('load', 1001)", `{"by": "load", "tolerance_percent": 1001}`}, "a tolerance of 1001 % is not possible; use 0 to 1000 %", wrong},
	{request{"rebalance --onto s0,s9 --yes", "rebalance(NULL, NULL, NULL, 's0, s9')", `{"onto": ["s0", "s9"]}`}, "shard s9 is not registered; there are [s0 s1 s2]", impossible},
	{request{"rebalance --yes", "rebalance()", `{}`}, "there is nothing to balance by load: no statement with a key was counted in the last minutes", impossible},
	{request{"table drop cart --yes", "table_drop('cart')", `{"table": "cart"}`},
		"table name \"cart\": write it as schema.table, with other characters in backquotes: `my schema`.`my table`", wrong},
}

// TestRefusalsAreTheSame: a refusal and its remedy have the same text in all interfaces.
func TestRefusalsAreTheSame(t *testing.T) {
	f := newFaces(t)
	f.declare("tables: {shop.country: {kind: global}}\n" + f.shards)
	f.refuse(t, declarations)
	f.prepare()
	f.refuse(t, refusals)
}

func (f *faces) refuse(t *testing.T, list []refused) {
	for _, c := range list {
		name := c.shell
		if name == "" {
			name = c.call
		}
		t.Run(name, func(t *testing.T) {
			f := f.within(t)
			for i, got := range f.refusals(c.request) {
				if got != nil && (got.text != c.text || got.status != c.status[i]) {
					t.Errorf("%s: %d %q, want %d %q", interfaces[i], got.status, got.text, c.status[i], c.text)
				}
			}
		})
	}
}

var interfaces = []string{"command line", "SQL", "HTTP"}

// refusal is the answer of one interface to a refused request.
type refusal struct {
	text   string
	status int
}

// refusals sends a request through each interface that supports it. The result is nil for the others.
func (f *faces) refusals(r request) (all [3]*refusal) {
	name := r.operation()
	if r.shell != "" {
		text, status := f.shell(r.shell)
		all[0] = &refusal{text, status}
	}
	if r.call != "" {
		text, number := f.sql(r.call)
		all[1] = &refusal{text, number}
	}
	text, status := f.post(name, r.post)
	all[2] = &refusal{text, status}
	return all
}

// operation returns the name of the operation.
func (r request) operation() string {
	name, _, _ := strings.Cut(r.call, "(")
	if name == "" {
		name, _, _ = strings.Cut(r.shell, " ")
	}
	return name
}

// sqlRefusal returns the text and the number of an error, without the text that servers write around wrong arguments.
func sqlRefusal(call string, err error) (string, int) {
	if err == nil {
		return "", 0
	}
	failure, is := errors.AsType[*mysql.MyError](err)
	if !is {
		return fmt.Sprint(err), 0
	}
	name, _, _ := strings.Cut(call, "(")
	text, framed := strings.CutPrefix(failure.Message, "Incorrect arguments to locus."+name+": ")
	if framed {
		text, _, _ = strings.Cut(text, "; it is locus."+name+"(")
	}
	return text, int(failure.Code)
}

// prepare writes a job in each of some phases, and registers shard s3, for which the process has no secret.
func (f *faces) prepare() {
	f.t.Helper()
	f.declare(f.shards + "  s3: {address: 'nowhere:3306', user: u, secret: none}\n")
	f.write("planned-1")
	f.write("paused-1", phase.Event{Kind: phase.Pause})
	f.write("aborting-1", phase.Event{Kind: phase.Abort})
	f.write("ready-1", ready...)
	f.write("differing-1", unequal...)
	list, err := json.Marshal(job.Differences{Rows: []job.Difference{{Number: 1, Table: "shop.cart", Source: job.Image{Sum: "a"}, Target: job.Image{Sum: "b"}}}, Last: 1})
	if err != nil {
		f.t.Fatal(err)
	}
	f.put(job.DifferencesPrefix+"differing-1", list)
}

// write writes the record of a split after events.
func (f *faces) write(id string, events ...phase.Event) {
	f.t.Helper()
	genes := gene.NewSet(gene.Range{First: 0, Last: 99})
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	j, err := job.New(id, job.Split, "s0", "s2", gene.W16, genes, "ann", "", now)
	for _, e := range events {
		if err == nil {
			j, err = j.On(e, "ann", "", now)
		}
	}
	if err != nil {
		f.t.Fatal(err)
	}
	text, err := json.Marshal(j)
	if err != nil {
		f.t.Fatal(err)
	}
	f.put(job.Prefix+id, text)
}

func (f *faces) put(key string, text []byte) {
	f.t.Helper()
	if _, err := f.kv.Commit(f.t.Context(), nil, etcd.Put(key, text)); err != nil {
		f.t.Fatal(err)
	}
}

// effects lists requests that jobs accept, with the last line of the journal.
var effects = []struct {
	request
	phase []phase.Event // the event of the job that ran before
	line  string
}{
	{request{"pause split-1", "pause('split-1')", `{"job": "split-1"}`}, ready, "pause → paused"},
	{request{"resume split-1 --yes", "resume('split-1')", `{"job": "split-1"}`}, append(slices.Clone(ready), phase.Event{Kind: phase.Pause}), "resume → ready"},
	{request{"abort split-1 --yes", "abort('split-1')", `{"job": "split-1"}`}, ready, "abort → aborting"},
	{request{"finish split-1 --yes", "finish('split-1')", `{"job": "split-1"}`}, whole, "finish → retiring"},
	{request{"cutover split-1 --to 40% --every 1m --on-breach step-back --yes", "cutover('split-1', '40%', NULL, 60, 'step-back')",
		`{"job": "split-1", "percent": 40, "every_seconds": 60, "on_breach": "step-back"}`}, ready, "cutover to 40 of 100 genes, by 5 → cutting"},
	{request{"cutover split-1 --yes", "cutover('split-1', 100)", `{"job": "split-1", "percent": 100}`}, ready, "cutover to 100 of 100 genes, by 100 → cutting"},
	{request{"cutover split-1 --to 40 --step 8 --yes", "cutover('split-1', 40, 8)", `{"job": "split-1", "percent": 40, "step_percent": 8}`}, ready, "cutover to 40 of 100 genes, by 8 → cutting"},
	{request{"", "next_step('split-1', 7)", `{"job": "split-1", "percent": 7}`}, ready, "next step to 7 of 100 genes, by 100 → cutting"},
	{request{"rollback split-1 --yes", "rollback('split-1')", `{"job": "split-1"}`}, whole, "rollback to 0 of 100 genes, by 100 → rolling-back"},
	{request{"rollback split-1 --to 20% --step 10% --yes", "rollback('split-1', 20, 10)", `{"job": "split-1", "percent": 20, "step_percent": 10}`}, whole, "rollback to 20 of 100 genes, by 10 → rolling-back"},
	{request{"throttle split-1 50%", "throttle('split-1', 50)", `{"job": "split-1", "percent": 50}`}, ready, "throttle: pauses 50 % of the time"},
	{request{"mirror split-1 --percent 10", "mirror('split-1', 10)", `{"job": "split-1", "percent": 10}`}, ready, "mirror: 10 % of the reads"},
	{request{"repair split-1 --take source --rows 1 --yes", "repair('split-1', 'SOURCE', '1')", `{"job": "split-1", "take": "source", "rows": "1"}`}, unequal, "repair: take source for 1 row → repairing"},
	{request{"", "verify('split-1')", `{"job": "split-1"}`}, ready, "verify → verifying"},
	{request{"split --from s0 --to s3 --genes 0x1000-0x1fff --why heat", "split('s0', 's3', '0x1000-0x1fff', 'heat')", `{"from": "s0", "to": "s3", "genes": "0x1000-0x1fff", "why": "heat"}`},
		nil, "split of 4096 genes from s0 to s3: 0x1000-0x1fff"},
	{request{"split --from s0 --to s3 --half --why heat", "split('s0', 's3', 'HALF', 'heat')", `{"from": "s0", "to": "s3", "genes": "half", "why": "heat"}`},
		nil, "split of 16384 genes from s0 to s3: 0x4000-0x7fff"},
	{request{"merge --from s1 --into s3 --why cold", "merge('s1', 's3', 'cold')", `{"from": "s1", "into": "s3", "why": "cold"}`}, nil, "merge of 32768 genes from s1 to s3: 0x8000-0xffff"},
	{request{"import shop.cart owner=a id=b", "import('shop.cart', 'owner=a id=b')", `{"tables": [{"table": "shop.cart", "words": "owner=a id=b"}]}`},
		nil, "import of shop.cart from s0 to s1"},
}

// TestTheLastProxyStays: a process is not drained or evicted without an agreement if applications would have no proxy.
func TestTheLastProxyStays(t *testing.T) {
	f := newFaces(t)
	cards, err := fleet.Cards(t.Context(), f.kv)
	if err != nil || len(cards) != 1 {
		t.Fatalf("%v %v", cards, err)
	}
	id := cards[0].ID
	want := "process " + id + " is the only proxy, so that applications have none without it; start another one first, or accept it by last: true"
	stays := func() {
		t.Helper()
		for _, name := range []string{"drain", "evict"} {
			if text, number := f.sql(name + "('" + id + "')"); text != want || number != impossible[1] {
				t.Errorf("SQL: %d %q, want %q", number, text, want)
			}
			if text, status := f.post(name, `{"process": "`+id+`"}`); text != want || status != impossible[2] {
				t.Errorf("HTTP: %d %q, want %q", status, text, want)
			}
		}
	}
	stays()
	other := fleet.Card{ID: "other-4306", Addr: "other:4306"}
	if _, err := f.kv.Commit(t.Context(), nil, etcd.Put(other.Key(), other.Text())); err != nil {
		t.Fatal(err)
	}
	stops, err := fleet.Stopping(t.Context(), f.kv)
	if err == nil {
		err = stops.Send(t.Context(), f.kv, other.ID, fleet.Drain, "ann", time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	stays() // the other one is about to stop
}

// TestAShardIsRemovedByEachInterface removes shard s2 by command, SQL and HTTP, until the declarations don't contain it.
func TestAShardIsRemovedByEachInterface(t *testing.T) {
	f := newFaces(t)
	for i, send := range []func() string{
		func() string { text, _ := f.shell("shard remove s2 --yes --why empty"); return text },
		func() string { text, _ := f.sql("shard_remove('s2', 'empty')"); return text },
		func() string { text, _ := f.post("shard_remove", `{"shard": "s2", "why": "empty"}`); return text },
	} {
		f.declare(f.shards)
		if text := send(); text != "" {
			t.Fatalf("%s: %s", interfaces[i], text)
		}
		c, err := declared.Current(t.Context(), f.kv)
		if err != nil {
			t.Fatal(err)
		}
		if names := fmt.Sprint(c.ShardNames()); names != "[s0 s1]" {
			t.Errorf("%s: the shards are %s", interfaces[i], names)
		}
	}
}

// TestEffectsAreTheSame: the record of a job is the same whichever interface a request uses, except for the
// name of the user and the time.
func TestEffectsAreTheSame(t *testing.T) {
	f := newFaces(t)
	f.prepare()
	list, _, err := f.kv.Get(t.Context(), job.DifferencesPrefix+"differing-1")
	if err != nil {
		t.Fatal(err)
	}
	f.put(job.DifferencesPrefix+"split-1", list)
	for _, c := range effects {
		t.Run(c.operation()+" "+c.call, func(t *testing.T) {
			f := f.within(t)
			var records []string
			for i, send := range []func() string{
				func() string { text, _ := f.shell(c.shell); return text },
				func() string { text, _ := f.sql(c.call); return text },
				func() string { text, _ := f.post(c.operation(), c.post); return text },
			} {
				if i == 0 && c.shell == "" {
					continue
				}
				f.only(c.phase)
				if text := send(); text != "" {
					t.Fatalf("%s: %s", interfaces[i], text)
				}
				j := f.last()
				if line := j.Journal[len(j.Journal)-1].What; line != c.line {
					t.Errorf("%s: the journal has %q, want %q", interfaces[i], line, c.line)
				}
				records = append(records, anonymous(t, j))
			}
			for i, r := range records {
				if r != records[0] {
					t.Errorf("record %d is\n%s\nand the first\n%s", i, r, records[0])
				}
			}
		})
	}
}

// only leaves no job but split-1, after events; without events, no job.
func (f *faces) only(events []phase.Event) {
	f.t.Helper()
	pairs, _, err := f.kv.GetPrefix(f.t.Context(), job.Prefix)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, p := range pairs {
		if _, err := f.kv.Commit(f.t.Context(), nil, etcd.Delete(p.Key)); err != nil {
			f.t.Fatal(err)
		}
	}
	if events != nil {
		f.write("split-1", events...)
	}
}

// last returns the only job.
func (f *faces) last() *job.Job {
	f.t.Helper()
	pairs, _, err := f.kv.GetPrefix(f.t.Context(), job.Prefix)
	if err != nil || len(pairs) != 1 {
		f.t.Fatalf("%d jobs: %v", len(pairs), err)
	}
	j := new(job.Job)
	if err := json.Unmarshal(pairs[0].Value, j); err != nil {
		f.t.Fatal(err)
	}
	return j
}

// anonymous returns the record of a job without names of persons and times.
func anonymous(t *testing.T, j *job.Job) string {
	t.Helper()
	j.By, j.Created = "", time.Time{}
	if j.Repair != nil {
		j.Repair.By = ""
	}
	for i := range j.Journal {
		j.Journal[i].By, j.Journal[i].At = "", time.Time{}
	}
	text, err := json.MarshalIndent(j, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Events that lead to a phase.
var (
	ready = []phase.Event{{Kind: phase.Announced}, {Kind: phase.Copied}, {Kind: phase.CaughtUp}, {Kind: phase.Verified}}
	// whole leads to a job whose genes are all at the target.
	whole = append(slices.Clone(ready), phase.Event{Kind: phase.CutTo, Genes: 100, Step: 100}, phase.Event{Kind: phase.StepTaken, Genes: 100})
	// unequal leads to a job that has failed because a row differs.
	unequal = []phase.Event{{Kind: phase.Announced}, {Kind: phase.Copied}, {Kind: phase.CaughtUp}, {Kind: phase.FailedWith, Why: "rows differ", Rows: 1}}
)
