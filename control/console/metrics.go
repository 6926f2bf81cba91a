package console

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"locus/control/events"
	"locus/control/failover"
	"locus/control/finding"
	"locus/control/fleet"
	"locus/control/generators"
	"locus/control/overview"
	"locus/control/tracing"
	"locus/idgen/ha"
	"locus/proxy"
	"locus/proxy/backend"
	"locus/proxy/twophase"
	"locus/proxy/txn"
	"locus/router"
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("locus_"+name, help, labels, nil)
}

var (
	sessions    = describe("sessions", "Clients that are logged in.")
	accepted    = describe("connections_accepted_total", "Connections of clients that were accepted.")
	refusedConn = describe("connections_refused_total", "Connections of clients that were rejected at the limit.")
	mapVersion  = describe("route_map_version", "Version of the route map in force at this proxy.")
	sourceUp    = describe("source_up", "1 while etcd can be read, 0 while the last known state is served.")
	refusedDecl = describe("declaration_refused", "1 while the declarations in etcd are refused and an older state is served.")

	statements = describe("statements_total", "Statements that clients sent.")
	oneShard   = describe("statements_one_shard_total", "Statements that ran on one shard.")
	scattered  = describe("statements_several_shards_total", "Statements that ran on several shards.")
	gathered   = describe("statements_gathered_total", "Statements whose rows of several shards were gathered on one.")
	retried    = describe("statements_retried_total", "Reads that were sent again because the connection was lost before any answer.")
	refused    = describe("statements_refused_total", "Statements that were refused, by the error's code.", "code")
	denied     = describe("statements_denied_total", "Statements that the user may not run.")
	failed     = describe("statements_failed_total", "Statements that failed on the way to a shard or back.")
	parsed     = describe("statements_parsed_total", "Statements whose plan was not in the cache.")
	slow       = describe("statements_slow_total", "Statements that took longer than proxy.slow_statement, or the user's own.")
	unlogged   = describe("statements_slow_unlogged_total", "Slow statements without a line in the log, because there were too many.")
	stamped    = describe("rows_stamped_total", "Rows that got a generated ID.")
	duration   = describe("statement_duration_seconds", "How long statements took, from their command's arrival to the end of their answer.", "kind", "shard", "outcome")
	errorCodes = describe("errors_total", "Errors that clients received, by MySQL's number; other: all numbers after the first 256.", "code")

	cancelled    = describe("statements_cancelled_total", "Statements that were ended before their answer.", "reason")
	transactions = describe("transactions_total", "Transactions that have ended, by outcome and by the shards that they were on.", "outcome", "shards")
	recovered    = describe("branches_recovered_total", "Prepared branches that recovery has finished, by outcome.", "outcome")
	inDoubt      = describe("branches_in_doubt", "Prepared branches that are overdue and not finished.")
	pinned       = describe("pinned_connections", "Connections that sessions keep between statements, by reason.", "reason")
	pins         = describe("pins_total", "How often a session began to keep a connection, by reason.", "reason")

	digestsKept = describe("statement_digests", "Digests that have figures of their own.")
	digestsMost = describe("statement_digests_limit", "Limit of the digests that have figures of their own.")

	movePhase     = describe("move_phase", "1 for the current phase of a job. Ended jobs are omitted.", "move", "from", "to", "phase")
	movePercent   = describe("move_percent", "Progress of a job: its rows that are copied and verified, and its genes that are at the target.", "move", "from", "to", "of")
	moveLag       = describe("move_lag_seconds", "Time until a change in the log of one server of a job is applied at the other.", "move", "from", "to", "stream")
	moveHeld      = describe("move_last_hold_seconds", "How long the last step of a job paused statements.", "move", "from", "to")
	moveConflicts = describe("move_conflicts", "Rows that a stream of a job could not apply.", "move", "from", "to")
	moveRows      = describe("move_rows", "Rows of a job that were copied, compared and deleted, and changes that were applied, by the process that runs it now.", "move", "from", "to", "done")
	moveTrouble   = describe("move_trouble", "1 while an action of a job fails and is retried.", "move", "from", "to")
	moveReported  = describe("move_reported_seconds", "Time since the process that runs a job last reported on it.", "move", "from", "to")

	held    = describe("statements_held_total", "Statements that were paused while the genes of their rows changed hands.")
	holding = describe("statements_holding", "Statements that are paused now while the genes of their rows change hands.")

	poolOpen      = describe("backend_connections", "Connections to a shard, by state.", "shard", "state")
	poolWait      = describe("backend_waiting", "Sessions that wait for a connection to a shard.", "shard")
	poolLimit     = describe("backend_connections_limit", "How many connections to a shard this process may have.", "shard")
	poolLogins    = describe("backend_logins_total", "Logins at a shard that were tried.", "shard")
	poolLent      = describe("backend_borrowed_total", "Connections to a shard that were lent to sessions.", "shard")
	poolWaits     = describe("backend_waits_total", "Sessions that had to wait for a connection to a shard.", "shard")
	poolExhausted = describe("backend_exhausted_total", "Sessions that waited for a connection to a shard and got none.", "shard")
	poolClosed    = describe("backend_closed_total", "Connections to a shard that were closed, by reason: idle ones that were dead, and ones that could not be reused.", "shard", "found")
	poolBlocked   = describe("backend_blocked_seconds", "Time until a login at a shard is tried again, after failures; 0 while logins are allowed.", "shard")
	poolCut       = describe("primary_unconfirmed", "1 while etcd does not confirm a shard's primary to this proxy, which refuses statements on it.", "shard")
	poolStale     = describe("stale_reads_total", "Reads that a shard's last known primary answered while etcd did not confirm it.", "shard")
	kept          = describe("session_memory_bytes", "Memory that sessions keep between commands: prepared statements, variables, parameters sent in pieces.")
	mayKeep       = describe("session_memory_limit_bytes", "Limit of the memory that sessions keep between commands (proxy.session_memory).")
	stalled       = describe("sessions_stalled_total", "Sessions that were ended because their client read nothing of an answer (write), or sent nothing in the middle of a command (read), for too long.", "direction")
	silent        = describe("sessions_idle_ended_total", "Sessions that were ended because their client was idle for too long.")
	onReplicas    = describe("statements_on_replicas_total", "Reads that a replica answered.")
	replicaLag    = describe("replica_lag_seconds", "Replication lag of a replica, as its server reports it.", "shard", "addr")
	replicaUsable = describe("replica_usable", "1 while reads are sent to a replica, 0 while it is too far behind, doesn't follow or doesn't answer.", "shard", "addr")

	serverState    = describe("server_state", "1 for the state that a shard's server is in, as this proxy sees it.", "shard", "addr", "role", "state")
	primaryTrouble = describe("primary_trouble", "1 while it is uncertain which server of a shard is the primary; reported by the process that watches the servers.", "shard")
	primaryMayLose = describe("primary_may_lose", "1 while transactions that a shard's primary acknowledges may be lost with it; reported by the process that watches the servers of a shard with failover: promote.", "shard")
	primaryWaits   = describe("primary_waits", "1 while commits of a shard's primary wait because too few replicas acknowledge; reported by the process that watches the servers of a shard with failover: promote.", "shard")
	errantServers  = describe("servers_errant", "Servers of a shard with transactions that the primary never had; reported by the process that watches the servers.", "shard")

	serverProbe = describe("server_probe_seconds", "How long the last probe of a shard's server took.", "shard", "addr", "role")

	sequenceLeft = describe("id_sequence_left", "Share of the sequence that is left for the IDs of a table, from 1 down to 0, of the counter that is used most.", "table", "layout")
	versionsLeft = describe("id_key_versions_left", "Share of the key versions that is left for the IDs of a table.", "table", "layout")
	idLoads      = describe("id_segment_loads_total", "Segments of sequence numbers that were requested, by outcome.", "table", "layout", "outcome")
	idWaits      = describe("id_segment_waits_total", "Statements that waited for a segment.", "table", "layout")

	keyVersion = describe("key_version", "Version of the key that hides the sequence of new IDs; 0: none, or not known yet.")
	keyRefused = describe("key_ring_refused", "1 while the key ring's file is refused and the previous key ring is used.")

	keyDue = describe("key_rotation_due_seconds", "Time until the next key rotation, by rotate_keys_every; negative if it is overdue.")

	generatorLeft     = describe("generator_left", "Share of a field of a generator's numbers that is left, from 1 down to 0.", "generator", "field")
	generatorLoads    = describe("generator_segment_loads_total", "Segments that were requested, by outcome.", "generator", "outcome")
	generatorWaits    = describe("generator_segment_waits_total", "Callers that waited for a segment.", "generator")
	generatorMembers  = describe("generator_members", "Members and tables of a generator: 1 for the current state of each.", "generator", "member", "state")
	generatorBreakers = describe("generator_breakers", "Circuit breakers in front of a server, by state.", "generator", "before", "state")

	openRequests = describe("ids_requests_total", "Requests on ids.listen, by HTTP status; those for /healthz are left out.", "status")
	openNumbers  = describe("ids_numbers_total", "Numbers and texts that ids.listen has issued.")

	mirrorReads   = describe("mirror_reads_total", "Reads of moving genes that were chosen to be mirrored, by outcome.", "move", "outcome")
	mirrorSeconds = describe("mirror_read_seconds", "How long mirrored reads took at source and target, at a quantile.", "move", "side", "quantile")
	mirrorAway    = describe("mirror_target_away", "1 while a mirror's target can't be queried.", "move")

	findingsOpen         = describe("findings", "Findings of the cluster that are not acknowledged, by severity. All processes report the same.", "severity")
	findingsAcknowledged = describe("findings_acknowledged", "Findings of the cluster that an operator has acknowledged.")

	spansSent    = describe("trace_spans_sent_total", "Spans of traces that the collector has accepted.")
	spansDropped = describe("trace_spans_dropped_total", "Spans of traces that were lost, because the collector did not accept them or too many waited.")

	eventsWritten = describe("events_written_total", "Events of this process that were written to the timeline after their effect.")
	eventsDropped = describe("events_dropped_total", "Events of this process that are missing in the timeline, because etcd did not accept them or there were too many.")

	dialFail   = describe("backend_login_failures_total", "Logins at a shard that failed.", "shard")
	poolResets = describe("backend_resets_total", "Connections to a shard that were reset before they were reused, by reason.", "shard", "reason")
	unforeseen = describe("backend_unforeseen_changes_total", "Connections to a shard that were reused without a reset although the server reported a change of state.", "shard")
)

// collector reads a proxy's state at each scrape.
type collector struct {
	p      Proxy
	ids    Generators                   // nil if there are none
	open   func() generators.OpenCounts // nil without such a port
	traced func() tracing.Counts        // nil if there are none
	events func() events.Counts         // nil if there are none
	keys   func() fleet.Keys            // nil if there are none
	watch  func() map[router.ShardName]failover.Watched
	moves  *moves
	state  func() *overview.State // the state as of the last query of the cluster; nil: it was never queried
	now    func() time.Time
}

func newCollector(o Options, state func() *overview.State) prometheus.Collector {
	return collector{o.Proxy, o.IDs, o.Open, o.Traced, o.Events, o.Keys, o.Watched, &moves{source: o.Cluster, now: o.Now}, state, o.Now}
}

func (c collector) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, out) }

func (c collector) Collect(out chan<- prometheus.Metric) {
	s := c.p.Status()
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v uint64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
	}
	gauge(sessions, float64(s.Sessions))
	if s.Memory != nil {
		gauge(kept, float64(s.Memory.Held()))
		gauge(mayKeep, float64(s.Memory.Most()))
	}
	counter(accepted, s.Accepted)
	counter(refusedConn, s.Refused)
	gauge(mapVersion, float64(s.MapVersion))
	gauge(sourceUp, truth(s.Live.Away == nil))
	gauge(refusedDecl, truth(s.Live.Refused != nil))
	statementCounts(s, counter)
	for _, replica := range s.Replicas {
		gauge(replicaLag, replica.Lag.Seconds(), string(replica.Shard), replica.Addr)
		gauge(replicaUsable, truth(replica.Usable), string(replica.Shard), replica.Addr)
	}
	serverMetrics(s.Servers, gauge)
	transactionCounts(s, gauge, counter)
	idMetrics(s.IDs, gauge, counter)
	if c.ids != nil {
		generatorMetrics(c.ids.Status(), gauge, counter)
	}
	if c.open != nil {
		counts := c.open()
		counter(openNumbers, counts.Numbers)
		for status, n := range counts.ByStatus {
			counter(openRequests, n, strconv.Itoa(status))
		}
	}
	if c.watch != nil {
		for shard, how := range c.watch() {
			gauge(primaryTrouble, truth(how.Trouble), string(shard))
			gauge(primaryMayLose, truth(how.MayLose), string(shard))
			gauge(primaryWaits, truth(how.Waits), string(shard))
			gauge(errantServers, float64(how.Errant), string(shard))
		}
	}
	if c.traced != nil {
		spans := c.traced()
		counter(spansSent, spans.Sent)
		counter(spansDropped, spans.Dropped)
	}
	if c.events != nil {
		recorded := c.events()
		counter(eventsWritten, recorded.Written)
		counter(eventsDropped, recorded.Dropped)
	}
	if c.keys != nil {
		keys := c.keys()
		gauge(keyVersion, float64(keys.Stamps))
		gauge(keyRefused, truth(keys.Refused != ""))
		if every := c.p.Declared().Settings.KeyRotation(); every > 0 && !keys.Since.IsZero() {
			gauge(keyDue, keys.Since.Add(every).Sub(c.now()).Seconds())
		}
	}
	gauge(holding, float64(s.Counts.Holding.Load()))
	for _, reason := range txn.Reasons() {
		now, total := s.Counts.Reserved(reason)
		gauge(pinned, float64(now), reason.String())
		counter(pins, total, reason.String())
	}
	if s.Meter != nil {
		meterMetrics(s.Meter, out, gauge, counter)
	}
	moveMetrics(c.moves.look(), c.moves.now(), gauge)
	if state := c.state(); state != nil {
		findingMetrics(state.Summary, gauge)
	}
	mirrorMetrics(s.Mirrored, gauge, counter)
	for shard, pool := range s.Pools {
		poolMetrics(string(shard), pool, gauge, counter)
	}
}

func statementCounts(s proxy.Status, counter func(*prometheus.Desc, uint64, ...string)) {
	counter(statements, s.Counts.Statements.Load())
	counter(oneShard, s.Counts.OneShard.Load())
	counter(scattered, s.Counts.Scattered.Load())
	counter(gathered, s.Counts.Gathered.Load())
	counter(retried, s.Counts.Retried.Load())
	for code, n := range s.Counts.Refused.All {
		counter(refused, n, code.String())
	}
	counter(silent, s.Counts.Silent.Load())
	counter(stalled, s.Counts.StalledWrites.Load(), "write")
	counter(stalled, s.Counts.StalledReads.Load(), "read")
	counter(onReplicas, s.Counts.OnReplicas.Load())
	counter(denied, s.Counts.Denied.Load())
	counter(failed, s.Counts.Failed.Load())
	counter(parsed, s.Counts.Parsed.Load())
	if s.Slow != nil {
		counter(slow, s.Slow.Seen())
		counter(unlogged, s.Slow.Unlogged())
	}
	counter(stamped, s.Counts.Stamped.Load())
	counter(held, s.Counts.Held.Load())
	counter(cancelled, s.Counts.HeldTooLong.Load(), "held_too_long")
	counter(cancelled, s.Counts.Yielded.Load(), "handed_over")
	counter(cancelled, s.Counts.Killed.Load(), "killed")
	counter(cancelled, s.Counts.TimedOut.Load(), "timeout")
	counter(cancelled, s.Counts.Abandoned.Load(), "client_gone")
	counter(cancelled, s.Counts.ShutDown.Load(), "shutdown")
}

func transactionCounts(s proxy.Status, gauge func(*prometheus.Desc, float64, ...string), counter func(*prometheus.Desc, uint64, ...string)) {
	for _, v := range []twophase.Verdict{twophase.Committed, twophase.RolledBack, twophase.Unknown} {
		counter(transactions, s.Counts.Transactions.One(v), v.String(), "one")
		counter(transactions, s.Counts.Transactions.Several(v), v.String(), "several")
	}
	if s.Recovery != nil {
		counter(recovered, s.Recovery.Committed.Load(), twophase.Committed.String())
		counter(recovered, s.Recovery.RolledBack.Load(), twophase.RolledBack.String())
		gauge(inDoubt, float64(s.Recovery.InDoubt.Load()))
	}
}

func idMetrics(all []proxy.IDs, gauge func(*prometheus.Desc, float64, ...string), counter func(*prometheus.Desc, uint64, ...string)) {
	for _, ids := range all {
		table, layout := ids.Table.String(), ids.Layout.Name()
		gauge(sequenceLeft, ids.SequenceLeft, table, layout)
		gauge(versionsLeft, ids.KeyVersionsLeft, table, layout)
		counter(idLoads, ids.Loads, table, layout, "granted")
		counter(idLoads, ids.Failed, table, layout, "failed")
		counter(idWaits, ids.Waits, table, layout)
	}
}

func generatorMetrics(all []generators.Status, gauge func(*prometheus.Desc, float64, ...string), counter func(*prometheus.Desc, uint64, ...string)) {
	for _, g := range all {
		for field, left := range g.Left {
			gauge(generatorLeft, left, g.Name, field)
		}
		counter(generatorLoads, g.Loads, g.Name, "granted")
		counter(generatorLoads, g.Failed, g.Name, "failed")
		counter(generatorWaits, g.Waits, g.Name)
		for _, member := range g.Members {
			for _, state := range ha.States {
				gauge(generatorMembers, truth(member.State == state), member.Of, member.Name, state.String())
			}
		}
		for before, states := range g.Breakers {
			for state, n := range states {
				gauge(generatorBreakers, float64(n), g.Name, before, state.String())
			}
		}
	}
}

func findingMetrics(s finding.Summary, gauge func(*prometheus.Desc, float64, ...string)) {
	gauge(findingsOpen, float64(s.Outages), finding.Outage.String())
	gauge(findingsOpen, float64(s.AtRisk), finding.AtRisk.String())
	gauge(findingsOpen, float64(s.Advice), finding.Advice.String())
	gauge(findingsAcknowledged, float64(s.Acknowledged))
}

func poolMetrics(shard string, p backend.Stats, gauge func(*prometheus.Desc, float64, ...string), counter func(*prometheus.Desc, uint64, ...string)) {
	gauge(poolOpen, float64(p.Idle), shard, "idle")
	gauge(poolOpen, float64(p.Lent), shard, "in_use")
	gauge(poolWait, float64(p.Waiting), shard)
	gauge(poolLimit, float64(p.Limit), shard)
	gauge(poolBlocked, p.Blocked.Seconds(), shard)
	gauge(poolCut, truth(!p.Unleased.IsZero()), shard)
	counter(poolStale, p.StaleReads, shard)
	counter(poolLogins, p.Logins, shard)
	counter(poolLent, p.Borrowed, shard)
	counter(poolWaits, p.Waits, shard)
	counter(poolExhausted, p.Exhausted, shard)
	counter(poolClosed, p.Dead, shard, "dead")
	counter(poolClosed, p.Discarded, shard, "used_up")
	counter(dialFail, p.LoginFailures, shard)
	counter(poolResets, p.Cleaned, shard, "state")
	counter(poolResets, p.Resets-p.Cleaned, shard, "settings")
	counter(unforeseen, p.Unforeseen, shard)
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
