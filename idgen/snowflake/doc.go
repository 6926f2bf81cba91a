// Package snowflake generates numbers from the time, a worker number and a sequence:
//
//	| 0 (1) | milliseconds since 2024-01-01 (41) | worker (10) | sequence (12) |
//
// It owns the worker numbers (their claims in a key-value store, their file on disk) and the rules about clocks. It
// never trusts a clock alone.
//
// # Who may use which millisecond
//
// A claim assigns a worker number to one process for all milliseconds up to a bound. The bound lies a day ahead,
// or another time that Options set, and is advanced by compare-and-swap. A process that takes over a number whose bound was not advanced begins above that
// bound. So two processes never share a millisecond of a number, however long one of them was suspended and whatever
// its clock said. A process also works without the store until its bound is reached.
//
// The file says the same for one process and the next with the same directory: times up to its bound, a few seconds
// ahead, may be used up. It is advanced every three seconds. At a start, the process waits until the clock has passed
// the bound, and refuses a clock that is further behind. A lock on the file excludes a second process.
//
// A process that is found by its address records its number only in the store. When it is closed it gives the claim up, so that the
// next process can have the number at once, with or without the directory.
//
// At runtime the process waits for a clock that goes back by up to 5 ms. A larger step is an error until the clock has
// caught up.
package snowflake
