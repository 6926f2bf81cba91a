package session

import (
	"math"
	"testing"
	"time"

	"locus/test/shop"
)

// Placeholders of statements that the session runs itself, and of CALL.
func TestBoundHere(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t,
			"CREATE TABLE called (a INT, b VARCHAR(20))",
			"CREATE PROCEDURE bound (x INT, y VARCHAR(20)) INSERT INTO called VALUES (x, y)",
		)
		for _, c := range []struct {
			statement string
			args      []any
		}{
			{"SET @i = ?, @s = ?", []any{-7, "it's Ω \\ ?"}},
			{"SET @f = ?, @n = ?, @b = ?", []any{2.5, nil, []byte{0, 1, 0xff}}},
			{"SET @big = ?, @e = ?", []any{uint64(math.MaxUint64), 1e300}},
			{"SET @t = ?, @x = ? + @i", []any{time.Date(2024, 2, 29, 23, 59, 58, 123456000, time.UTC), 1}},
			{"SET sql_mode = ?", []any{"ANSI_QUOTES"}},
			{"SET @@session.group_concat_max_len = ?", []any{2048}},
			{"CALL bound(?, ?)", []any{5, "x"}},
			{"CALL bound(@i, CONCAT(?, ?))", []any{"y", 'z'}},
			{"SET nothing_like_it = ?", []any{1}},
			{"SET autocommit = ?", []any{0}},
			{"SELECT CONNECTION_ID() = ?", []any{0}},
		} {
			want, got := p.plain.say(c.statement, c.args...), p.proxy.say(c.statement, c.args...)
			if got != want {
				t.Errorf("%s\nproxy: %s\nplain: %s", c.statement, got, want)
			}
		}
		p.alike(t,
			"SELECT @i, @s, @f, @n, HEX(@b), @big, @e, @t, @x",
			"SELECT @i + 0, @s = 'x', COLLATION(@s), @@sql_mode, @@group_concat_max_len, @@autocommit",
			"SELECT * FROM called",
			"SELECT CONNECTION_ID() = 0, CONNECTION_ID() > 0, 0 = CONNECTION_ID(), (CONNECTION_ID()) * 0, CONNECTION_ID() IS NULL",
			"SELECT IF(CONNECTION_ID() = 0, 'zero', 'more') AS x, NOT CONNECTION_ID(), connection_id ( ) = 0 OR FALSE",
		)
	})
}
