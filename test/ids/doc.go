// Package ids takes numbers from every store of segments by many processes at
// once, while processes and servers are killed and stopped, connections cut,
// Redis emptied and failed over to a replica that lags, clocks set back and
// forth, and the database restored to an older state; and looks for a number
// that was handed out twice.
//
// It owns the processes, which are its own binary run anew, the links between
// them and the servers, and the count. Vectors of the second implementation of
// layouts and ciphers, in JavaScript, are beside it.
package ids
