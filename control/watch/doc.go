// Package watch shows moves on a terminal as they go: bars, rates and what is
// next, or a line per job and second where nobody looks at a terminal.
//
// It owns what is drawn, and the keys that are pressed. It reads records and
// reports through a small interface and never changes anything.
package watch
