package switchover

import (
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Missing is what of the transactions that a server has another one lacks, both as their
// [View] has them; empty: nothing. The other one is looked at later, where both go on.
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

// subtract is what of sorted intervals is in none of others, which are sorted too.
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

// missingStates is it for MariaDB's gtid_binlog_state: the last number of each domain and server.
func missingStates(has, other string) string {
	known := map[string]uint64{}
	for _, g := range strings.Split(other, ",") {
		if origin, n, ok := splitGTID(g); ok {
			known[origin] = n
		}
	}
	var missing []string
	for _, g := range strings.Split(has, ",") {
		if origin, n, ok := splitGTID(g); ok && n > known[origin] {
			missing = append(missing, strings.TrimSpace(g))
		}
	}
	return strings.Join(missing, ",")
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
