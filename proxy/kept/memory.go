package kept

import "sync/atomic"

// Memory is the budget in bytes for the memory that all sessions of a process keep between commands. It is safe for concurrent
// use.
type Memory struct {
	most int64
	held atomic.Int64
}

// DefaultMemory is the default budget in bytes.
const DefaultMemory = 1 << 30

// NewMemory returns a budget of most bytes.
func NewMemory(most int64) *Memory { return &Memory{most: most} }

// Held returns the bytes that are kept now.
func (m *Memory) Held() int64 { return m.held.Load() }

// Most returns the budget.
func (m *Memory) Most() int64 { return m.most }

// take adds n bytes. It returns false if that exceeds the budget.
func (m *Memory) take(n int) bool {
	if m.held.Add(int64(n)) > m.most {
		m.held.Add(-int64(n))
		return false
	}
	return true
}

// give subtracts n bytes.
func (m *Memory) give(n int) { m.held.Add(-int64(n)) }
