// Package ids takes numbers from every store of segments by many processes at once, while processes and servers
// are killed and suspended, connections are cut, Redis is emptied and fails over to a replica that lags, clocks
// are set back and forth, and the database is restored to an older state. It searches for a number that was
// issued twice.
//
// It owns the processes, which run its own binary, the links between them and the servers, and the count. Test
// vectors of a second implementation of layouts and ciphers, in JavaScript, are in this directory as well.
package ids
