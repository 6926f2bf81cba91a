package cutover_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"locus/migrate/cutover"
)

var errBroken = errors.New("broken")

// fake is a cluster of one gene. It records its owner, whether statements are paused, and the order of the
// effects.
type fake struct {
	log       []string
	held      bool
	handed    bool
	breaks    string // the line that fails,
	after     bool   // after it has had its effect
	unknown   bool   // the error of the commit doesn't tell whether it took effect
	unsettled bool
}

func (f *fake) step() *cutover.Step {
	line := func(name string, effect func()) func(context.Context) error {
		return func(ctx context.Context) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			f.log = append(f.log, name)
			if f.breaks != name {
				effect()
				return nil
			}
			if f.after {
				effect()
			}
			if name == "commit" && f.unknown {
				return fmt.Errorf("%w: %w", cutover.ErrUnknown, errBroken)
			}
			return errBroken
		}
	}
	none := func() {}
	return &cutover.Step{
		Before: time.Minute, Within: time.Minute, Undo: time.Minute,
		Effects: cutover.Effects{
			Check:    line("check", none),
			Fence:    line("fence", func() { f.held = true }),
			Position: line("position", none),
			Reverse:  line("reverse", none),
			Commit:   line("commit", func() { f.handed, f.held = true, false }),
			Settle: func(context.Context) (bool, error) {
				f.log = append(f.log, "settle")
				if f.unsettled {
					return false, errBroken
				}
				return f.handed, nil
			},
			Release: line("release", func() { f.held = false }),
		},
	}
}

func TestTheOrder(t *testing.T) {
	f := &fake{}
	s := f.step()
	s.Stop = func(point string) { f.log = append(f.log, "at "+point) }
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := "at check,check,at fence,fence,at position,position,at reverse,reverse,at commit,commit,at committed"
	if got := strings.Join(f.log, ","); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !f.handed || f.held {
		t.Errorf("handed over %v, held %v", f.handed, f.held)
	}
	if got := lines(s); got != "check,fence,position,reverse,commit" {
		t.Errorf("told of %s", got)
	}
}

// lines returns the recorded lines of a step; a failed one is marked.
func lines(s *cutover.Step) string {
	var list []string
	for _, l := range s.Lines {
		name := l.Name
		if l.Failed {
			name += " failed"
		}
		list = append(list, name)
	}
	return strings.Join(list, ",")
}

// TestEveryLineFails makes each line fail, before and after its effect. No fence may be left, and the error must match the
// owner of the genes.
func TestEveryLineFails(t *testing.T) {
	for _, broken := range []string{"check", "fence", "position", "reverse", "commit"} {
		for _, after := range []bool{false, true} {
			for _, unknown := range []bool{false, true} {
				if unknown != (broken == "commit") {
					continue // only a commit's outcome may be unknown, and a failed one that happened must be
				}
				f := &fake{breaks: broken, after: after, unknown: unknown}
				s := f.step()
				err := s.Run(t.Context())
				if told := lines(s); strings.Count(told, "failed") != 1 || !strings.Contains(told, broken+" failed") || strings.Count(told, ",")+1 != len(f.log) {
					t.Errorf("told of %s, and did %v", told, f.log)
				}
				name := fmt.Sprintf("%s fails, after its effect: %v", broken, after)
				if f.held {
					t.Errorf("%s: the fence was left: %v", name, f.log)
				}
				if (err == nil) != f.handed {
					t.Errorf("%s: handed over %v, and the error is %v", name, f.handed, err)
				}
				if broken == "check" && slices.Contains(f.log, "fence") {
					t.Errorf("%s: fenced all the same", name)
				}
			}
		}
	}
}

// TestAnUnknownCommitIsNotUndone: clients may already use the new owner after a commit with an unknown outcome.
func TestAnUnknownCommitIsNotUndone(t *testing.T) {
	f := &fake{breaks: "commit", after: true, unknown: true, unsettled: true}
	err := f.step().Run(t.Context())
	if !errors.Is(err, cutover.ErrUnknown) {
		t.Errorf("%v", err)
	}
	if !f.handed {
		t.Error("undone")
	}
}

// TestTheUndoOutlivesTheStep: its context has ended, and the fence goes all the same.
func TestTheUndoOutlivesTheStep(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fake{}
	s := f.step()
	s.Stop = func(point string) {
		if point == cutover.BeforeCommit {
			cancel()
		}
	}
	if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if f.held || f.handed {
		t.Errorf("held %v, handed over %v", f.held, f.handed)
	}
}

// TestALineThatHangs: a step gives up any line that hangs, and removes the fence.
func TestALineThatHangs(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	for name, replace := range map[string]func(*cutover.Effects){
		"check":    func(e *cutover.Effects) { e.Check = hang },
		"fence":    func(e *cutover.Effects) { e.Fence = hang },
		"position": func(e *cutover.Effects) { e.Position = hang },
		"reverse":  func(e *cutover.Effects) { e.Reverse = hang },
		"commit":   func(e *cutover.Effects) { e.Commit = hang },
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &fake{}
			s := f.step()
			replace(&s.Effects)
			if err := s.Run(t.Context()); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), name+": ") {
				t.Errorf("%s hangs: %v", name, err)
			}
			if f.held || f.handed {
				t.Errorf("%s hangs: held %v, handed over %v", name, f.held, f.handed)
			}
		})
	}
}
