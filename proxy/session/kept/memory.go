package kept

import "sync/atomic"

// Memory is what all sessions of a process may keep from command to command, in bytes.
// It is safe for concurrent use.
type Memory struct {
	most int64
	held atomic.Int64
}

// DefaultMemory is what sessions may keep unless the configuration says otherwise.
const DefaultMemory = 1 << 30

// NewMemory makes a budget of so many bytes.
func NewMemory(most int64) *Memory { return &Memory{most: most} }

// Held is what is kept now.
func (m *Memory) Held() int64 { return m.held.Load() }

// Most is the budget.
func (m *Memory) Most() int64 { return m.most }

// take counts n bytes more, unless they would be too many.
func (m *Memory) take(n int) bool {
	if m.held.Add(int64(n)) > m.most {
		m.held.Add(-int64(n))
		return false
	}
	return true
}

// give counts n bytes less.
func (m *Memory) give(n int) { m.held.Add(-int64(n)) }
