package cluster

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// stops are the stop points of one process. A line "stop a b*5" on its input arms them and disarms all others: the process stops when it
// next comes to a, and when it comes to b for the fifth time. A goroutine that stops prints "at" and the point, and waits for a line "go".
type stops struct {
	mu    sync.Mutex
	armed map[string]int // how many times to come there; the last one stops
	goOn  chan struct{}
}

func readStops(input io.Reader) *stops {
	s := &stops{goOn: make(chan struct{}, 1)}
	go func() { // this goroutine ends with the process
		for lines := bufio.NewScanner(input); lines.Scan(); {
			if points, ok := strings.CutPrefix(lines.Text(), "stop "); ok {
				s.arm(strings.Fields(points))
				continue
			}
			s.goOn <- struct{}{}
		}
	}()
	return s
}

// arm also discards a line "go" that came while nothing had stopped.
func (s *stops) arm(points []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.goOn:
	default:
	}
	s.armed = map[string]int{}
	for _, p := range points {
		point, times, several := strings.Cut(p, "*")
		s.armed[point] = 1
		if n, err := strconv.Atoi(times); several && err == nil {
			s.armed[point] = n
		}
	}
}

func (s *stops) at(point string) {
	s.mu.Lock()
	n := s.armed[point]
	if n > 0 {
		s.armed[point] = n - 1
	}
	s.mu.Unlock()
	if n == 1 {
		fmt.Println("at", point)
		<-s.goOn
	}
}
