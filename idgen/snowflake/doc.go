// Package snowflake makes numbers out of the time, a worker's number and a
// sequence:
//
//	| 0 (1) | milliseconds since 2024-01-01 (41) | worker (10) | sequence (12) |
//
// It owns the workers' numbers (their claims in a key-value store, their file on
// disk) and the rules about clocks. It never trusts a clock alone.
//
// # Who may use which millisecond
//
// A claim says that a worker's number is one process's for all milliseconds up
// to a bound, which lies a day ahead and is moved on by compare-and-swap. Who
// takes a number over that was not moved on begins above that bound. So two
// processes never share a millisecond of a number, however long one of them was
// stopped and whatever its clock said; and a process does without the store for
// as long as its bound is ahead.
//
// The file says the same of one process and the next with the same directory:
// times up to its bound, a few seconds ahead, may be used up. It is moved on
// every three seconds. A start waits until the clock has passed the bound; a
// clock that is further behind is refused. Its lock keeps a second process out.
//
// While running, a clock that goes back by up to 5 ms is waited for. More is an
// error until the clock has caught up.
package snowflake
