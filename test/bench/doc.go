// Command bench measures what the proxy costs, side by side with what it replaces, and prints the table of
// docs/reference/performance.md.
//
// Three lanes lead to the same shard: direct, through haproxy as a bare TCP hop, and through this proxy. Each
// row of the table runs them in alternating rounds and compares round with round, so that whatever else the
// machine does hits them alike. What is compared is a ratio: throughput, and the hop's own CPU per statement
// by the kernel's accounting.
//
// It owns the load client, the data it measures with (buyers from firstReader on) and the processes it starts.
// It never touches rows of other buyers, never listens or connects beyond loopback, and imports nothing of the
// product, which it drives as a user would: by `locus demo --ready-file`.
//
//	go run ./test/bench                                   # about a quarter of an hour
//	go run ./test/bench -quick                            # a minute, figures for orientation only
//	go run ./test/bench -ready FILE -rows 'INSERT.*8 c'   # some rows, against a demo that already runs
//	go run ./test/bench -before FILE -rounds 20 -rows '^(SELECT|INSERT|trans)' # this build beside another one
package main
