package cluster

import (
	"errors"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// A value contradicts the model if it lacks an acknowledged addition, has one too many, or is lower than a value that was read
// before.
func TestCountersNotice(t *testing.T) {
	k := &Counters{rows: map[int64]*counted{1: {}}}
	wrong := func(n int64, want bool) {
		t.Helper()
		before := len(k.wrong)
		k.read(1, n, "the test reads")
		if got := len(k.wrong) > before; got != want {
			t.Errorf("%d contradicts %+v: %v", n, k.rows[1], got)
		}
	}
	for _, err := range []error{nil, nil, errors.New("broken pipe"), &mysql.MySQLError{Number: 1213}} {
		k.added(1, err)
	}
	wrong(1, true)
	wrong(4, true)
	wrong(2, false)
	wrong(3, true) // the addition whose outcome was unknown did not take effect
	k.added(1, errors.New("broken pipe"))
	wrong(3, false)
	wrong(2, true)
	k.read(2, 0, "the test reads")
	if len(k.wrong) != 5 {
		t.Errorf("a row that no client has is no contradiction: %q", k.wrong)
	}
}
