package fakeshard

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"locus/proxy/sysvars"
	"locus/router"
)

// Log contains the statements that the shards of a cluster received, without settings.
type Log struct {
	t          testing.TB
	shards     map[router.ShardName]*Server
	statements map[router.ShardName][]string
	warned     []router.ShardName
}

// Log returns the log of the cluster's shards. A cluster has one.
func (c *Cluster) Log(t testing.TB) *Log {
	return &Log{t: t, shards: c.Shards, statements: map[router.ShardName][]string{}}
}

// Statements returns the statements that a shard received since the last call, without the query for warnings.
func (l *Log) Statements(shard router.ShardName) []string {
	l.read()
	sent := l.statements[shard]
	delete(l.statements, shard)
	return sent
}

// WarnedBy returns the shards that were asked for their warnings, in the order of their names for each call.
func (l *Log) WarnedBy() []router.ShardName {
	l.read()
	return l.warned
}

// Sent compares the statements that each shard received since the last call with the wanted texts, separated by
// "; ".
func (l *Log) Sent(want map[router.ShardName]string) {
	l.t.Helper()
	for shard := range l.shards {
		if got := strings.Join(l.Statements(shard), "; "); got != want[shard] {
			l.t.Errorf("%s was sent %q, want %q", shard, got, want[shard])
		}
	}
}

func (l *Log) read() {
	for _, shard := range slices.Sorted(maps.Keys(l.shards)) {
		for _, text := range l.shards[shard].Statements() {
			if text == sysvars.AskWarnings {
				l.warned = append(l.warned, shard)
			} else {
				l.statements[shard] = append(l.statements[shard], text)
			}
		}
	}
}
