package interrupt

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"
)

// order is one order of steps. Each actor offers its next step and waits until it is chosen.
type order struct {
	mu      sync.Mutex
	offered map[string]chan struct{}
	taken   []string
	wrong   []string
	choose  func(n int) int
}

func (o *order) offer(step string) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.offered[step] != nil { // a number distinguishes two steps of the same kind
		step += "'"
	}
	chosen := make(chan struct{})
	o.offered[step] = chosen
	return chosen
}

// later begins the names of those steps before which the time passes after which shards are asked again.
const later = "later: "

func (o *order) step(step string) { <-o.offer(step) }

func (o *order) withdraw(chosen <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for step, c := range o.offered {
		if c == chosen {
			delete(o.offered, step)
		}
	}
}

// next takes a step. It returns false if there is none.
func (o *order) next() bool {
	synctest.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.offered) == 0 {
		return false
	}
	steps := make([]string, 0, len(o.offered))
	for step := range o.offered {
		steps = append(steps, step)
	}
	slices.Sort(steps)
	step := steps[0]
	if len(steps) > 1 {
		step = steps[o.choose(len(steps))]
	}
	if strings.HasPrefix(step, later) {
		<-time.After(insistPause)
	}
	o.taken = append(o.taken, step)
	close(o.offered[step])
	delete(o.offered, step)
	return true
}

func (o *order) fault(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.wrong = append(o.wrong, fmt.Sprintf(format, args...))
}

// String returns the faults and the steps.
func (o *order) String() string {
	return strings.Join(o.wrong, "; ") + "\n" + strings.Join(o.taken, "\n")
}
