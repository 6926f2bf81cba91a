// Package ha takes numbers from 2ⁿ generators, its members: value = inner << n | index.
//
// It owns the turn of the members and what is known of each: well, slow, aside, or finished. Members that are well are asked
// in turn, each for all numbers of a call. One that is slow several times within a while is asked only if none is well, one that fails only if none
// is slow; the last one is always asked, whatever is known of it. Those that are not asked are probed in the
// background, one number at a time, until they are well again; a probe that was given up is followed by one that has twice as long. One that is out of numbers is never asked again.
//
// It never makes a number itself: the low bits keep those of its members apart, so these may even repeat one
// another's. It never refuses while a member that has numbers left was not asked.
package ha
