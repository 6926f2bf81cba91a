// Package watch displays moves on a terminal while they run: bars, rates and the next action. If the output isn't a
// terminal, it prints a line per job and second.
//
// It owns the display and the keys. It reads records and reports through a small interface and never changes anything.
package watch
