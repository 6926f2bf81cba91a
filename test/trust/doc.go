// Package trust attacks a proxy from outside, and compares it with one plain server with the same rows: the proxy must return
// the server's answer to every text, or refuse it.
//
// A [stand] is a proxy with three shards, and the plain server. All tests of an engine share one. Each test finds the initial
// rows, and leaves no other objects.
package trust
