package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/go-mysql-org/go-mysql/client"
	"golang.org/x/sys/unix"
)

// machine describes the machine.
func machine() string {
	return fmt.Sprintf("%d cores shared by clients, hop and servers; Linux %s; %s", runtime.NumCPU(), kernel(), runtime.Version())
}

// collectFacts describes the measurement and its environment, so that readers can repeat it.
func (s *stand) collectFacts(ctx context.Context) ([]string, error) {
	var server string
	err := s.onShard(ctx, s.shards[0], func(_ context.Context, c *client.Conn) (err error) {
		server, err = oneString(c, "SELECT VERSION()")
		return err
	})
	if err != nil {
		return nil, err
	}
	threads := "nbthread left at its default, one per core"
	if s.haproxyThreads > 0 {
		threads = fmt.Sprintf("nbthread %d", s.haproxyThreads)
	}
	return []string{
		"shards: server " + server,
		fmt.Sprintf("haproxy %s, mode tcp, %s", haproxyVersion(), threads),
		fmt.Sprintf("clients: one thread, closed loop, DEPRECATE_EOF %s, every answer checked", onOff(s.deprecateEOF)),
		fmt.Sprintf("%d alternating rounds of %s per lane, after %s of warm-up each; ratios are round by round: median (least–most); "+
			"p50 and p99 are of a transaction where it is one",
			s.rounds, s.length, warmUp),
	}, nil
}

// busy returns how many processes are running or ready on this machine, including ours. In figures about moves
// several processes take part, so a ratio does not cancel the effect of other load.
func busy() string {
	text, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 {
		return "load of the machine unknown"
	}
	return fmt.Sprintf("load of the machine at the end %s, in the quarter of an hour before %s", fields[0], fields[2])
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return "of unknown version"
	}
	return number.FindString(unix.ByteSliceToString(u.Release[:]))
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}
