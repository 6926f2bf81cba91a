// Package ha takes numbers from 2ⁿ generators, its members: value = inner << n | index.
//
// It owns the order in which members are asked and the state of each: well, slow, aside, or finished. Well members are asked in turn, each
// for all numbers of a call. A member that was slow several times within a period is asked only if none is well. A failed one is asked only
// if none is slow. The last remaining member is always asked, whatever its state. Members that aren't asked are probed in the background,
// for one number at a time, until they are well again. After a probe that timed out the next one has twice as long. A member without
// numbers is never asked again.
//
// It never generates a number itself. The low bits separate the members' numbers, so the members may even repeat each other's numbers. It
// never fails while a member with numbers was not asked.
package ha
