package switchover

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Missing returns the transactions of has that other lacks, or "" if there are none. Both are GTID sets as a
// [View] contains them. On live servers, other must be read after has.
func Missing(mariadb bool, has, other string) (string, error) {
	if mariadb {
		return missingStates(has, other), nil
	}
	of, err := mysql.ParseMysqlGTIDSet(has)
	if err != nil {
		return "", fmt.Errorf("the transactions of a server: %q: %w", has, err)
	}
	from, err := mysql.ParseMysqlGTIDSet(other)
	if err != nil {
		return "", fmt.Errorf("the transactions of a server: %q: %w", other, err)
	}
	missing := mysql.MysqlGTIDSet{}
	known := *from.(*mysql.MysqlGTIDSet)
	for origin, tags := range *of.(*mysql.MysqlGTIDSet) {
		for tag, intervals := range tags {
			if left := subtract(intervals, known[origin][tag]); len(left) > 0 {
				if missing[origin] == nil {
					missing[origin] = map[mysql.Tag]mysql.IntervalSlice{}
				}
				missing[origin][tag] = left
			}
		}
	}
	if len(missing) == 0 {
		return "", nil
	}
	return missing.String(), nil
}

// subtract returns the sorted intervals of the first list without those of the second, which is sorted as well.
func subtract(of, others mysql.IntervalSlice) (left mysql.IntervalSlice) {
	for _, i := range of {
		for _, o := range others {
			if o.Stop <= i.Start || o.Start >= i.Stop {
				continue
			}
			if o.Start > i.Start {
				left = append(left, mysql.Interval{Start: i.Start, Stop: o.Start})
			}
			i.Start = o.Stop
		}
		if i.Start < i.Stop {
			left = append(left, i)
		}
	}
	return left
}

// union returns the union of two GTID sets.
func union(mariadb bool, a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	if mariadb {
		return unionStates(a, b)
	}
	set, err := mysql.ParseMysqlGTIDSet(a)
	if err == nil {
		err = set.Update(b)
	}
	if err != nil {
		return a + "," + b // an invalid text, which every reader rejects too
	}
	return set.String()
}

// lastOf returns the last number of each domain and server in MariaDB's GTID states.
func lastOf(states ...string) map[string]uint64 {
	last := map[string]uint64{}
	for _, g := range strings.Split(strings.Join(states, ","), ",") {
		if origin, n, ok := splitGTID(g); ok {
			last[origin] = max(last[origin], n)
		}
	}
	return last
}

// unionStates returns the union of two MariaDB GTID states.
func unionStates(a, b string) string {
	known := lastOf(a, b)
	list := make([]string, 0, len(known))
	for _, origin := range slices.Sorted(maps.Keys(known)) {
		list = append(list, fmt.Sprintf("%s-%d", origin, known[origin]))
	}
	return strings.Join(list, ",")
}

// Common returns the part of a MariaDB server's GTID state that at least one of the others has too, as their
// [View]s contain it.
func Common(has string, others []string) string {
	known := lastOf(others...)
	var common []string
	for _, g := range strings.Split(has, ",") {
		if origin, n, ok := splitGTID(g); ok && known[origin] > 0 {
			common = append(common, fmt.Sprintf("%s-%d", origin, min(n, known[origin])))
		}
	}
	return strings.Join(common, ",")
}

// missingStates implements Missing for MariaDB's gtid_binlog_state, which holds the last number of each domain
// and server.
func missingStates(has, other string) string {
	known := lastOf(other)
	var missing []string
	for _, g := range strings.Split(has, ",") {
		if origin, n, ok := splitGTID(g); ok && n > known[origin] {
			missing = append(missing, strings.TrimSpace(g))
		}
	}
	return strings.Join(missing, ",")
}

// Skipped returns the transactions of the primary that a MariaDB replica is known to have skipped, or "". The
// replica wrote them itself as the primary and rolled them back at its restart (init_rpl_role). Without
// gtid_strict_mode it then skipped them when replication sent them, because they carry its own server ID.
func (v View) Skipped(primary string) string {
	if !v.MariaDB {
		return ""
	}
	last, newest := map[string]uint64{}, map[string]uint64{} // by origin and by domain
	for _, g := range strings.Split(v.All(), ",") {
		if origin, n, ok := splitGTID(g); ok {
			domain, _, _ := strings.Cut(origin, "-")
			last[origin], newest[domain] = n, max(newest[domain], n)
		}
	}
	for _, g := range strings.Split(primary, ",") {
		origin, n, ok := splitGTID(g)
		domain, server, _ := strings.Cut(origin, "-")
		if ok && server == v.Identity && last[origin] < n && n < newest[domain] {
			return strings.TrimSpace(g)
		}
	}
	return ""
}

func splitGTID(text string) (origin string, n uint64, ok bool) {
	text = strings.TrimSpace(text)
	at := strings.LastIndexByte(text, '-')
	if at < 0 {
		return "", 0, false
	}
	_, err := fmt.Sscan(text[at+1:], &n)
	return text[:at], n, err == nil
}
