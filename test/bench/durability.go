package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-mysql-org/go-mysql/client"
)

// relaxed are the settings under which writes are measured. With a flush for each commit the disk would
// dominate, and all lanes would look alike.
var relaxed = []struct{ variable, value string }{
	{"innodb_flush_log_at_trx_commit", "2"},
	{"sync_binlog", "0"},
}

// relax changes the settings on a shard, and restores them at the end. If a server refuses a setting, the measurement runs
// without it, and the report says so.
func (s *stand) relax(ctx context.Context, shard readyShard) {
	var said []string
	for _, r := range relaxed {
		err := s.onShard(ctx, shard, func(_ context.Context, c *client.Conn) error {
			return s.set(c, shard, r.variable, r.value)
		})
		if err != nil {
			said = append(said, fmt.Sprintf("%s as it was (%v)", r.variable, err))
			continue
		}
		said = append(said, r.variable+" = "+r.value)
	}
	s.facts = append(s.facts, fmt.Sprintf("%s, for this run: %s", shard.Name, strings.Join(said, ", ")))
}

func (s *stand) set(c *client.Conn, shard readyShard, variable, value string) error {
	old, err := oneString(c, "SELECT @@GLOBAL."+variable)
	if err != nil {
		return err
	}
	if err := setGlobal(c, variable, value); err != nil {
		return err
	}
	s.undo = append(s.undo, func() { s.restore(shard, variable, old) })
	return nil
}

func (s *stand) restore(shard readyShard, variable, value string) {
	ctx, cancel := context.WithTimeout(context.Background(), undoPatience)
	defer cancel()
	err := s.onShard(ctx, shard, func(_ context.Context, c *client.Conn) error { return setGlobal(c, variable, value) })
	if err != nil {
		fmt.Fprintf(s.out, "not restored: %v\n", err)
	}
}

func setGlobal(c *client.Conn, variable, value string) error {
	if _, err := c.Execute(fmt.Sprintf("SET GLOBAL %s = %s", variable, value)); err != nil {
		return fmt.Errorf("set global %s = %s: %w", variable, value, err)
	}
	return nil
}

// oneString returns the only value of a query's result.
func oneString(c *client.Conn, query string) (string, error) {
	r, err := c.Execute(query)
	if err != nil {
		return "", fmt.Errorf("%s: %w", query, err)
	}
	v, err := r.GetString(0, 0)
	if err != nil {
		return "", fmt.Errorf("%s: %w", query, err)
	}
	return v, nil
}
