// Package ha takes numbers from 2ⁿ generators, its members: value = inner << n | index.
//
// It owns the order in which members are asked and the state of each: healthy, slow, aside, or finished. Healthy members are
// asked in turn, each for all numbers of a call. A member that was slow several times within a period is asked only if no
// member is healthy. A failed member is asked only if no member is slow. The last remaining member is always asked, whatever
// its state. Members that aren't asked are probed in the background, for one number at a time, until they are healthy again.
// After a probe that timed out, the next one has twice as much time. A member without numbers is never asked again.
//
// The package never generates a number itself. The low bits separate the members' numbers, so the members may even repeat each
// other's numbers. A call never fails before every member that has numbers was asked.
package ha
