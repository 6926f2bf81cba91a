package moves

import (
	"errors"
	"testing"

	"locus/migrate/checkpoint"
)

// A process that deletes rows of a job stops once another one has taken over the job, or has ended it, because the
// genes may have returned since.
func TestDeletionIsFenced(t *testing.T) {
	eachPair(t, func(t *testing.T, p *pair) {
		p.on(p.source, "CREATE TABLE rows_left (id INT PRIMARY KEY)", "INSERT INTO rows_left VALUES (1), (2), (3)")
		first, second := p.dial(p.source), p.dial(p.source)
		if err := checkpoint.Create(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if _, begun, err := checkpoint.Raise(t.Context(), first, p.job); err != nil || begun {
			t.Fatalf("a job that nobody began: %v (%v)", begun, err)
		}
		if _, _, err := checkpoint.TakeOver(t.Context(), first, p.job, 3); err != nil {
			t.Fatal(err)
		}
		remove := func(epoch uint64) error {
			return checkpoint.Within(t.Context(), first, p.job, epoch, func() error {
				_, err := first.Exec(t.Context(), "DELETE FROM "+p.database+".rows_left LIMIT 1")
				return err
			})
		}
		mine, begun, err := checkpoint.Raise(t.Context(), first, p.job)
		if err != nil || !begun {
			t.Fatalf("begun: %v (%v)", begun, err)
		}
		if err := remove(mine); err != nil {
			t.Fatal(err)
		}
		theirs, _, err := checkpoint.Raise(t.Context(), second, p.job)
		if err != nil || theirs <= mine {
			t.Fatalf("epoch %d after %d (%v)", theirs, mine, err)
		}
		if err := remove(mine); !errors.Is(err, checkpoint.ErrFenced) {
			t.Errorf("after another one has taken it up: %v", err)
		}
		if err := checkpoint.Forget(t.Context(), second, p.job); err != nil {
			t.Fatal(err)
		}
		if err := remove(theirs); !errors.Is(err, checkpoint.ErrFenced) {
			t.Errorf("after the end: %v", err)
		}
		p.wantRows(p.source, "SELECT COUNT(*) FROM rows_left", "2")
	})
}
